// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

/// The time of a delay: between frames, and while it changes.
@Suite struct DelayTimeTests {
    @Test(
        "A sine comes out as late as the time says, also between two frames",
        arguments: [
            (0.25, 1000), (0.5, 1000), (1.5, 1000), (2.75, 2000), (7.3, 5000), (15.5, 8000), (16.5, 19_000),
            (100.37, 19_000), (1000.9, 100), (4410.125, 15_000),
        ] as [(Double, Double)], testRates)
    func betweenFrames(_ time: (frames: Double, frequency: Double), _ rate: Double) throws {
        let harness = try NodeHarness(type("delay"), rate: rate)
        let ms = Float(time.frames * 1000 / rate)
        harness.set("ms", ms)
        // As a Float tells it, and at the same place of the band at each rate.
        let (frames, frequency) = (Double(ms) * rate / 1000, time.frequency / 48000 * rate)
        let count = 9600
        let sine = Signal.sine(frequency, rate: rate, frames: count)
        let output = harness.run(count, inputs: [sine], plan: .fixed(256))[0]
        var worst = 0.0
        for frame in (Int(frames) + 64)..<count {
            let expected = sin(2 * .pi * frequency * (Double(frame) - frames) / rate)
            worst = max(worst, abs(Double(output[frame]) - expected))
        }
        #expect(worst < 2e-4)
        // As many frames hold a whole number of periods, and so do those before them.
        let phase = Signal.partial(frequency, of: output[4800...], rate: rate).phase
        let late = 2 * .pi * frequency * frames / rate + phase
        #expect(abs(late - (late / (2 * .pi)).rounded() * 2 * .pi) < 2e-4)
    }

    /// What is heard of a low sine while the time changes, from `before` frames ahead of the change on.
    private func heard(
        _ settings: [String: SettingValue], from: Float, to: Float, over frames: Int, seconds: Int = 2
    ) throws -> [Float] {
        let harness = try NodeHarness(type("delay"), settings)
        harness.set("ms", from)
        let sine = Signal.sine(100, rate: 48000, frames: 48000 * (seconds + 1))
        let before = harness.run(48000, inputs: [sine])[0]
        harness.set("ms", to, over: frames)
        return before.suffix(8192) + harness.run(48000 * seconds, inputs: [Array(sine[48000...])], plan: .fixed(100))[0]
    }

    @Test(
        "A change of the time is heard without a click", arguments: ["fade", "glide"],
        [(250, 317.3, 480), (250, 317.3, 0), (317.3, 10, 480), (0, 30, 0), (5, 5.2, 480)])
    func noClick(_ change: String, _ way: (from: Float, to: Float, frames: Int)) throws {
        let output = try heard(["change": .string(change)], from: way.from, to: way.to, over: way.frames)
        // Windows that overlap by three quarters, over the change and what follows.
        var loudest = 0.0
        for start in stride(from: 0, to: 48000, by: 2048) {
            let spectrum = Spectrum.windowed(output[start..<(start + 8192)])
            loudest = max(loudest, spectrum.peak(342..<4096))
        }
        #expect(Signal.decibels(loudest) < -88, "\(Signal.decibels(loudest)) dBFS above 2 kHz")
        // It has arrived: the sine is where the new time has it.
        let end = output.suffix(4800)
        let phase = Signal.partial(100, of: end, rate: 48000).phase
        let late = phase + 2 * .pi * 100 * Double(way.to) / 1000
        #expect(abs(late - (late / (2 * .pi)).rounded() * 2 * .pi) < 1e-3)
    }

