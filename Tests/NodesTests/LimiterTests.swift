// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct LimiterTests {
    private func limiter(
        _ values: [String: Float] = [:], channels: Int = 1, lookAhead: Double = 5, rate: Double = 48000,
        truePeak: Bool = true
    ) throws -> NodeHarness {
        let harness = try NodeHarness(
            type("limiter"),
            [
                "channels": .integer(Int64(channels)), "lookahead_ms": .number(lookAhead),
                "true_peak": .bool(truePeak),
            ], rate: rate, maxBlock: 8192)
        harness.set(values)
        return harness
    }

    /// Signals with peaks between the samples, most of them far above 0 dBFS.
    private static let loud: [(name: String, make: @Sendable (Int, Int) -> Float)] = [
        (
            "a quarter of the rate, between the samples",
            { frame, _ in Float(2 * sin(.pi / 2 * Double(frame) + .pi / 4)) }
        ),
        ("0.4 of the rate", { frame, _ in Float(2 * sin(0.8 * .pi * Double(frame) + 0.3)) }),
        ("0.49 of the rate", { frame, _ in Float(2 * sin(0.98 * .pi * Double(frame) + 0.3)) }),
        ("a low sine", { frame, _ in Float(8 * sin(0.13 * Double(frame))) }),
        ("bursts", { frame, _ in frame / 37 % 9 == 0 ? Float(3 * sin(1.5 * Double(frame) + 0.7)) : 0.1 }),
        ("impulses", { frame, _ in frame % 331 == 0 ? 8 : 0 }),
        ("a square", { frame, _ in Float(sin(0.161 * Double(frame)) > 0 ? 1.5 : -1.5) }),
        ("a sweep", { frame, count in Float(2 * sin(.pi * Double(frame) * Double(frame) / 2 / Double(count))) }),
        ("samples of full scale", { frame, _ in frame &* 2_654_435_761 & 0x40000 == 0 ? 1 : -1 }),
    ]

    @Test(
        "No true peak is above the ceiling", arguments: [8000.0, 44100, 48000, 96000, 192_000],
        [(-1.0, 5.0, 100.0), (-6, 1, 10), (0, 20, 1000), (-1, 0.1, 1)])
    func ceiling(_ rate: Double, _ setting: (ceiling: Double, lookAhead: Double, release: Double)) throws {
        for (name, make) in Self.loud {
            let harness = try limiter(
                ["ceiling_db": Float(setting.ceiling), "release_ms": Float(setting.release)],
                lookAhead: setting.lookAhead, rate: rate)
            let input =
                Signal.constant(0, frames: 100) + (0..<6000).map { make($0, 6000) }
                + Signal.constant(0, frames: 100)
            let tail = Signal.constant(0, frames: harness.instance.latency)
            let output = harness.run(input.count + tail.count, inputs: [input + tail], plan: .fixed(500))[0]
            let peaks = (TruePeak.standard(output), TruePeak.eightfold(output))
            #expect(peaks.0 <= setting.ceiling && peaks.1 <= setting.ceiling, "\(name): \(peaks)")
            // It takes no more than it must.
            #expect(Signal.rms(output) > 0.01)
        }
    }

    @Test("Noise of any level stays below the ceiling", arguments: [1.0, 6, 20, 60]) func noise(_ decibels: Double)
        throws
    {
        let harness = try limiter(channels: 2, lookAhead: 2)
        let noise = (1...2).map {
            Signal.noise(frames: 20000, seed: UInt64($0), amplitude: Float(linear(decibels)))
        }
        for output in harness.run(20500, inputs: noise) {
            #expect(TruePeak.standard(output) <= -1)
            #expect(TruePeak.eightfold(output) <= -1)
        }
    }

    /// Tones, noise, squares and clicks that come and go, up to 24 dB above full scale.
    @Test("Whatever is mixed stays below the ceiling", arguments: 0..<40) func mixtures(_ seed: Int) throws {
        var random = TestRandom(seed: UInt64(seed))
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        var input = Signal.constant(0, frames: 9000)
        for _ in 0...Int.random(in: 0...6, using: &random) {
            let start = Int.random(in: 100...6000, using: &random)
            let end = Int.random(in: (start + 50)...8000, using: &random)
            let amplitude = linear(number(-10...24))
            let (kind, frequency, phase) = (Int.random(in: 0...3, using: &random), number(0...0.499), number(0...6.2))
            for frame in start..<end {
                let angle = 2 * .pi * frequency * Double(frame - start) + phase
                let value =
                    switch kind {
                    case 0: sin(angle)
                    case 1: Double(random.sample())
                    case 2: sin(angle) > 0 ? 1.0 : -1
                    default: number(0...1) < 0.01 ? Double(random.sample()) * 3 : 0
                    }
                input[frame] += Float(amplitude * value)
            }
        }
        let harness = try limiter(
            ["release_ms": [100, 10, 1, 500][seed / 5 % 4]], lookAhead: [5, 1, 0.2, 20, 0.5][seed % 5])
        let output = harness.run(9000 + harness.instance.latency, inputs: [input])[0]
        let peaks = (TruePeak.standard(output), TruePeak.eightfold(output))
        #expect(peaks.0 <= -1 && peaks.1 <= -1, "\(peaks)")
    }

    @Test("A steady sine settles at the ceiling", arguments: testRates, [100.0, 1000, 5000])
    func steady(_ rate: Double, _ frequency: Double) throws {
        let sine = Signal.sine(frequency, rate: rate, frames: Int(rate), amplitude: 4)
        let output = try limiter(rate: rate).run(Int(rate), inputs: [sine], plan: .fixed(1000))[0]
        let peak = TruePeak.eightfold(Array(output.suffix(4800)).dropEdges())
        // The standard's filter reads up to 0.2 dB too much.
        #expect(peak <= -1 && peak > -1.4, "\(peak)")
    }

    @Test("Below the ceiling every sample passes unchanged", arguments: BlockPlan.all) func unchanged(_ plan: BlockPlan)
        throws
    {
        let harness = try limiter(channels: 2)
        let delay = harness.instance.latency
        let inputs = (1...2).map { Signal.noise(frames: 5000, seed: UInt64($0), amplitude: 0.3) }
        for (input, output) in zip(inputs, harness.run(5000, inputs: inputs, plan: plan)) {
            #expect(Array(output[delay...]) == Array(input[..<(5000 - delay)]))
        }
        #expect(harness.reductions.allSatisfy { $0 == 0 })
    }

    /// Also just below: samples at the ceiling have no more between them when the sine is slow.
    @Test("A slow sine just below the ceiling passes unchanged") func justBelow() throws {
        let sine = Signal.sine(500, rate: 48000, frames: 9600, amplitude: linear(-1.17))
        let harness = try limiter()
        let output = harness.run(9600, inputs: [sine])[0]
        #expect(Array(output[harness.instance.latency...]) == Array(sine[..<(9600 - harness.instance.latency)]))
        let louder = Signal.sine(500, rate: 48000, frames: 9600, amplitude: linear(-1.13))
        let lessened = try limiter().run(9600, inputs: [louder])[0]
        #expect(Signal.peak(lessened) < Signal.peak(louder))
    }

    @Test("The delay is exact, and told", arguments: testRates + [8000, 384_000], [0.1, 1.5, 5, 50])
    func latency(_ rate: Double, _ lookAhead: Double) throws {
        let harness = try limiter(lookAhead: lookAhead, rate: rate)
        let delay = max(16, frames(milliseconds: lookAhead, rate: rate)) + 35
        #expect(harness.instance.latency == delay)
        let output = harness.run(delay + 20, inputs: [[0, 0, 0, 0.5]])[0]
        #expect(output == (0..<(delay + 20)).map { $0 == delay + 3 ? 0.5 : 0 })
    }

    @Test("The gain falls within the look-ahead and comes back with the release", arguments: testRates)
    func times(_ rate: Double) throws {
        let harness = try limiter(["release_ms": 200], lookAhead: 4, rate: rate)
        let ahead = frames(milliseconds: 4, rate: rate)
        let delay = harness.instance.latency
        // A steady low level shows the gain; one click of 20 dB more than the ceiling asks for a tenth.
        let click = Int(rate / 4)
        var input = Signal.constant(0.1, frames: Int(rate))
        input[click] = Float(linear(19))
        let output = harness.run(input.count, inputs: [input], plan: .fixed(700))[0]
        func gain(_ frame: Int) -> Double { Double(output[frame]) / 0.1 }
        let place = click + delay
        let deepest = Double(output[place]) / linear(19)
        #expect(abs(Signal.decibels(deepest) + 20.15) < 0.01)
        // What lies between the samples around the click is loud as well, 24 frames to each side.
        #expect(output[place - ahead - 12 - 25] == 0.1)
        #expect(gain(place - ahead / 2) < 0.9)
        // After the hold: an exponential, half the look-ahead late because of the running means.
        for milliseconds in [50.0, 100, 200, 400] {
            let after = frames(milliseconds: milliseconds, rate: rate)
            let seconds = (Double(after) - Double(ahead) / 2) / rate
            let expected = 1 - (1 - deepest) * exp(-seconds / 0.2)
            #expect(abs(gain(place + 12 + after) - expected) < 0.03, "\(milliseconds) ms: \(gain(place + after))")
        }
    }

    @Test("All channels get the gain of the loudest") func link() throws {
        let harness = try limiter(channels: 2)
        let loud = Signal.sine(997, rate: 48000, frames: 9600, amplitude: 4)
        let outputs = harness.run(9600, inputs: [loud.map { $0 * 0.01 }, loud])
        #expect(Signal.difference(outputs[0], outputs[1].map { $0 * 0.01 }) < 1e-7)
    }

    @Test("The ceiling holds while it falls") func fallingCeiling() throws {
        let harness = try limiter(["ceiling_db": 0])
        let noise = Signal.noise(frames: 9600, seed: 1, amplitude: 2)
        _ = harness.run(4800, inputs: [noise])
        harness.set("ceiling_db", -12, over: 480)
        _ = harness.run(480 + harness.instance.latency, inputs: [noise])
        #expect(TruePeak.eightfold(harness.run(4800, inputs: [noise])[0]) <= -12)
    }

    @Test("Without true peaks no sample is above the ceiling, and the sound is later by the look-ahead alone")
    func samples() throws {
        for (name, make) in Self.loud {
            let harness = try limiter(["ceiling_db": -3], lookAhead: 2, truePeak: false)
            #expect(harness.instance.latency == 95)
            let output = harness.run(6095, inputs: [(0..<6000).map { make($0, 6000) }], plan: .fixed(500))[0]
            let peak = Signal.decibels(Double(Signal.peak(output)))
            #expect(peak <= -3 && peak > -3.5, "\(name): \(peak)")
        }
        // What is at the ceiling passes as it is.
        let quiet = Signal.sine(997, rate: 48000, frames: 4800, amplitude: linear(-3.001))
        let output = try limiter(["ceiling_db": -3], lookAhead: 2, truePeak: false).run(4800, inputs: [quiet])[0]
        #expect(Array(output[95...]) == Array(quiet[..<(4800 - 95)]))
    }

    @Test("It shows what it takes away") func series() throws {
        let harness = try limiter()
        _ = harness.run(48000, inputs: [Signal.constant(Float(linear(8.85)), frames: 48000)])
        #expect(harness.reductions.count == 60)
        #expect(harness.reductions[50...].allSatisfy { abs($0 - 10) < 0.03 })
    }

    @Test("A look-ahead of nothing is refused") func noLookAhead() throws {
        let error = #expect(throws: NodeError.self) { try limiter(lookAhead: 0) }
        #expect(error?.key == "lookahead_ms")
    }
}

extension [Float] {
    /// Faded in and out by half, so that what cuts them makes no peak of its own.
    fileprivate func dropEdges() -> [Float] {
        enumerated().map { index, sample in
            sample * Float(Swift.min(1, Double(Swift.min(index, count - 1 - index)) / Double(count / 4)))
        }
    }
}
