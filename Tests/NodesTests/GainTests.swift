// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct GainTests {
    /// sine -> gain -> gain, against the sine at the level that the two should give: what is left is nothing.
    @Test("Two gains of half cancel against a quarter", arguments: testRates, BlockPlan.all)
    func cancellation(_ rate: Double, _ plan: BlockPlan) throws {
        let sine = Signal.sine(440, rate: rate, frames: 5000)
        var signal = sine
        for _ in 0..<2 {
            let harness = try NodeHarness(type("gain"), rate: rate)
            harness.set("gain_db", -6.0206)
            signal = harness.run(5000, inputs: [signal], plan: plan)[0]
        }
        #expect(Signal.difference(signal, sine.map { $0 * 0.25 }) < 2e-6)
    }

    @Test(
        "Decibels are twenty times the logarithm",
        arguments: [(0.0, 1.0), (6.0206, 2.0), (20.0, 10.0), (-20.0, 0.1), (-60.0, 0.001)])
    func decibels(_ decibels: Double, _ linear: Double) throws {
        let harness = try NodeHarness(type("gain"))
        harness.set("gain_db", Float(decibels))
        let output = harness.run(100, inputs: [Signal.constant(0.5, frames: 100)])[0]
        #expect(abs(Double(output[99]) / (0.5 * linear) - 1) < 1e-5)
    }

    @Test("Zero decibels pass every sample unchanged") func zeroDecibels() throws {
        let noise = Signal.noise(frames: 3000, seed: 5)
        #expect(try NodeHarness(type("gain")).run(3000, inputs: [noise], plan: .random(max: 99, seed: 1))[0] == noise)
    }

    @Test("Minus 120 decibels are exactly nothing, and flagged") func floor() throws {
        let harness = try NodeHarness(type("gain"))
        harness.set("gain_db", -120)
        let output = harness.run(256, inputs: [Signal.constant(1, frames: 256)])[0]
        #expect(Signal.peak(output) == 0)
        #expect(harness.silentOutputs.allSatisfy { $0 == [true] })
    }

    @Test("A move goes along a raised cosine from gain to gain, the same at every block", arguments: BlockPlan.all)
    func ramp(_ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("gain"))
        harness.set("gain_db", 0)
        harness.set("gain_db", -40, over: 1000)
        let output = harness.run(1500, inputs: [Signal.constant(1, frames: 1500)], plan: plan)[0]
        for frame in 0..<1000 {
            let expected = 1 - 0.99 * (0.5 - 0.5 * cos(.pi * Double(frame) / 1000))
            #expect(abs(Double(output[frame]) - expected) < 1e-6)
        }
        #expect(abs(output[1000] - 0.01) < 1e-6)
        #expect(Signal.largestStep(output) < 0.005)
    }

    @Test("Every channel gets the gain", arguments: [false, true]) func everyChannel(_ inPlace: Bool) throws {
        let harness = try NodeHarness(type("gain"), ["channels": .integer(3)])
        harness.inPlace = inPlace
        harness.set("gain_db", 20)
        harness.set("gain_db", 0, over: 64)
        let inputs = (1...3).map { Signal.noise(frames: 640, seed: UInt64($0)) }
        let outputs = harness.run(640, inputs: inputs, plan: .fixed(100))
        for (input, output) in zip(inputs, outputs) {
            #expect(abs(output[0] - input[0] * 10) < 1e-5)
            #expect(Array(output[64...]) == Array(input[64...]))
        }
    }
}

@Suite struct MixTests {
    @Test("Opposite sines cancel", arguments: testRates, BlockPlan.all)
    func oppositeSines(_ rate: Double, _ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("mix"), rate: rate)
        let sine = Signal.sine(1000, rate: rate, frames: 3000)
        let output = harness.run(3000, inputs: [sine, sine.map { -$0 }], plan: plan)[0]
        #expect(Signal.peak(output) == 0)
    }

    @Test("Each input has its own gain", arguments: [false, true]) func ownGains(_ inPlace: Bool) throws {
        let harness = try NodeHarness(type("mix"), ["inputs": .integer(3), "channels": .integer(2)])
        harness.inPlace = inPlace
        for (key, gain) in [("gain_1_db", Float(-6.0206)), ("gain_2_db", -12.0412), ("gain_3_db", -120)] {
            harness.set(key, gain)
        }
        let levels: [Float] = [0.1, 0.2, 0.4, 0.8, 100, 200]  // input 1 left, right, input 2 left, ...
        let outputs = harness.run(300, inputs: levels.map { Signal.constant($0, frames: 300) }, plan: .fixed(64))
        #expect(outputs.count == 2)
        #expect(Signal.difference(outputs[0], Signal.constant(0.15, frames: 300)) < 1e-6)
        #expect(Signal.difference(outputs[1], Signal.constant(0.3, frames: 300)) < 1e-6)
    }

    @Test("A silent first input does not hide the others", arguments: [false, true]) func silentFirstInput(
        _ inPlace: Bool
    ) throws {
        let harness = try NodeHarness(type("mix"))
        harness.inPlace = inPlace
        let noise = Signal.noise(frames: 500, seed: 2)
        #expect(harness.run(500, inputs: [[], noise])[0] == noise)
        #expect(harness.silentOutputs.allSatisfy { $0 == [false] })
    }

    @Test("The first input is the main bus") func mainBus() throws {
        let harness = try NodeHarness(type("mix"), ["inputs": .integer(2), "channels": .integer(2)])
        let inputs = harness.instance.ports.filter { $0.direction == VG_INPUT }
        #expect(inputs.map(\.symbol) == ["in_1_1", "in_1_2", "in_2_1", "in_2_2"])
        #expect(inputs.map(\.bus) == [nil, nil, "in_2", "in_2"])
        #expect(harness.instance.parameters.map(\.key) == ["gain_1_db", "gain_2_db"])
    }
}