    @Test("A glide bends the pitch by no more than it is told, and then every sample is exact again")
    func bend() throws {
        for (bend, from, to) in [(0.5, 100, 300), (0.25, 300, 100)] as [(Double, Float, Float)] {
            let harness = try NodeHarness(type("delay"), ["change": .string("glide"), "bend": .number(bend)])
            harness.set("ms", from)
            let sine = Signal.sine(1000, rate: 48000, frames: 48000 * 4)
            _ = harness.run(48000, inputs: [sine])
            harness.set("ms", to, over: 480)
            let output = harness.run(48000 * 3, inputs: [Array(sine[48000...])])[0]
            // 200 ms at this speed take 0.4 or 0.8 s; in the middle of them it is steady.
            let middle = Array(output[9600..<14400])
            let expected = 100 * (1 + bend * Double(from < to ? -1 : 1))
            #expect(abs(Double(Signal.upwardCrossings(middle)) - expected) <= 1)
            let delay = Int(to * 48)
            let late = (96000..<144_000).map { sine[48000 + $0 - delay] }
            #expect(Array(output[96000...]) == late)
        }
    }

    @Test("A fade reaches the new time in 20 milliseconds, and the newest one after it")
    func fade() throws {
        let harness = try NodeHarness(type("delay"))
        harness.set("ms", 100)
        let noise = Signal.noise(frames: 20_000, seed: 5)
        _ = harness.run(10_000, inputs: [noise])
        harness.set("ms", 50)
        _ = harness.run(100, inputs: [Array(noise[10_000...])])
        harness.set("ms", 25, over: 480)
        let output = harness.run(4000, inputs: [Array(noise[10_100...])])[0]
        func late(_ frames: Int, _ range: Range<Int>) -> [Float] { range.map { noise[10_100 + $0 - frames] } }
        // 960 frames to 50 ms, and then at once 960 more to 25 ms.
        #expect(abs(output[859] - late(2400, 859..<860)[0]) < 1e-4)
        #expect(output[1300] != late(2400, 1300..<1301)[0] && output[1300] != late(1200, 1300..<1301)[0])
        #expect(Array(output[1820..<4000]) == late(1200, 1820..<4000))
    }

    @Test("`frames` may be changed while it plays, as far as there is room, and keeps what is in the line")
    func liveFrames() throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(4800), "longest_ms": .number(200)])
        #expect(harness.instance.parameters.isEmpty)
        _ = harness.run(1000, inputs: [Signal.impulse(at: 10, frames: 11)])
        try harness.set(setting: "frames", to: .integer(3000))
        let output = harness.run(4000)[0]
        #expect(output == Signal.impulse(at: 2010, frames: 4000))
        let error = #expect(throws: NodeError.self) { try harness.set(setting: "frames", to: .integer(9601)) }
        #expect(error?.message == "the line holds 9600 frames" && error?.hint == "make longest_ms longer")
    }

    @Test("The longest time bounds the parameter") func longest() throws {
        func range(_ settings: [String: SettingValue]) throws -> ClosedRange<Float>? {
            try NodeHarness(type("delay"), settings).instance.parameters.first?.range
        }
        #expect(try range([:]) == 0...2000)
        #expect(try range(["ms": .number(5000)]) == 0...5000)
        #expect(try range(["longest_ms": .number(100)]) == 0...100)
        let harness = try NodeHarness(type("delay"), ["longest_ms": .number(60_000)], maxBlock: 8192)
        harness.set("ms", 60_000)
        let noise = Signal.noise(frames: 10_000, seed: 5)
        let output = harness.run(2_890_000, inputs: [noise], plan: .fixed(8192))[0]
        #expect(Array(output[2_880_000...]) == noise)
    }

    @Test(
        "A time between frames is the same at all blocks in a loop too", arguments: [130.5, 128.25, 140.9, 1000.5])
    func fractionalLoop(_ frames: Double) throws {
        func output(_ plan: BlockPlan) throws -> [Float] {
            let harness = try NodeHarness(type("delay"), maxBlock: 128)
            harness.set("ms", Float(frames / 48))
            harness.order = .loop(gain: 0.5)
            return harness.run(5000, inputs: [Signal.noise(frames: 500, seed: 2)], plan: plan)[0]
        }
        let whole = try output(.fixed(128))
        for plan in [BlockPlan.fixed(1), .fixed(100), .random(max: 128, seed: 7)] { #expect(try output(plan) == whole) }
        #expect(Signal.peak(whole) > 0.3 && Signal.peak(whole[..<Int(frames - 16)]) == 0)
    }
}
