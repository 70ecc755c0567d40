// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct ToneTests {
    @Test("The default is 440 hertz at minus 20 DBFS", arguments: testRates) func defaults(_ rate: Double) throws {
        let output = try NodeHarness(type("tone"), rate: rate).run(Int(rate))[0]
        let expected = Signal.sine(440, rate: rate, frames: Int(rate), amplitude: 0.1)
        #expect(Signal.difference(output, expected) < 1e-7)
        #expect(Signal.upwardCrossings(output) == 439)  // the one at frame 0 has nothing before it
    }

    @Test(
        "The signal does not depend on the blocks", arguments: ["sine", "square", "sweep", "noise", "impulse"],
        BlockPlan.all)
    func blocks(_ wave: String, _ plan: BlockPlan) throws {
        let settings: [String: SettingValue] = [
            "wave": .string(wave), "channels": .integer(2), "seconds": .number(0.07), "period": .number(0.011),
            "end": .number(5000),
        ]
        let whole = try NodeHarness(type("tone"), settings, maxBlock: 8000).run(8000, plan: .fixed(8000))
        #expect(try NodeHarness(type("tone"), settings).run(8000, plan: plan) == whole)
        #expect(Signal.peak(whole[1]) > 0)
    }

    @Test("The peak is the level", arguments: [("sine", 0.01), ("square", 0.01), ("noise", 0.01)])
    func peak(_ wave: String, _ tolerance: Double) throws {
        let harness = try NodeHarness(type("tone"), ["wave": .string(wave)])
        harness.set("level_db", -6)
        harness.set("frequency", 997)
        let level = Signal.decibels(Double(Signal.peak(harness.run(48000)[0])))
        #expect(abs(level + 6) < tolerance * 10)
    }

    @Test("A ramp of the frequency does not jump") func frequencyRamp() throws {
        let harness = try NodeHarness(type("tone"))
        harness.set("level_db", 0)
        var signal = harness.run(1000)[0]
        harness.set("frequency", 880, over: 480)
        signal += harness.run(2000)[0]
        #expect(Signal.largestStep(signal) < Float(2 * Double.pi * 881 / 48000))
        harness.set("level_db", -120)
        #expect(Signal.peak(harness.run(100)[0]) == 0)
        #expect(harness.silentOutputs.last == [true])
    }

    @Test("A frequency above half the rate is held there") func highFrequency() throws {
        let harness = try NodeHarness(type("tone"), rate: 44100)
        harness.set("frequency", 96000)
        #expect(harness.run(4410)[0].allSatisfy { abs($0) < 1e-6 })
    }

    @Test("A sweep goes from start to end") func sweep() throws {
        let settings: [String: SettingValue] = [
            "wave": .string("sweep"), "start": .number(100), "end": .number(1600), "seconds": .number(4),
            "repeat": .bool(false),
        ]
        let harness = try NodeHarness(type("tone"), settings)
        #expect(!harness.instance.isIdle)
        let output = harness.run(48000 * 4)[0]
        for second in 0..<4 {
            // An octave a second: 100 Hz * 2^second to twice that, so 100 * 2^second / ln 2 crossings.
            let crossings = Signal.upwardCrossings(Array(output[(second * 48000)..<((second + 1) * 48000)]))
            #expect(abs(Double(crossings) - 100 * pow(2, Double(second)) / log(2)) < 1.5)
        }
        #expect(Signal.peak(harness.run(1000)[0]) == 0)
        #expect(harness.silentOutputs.last == [true])
        #expect(harness.instance.isIdle)
    }

    @Test("Noise is white, even, and different per channel and seed") func noise() throws {
        let settings: [String: SettingValue] = ["wave": .string("noise"), "channels": .integer(2)]
        let harness = try NodeHarness(type("tone"), settings)
        harness.set("level_db", 0)
        let noise = harness.run(48000)
        #expect(abs(Signal.rms(noise[0]) - 1 / 3.0.squareRoot()) < 0.01)
        #expect(abs(noise[0].reduce(0, +) / 48000) < 0.01)
        func correlation(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) -> Float {
            zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } / 16000
        }
        #expect(abs(correlation(noise[0][...], noise[1][...])) < 0.02)
        for lag in [1, 2, 7, 64] { #expect(abs(correlation(noise[0].dropLast(lag), noise[0].dropFirst(lag))) < 0.03) }
        let other = try NodeHarness(type("tone"), settings.merging(["seed": .integer(2)]) { $1 })
        other.set("level_db", 0)
        #expect(other.run(100)[0] != Array(noise[0][..<100]))
    }

    @Test("Impulses come once a period") func impulses() throws {
        let harness = try NodeHarness(type("tone"), ["wave": .string("impulse"), "period": .number(0.01)])
        harness.set("level_db", 0)
        let output = harness.run(1500, plan: .random(max: 300, seed: 6))[0]
        let loud = output.indices.filter { output[$0] != 0 }
        #expect(loud == [0, 480, 960, 1440])
        #expect(output[480] == 1)
    }

    @Test("A square has odd harmonics only") func square() throws {
        let harness = try NodeHarness(type("tone"), ["wave": .string("square")])
        harness.set("level_db", 0)
        harness.set("frequency", 480)
        let output = harness.run(4800)[0]
        func magnitude(_ harmonic: Int) -> Double {
            var (re, im) = (0.0, 0.0)
            for (frame, sample) in output.enumerated() {
                let angle = 2 * .pi * 480 * Double(harmonic) * Double(frame) / 48000
                re += Double(sample) * cos(angle)
                im += Double(sample) * sin(angle)
            }
            return (re * re + im * im).squareRoot() * 2 / 4800
        }
        #expect(abs(magnitude(1) - 4 / .pi) < 0.01)
        #expect(abs(magnitude(3) - 4 / (3 * .pi)) < 0.01)
        #expect(magnitude(2) < 0.001)
    }

    @Test("An unknown wave is refused with the list") func unknownWave() throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("tone"), ["wave": .string("saw")]) }
        #expect(error?.key == "wave")
        #expect(error?.hint.contains("sweep") == true)
    }
}