@Suite struct PanTests {
    @Test("The power is the same everywhere", arguments: [-1, -0.75, -0.5, -0.1, 0, 0.25, 0.5, 0.9, 1] as [Float])
    func evenPower(_ position: Float) throws {
        let harness = try NodeHarness(type("pan"))
        harness.set("position", position)
        let outputs = harness.run(64, inputs: [Signal.constant(1, frames: 64)])
        let (left, right) = (Double(outputs[0][63]), Double(outputs[1][63]))
        #expect(abs(left * left + right * right - 1) < 1e-6)
        #expect((left - right) * Double(position) <= 0)
    }

    @Test("The centre is three decibels down") func centre() throws {
        let outputs = try NodeHarness(type("pan")).run(64, inputs: [Signal.constant(1, frames: 64)])
        for output in outputs { #expect(abs(Signal.decibels(Double(output[0])) + 3.0103) < 1e-4) }
    }

    @Test("The far side is exactly silent at the ends", arguments: [false, true]) func farSide(_ inPlace: Bool) throws {
        let noise = Signal.noise(frames: 300, seed: 9)
        let harness = try NodeHarness(type("pan"))
        harness.inPlace = inPlace
        harness.set("position", -1)
        #expect(harness.run(300, inputs: [noise]) == [noise, Signal.constant(0, frames: 300)])
        harness.set("position", 1)
        let right = harness.run(300, inputs: [noise])
        #expect(Signal.peak(right[0]) == 0)
        #expect(right[1] == noise)
    }

    @Test("A movement keeps the power and does not jump", arguments: BlockPlan.all) func movement(_ plan: BlockPlan)
        throws
    {
        let harness = try NodeHarness(type("pan"))
        harness.set("position", -1)
        harness.set("position", 1, over: 2000)
        let outputs = harness.run(3000, inputs: [Signal.constant(1, frames: 3000)], plan: plan)
        #expect(Signal.peak(zip(outputs[0], outputs[1]).map { $0 * $0 + $1 * $1 - 1 }) < 1e-4)
        #expect(Signal.largestStep(outputs[0]) < 0.0013)
        #expect(outputs[0][0] == 1)
        #expect(outputs[1][2999] == 1)
    }
}

@Suite struct MuteTests {
    @Test("Muting fades in ten milliseconds without a step", arguments: testRates, BlockPlan.all)
    func muting(_ rate: Double, _ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("mute"), rate: rate)
        let ones = Signal.constant(1, frames: 2000)
        var signal = harness.run(2000, inputs: [ones], plan: plan)[0]
        harness.set("muted", 1)
        signal += harness.run(2000, inputs: [ones], plan: plan)[0]
        harness.set("muted", 0)
        signal += harness.run(2000, inputs: [ones], plan: plan)[0]
        let fade = Int(rate * 0.01)
        #expect(signal[..<2000].allSatisfy { $0 == 1 })
        #expect(signal[(2000 + fade)..<4000].allSatisfy { $0 == 0 })
        #expect(signal[(2000 + fade - 2)] > 0)
        #expect(signal[(4000 + fade)...].allSatisfy { $0 == 1 })
        // A raised cosine is steepest in its middle.
        #expect(Signal.largestStep(signal) <= 1.01 * .pi / 2 / Float(fade))
    }

    @Test("The value in the file applies from the first frame") func firstFrame() throws {
        let harness = try NodeHarness(type("mute"))
        harness.set("muted", 1)
        #expect(Signal.peak(harness.run(512, inputs: [Signal.constant(1, frames: 512)])[0]) == 0)
        #expect(harness.silentOutputs.allSatisfy { $0 == [true] })
    }

    @Test("Turning back half way does not jump") func turnedBack() throws {
        let harness = try NodeHarness(type("mute"))
        let ones = Signal.constant(1, frames: 240)
        var signal = harness.run(240, inputs: [ones])[0]
        harness.set("muted", 1)
        signal += harness.run(240, inputs: [ones])[0]
        harness.set("muted", 0)
        signal += harness.run(240, inputs: [ones])[0]
        #expect(abs(signal[479] - 0.5) < 0.01)
        #expect(Signal.largestStep(signal) <= 1.01 * .pi / 2 / 480)
        #expect(signal[719] == 1)
    }

    @Test("Muted nonsense is silence") func mutedNonsense() throws {
        let harness = try NodeHarness(type("mute"))
        harness.set("muted", 1)
        #expect(Signal.peak(harness.run(64, inputs: [Signal.constant(.nan, frames: 64)])[0]) == 0)
    }
}
