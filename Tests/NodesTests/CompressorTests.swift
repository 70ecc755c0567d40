// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct CompressorTests {
    private func compressor(
        _ settings: [String: SettingValue] = [:], rate: Double = 48000, _ values: [String: Float] = [:]
    ) throws -> NodeHarness {
        let harness = try NodeHarness(type("compressor"), settings, rate: rate, maxBlock: 8192)
        harness.set(values)
        return harness
    }

    /// A release of 2 s keeps what a peak left until the next one; an attack of 20 ms sees many peaks.
    @Test(
        "A sine settles at the gain of the formula",
        arguments: [(-60.0, 0.0), (-26, 0), (-23, 6), (-20, 6), (-19, 12), (-17, 6), (-10, 0), (-10, 12), (-3, 6)],
        ["peak", "rms"])
    func staticCurve(_ point: (level: Double, knee: Double), _ detector: String) throws {
        for (rate, ratio) in [(44100.0, 4.0), (48000, 1), (48000, 4), (96000, 100)] {
            let harness = try compressor(
                ["detector": .string(detector), "rms_ms": .number(50)], rate: rate,
                ["threshold_db": -20, "ratio": Float(ratio), "knee_db": Float(point.knee), "release_ms": 2000])
            let length = Int(rate / 2)
            let sine = Signal.sine(rate / 48, rate: rate, frames: length, amplitude: linear(point.level))
            let output = harness.run(length, inputs: [sine], plan: .fixed(1000))[0]
            // The mean square of a sine is half the square of its peak.
            let level = detector == "rms" ? point.level - 10 * log10(2) : point.level
            let expected = -compressorReduction(level, threshold: -20, ratio: ratio, knee: point.knee)
            #expect(abs(gainOfEnd(output, sine, frames: 4800) - expected) < 0.05, "\(rate) Hz, ratio \(ratio)")
        }
    }

    @Test("Makeup is added", arguments: [-60.0, -12, 0, 7.5, 60]) func makeup(_ decibels: Double) throws {
        let harness = try compressor([:], ["makeup_db": Float(decibels)])
        let sine = Signal.sine(1000, rate: 48000, frames: 4800, amplitude: 0.01)
        #expect(abs(gainOfEnd(harness.run(4800, inputs: [sine])[0], sine, frames: 4800) - decibels) < 1e-4)
    }

    @Test("Below the knee every sample passes unchanged", arguments: BlockPlan.all) func unchanged(_ plan: BlockPlan)
        throws
    {
        let harness = try compressor(["channels": .integer(2), "lookahead_ms": .number(1)], ["threshold_db": -10])
        let noise = (1...2).map { Signal.noise(frames: 3000, seed: UInt64($0), amplitude: 0.2) }
        let output = harness.run(3000, inputs: noise, plan: plan)
        for (input, output) in zip(noise, output) {
            #expect(Array(output[48...]) == Array(input[..<2952]))
            #expect(Signal.peak(output[..<48]) == 0)
        }
    }

    /// A constant level steps up and down. Equation 17 in closed form: up, the rest is exp(-t / attack); down, what the
    /// release leaves is smoothed by the attack.
    @Test("Attack and release follow their time constants", arguments: testRates, [(5.0, 80.0), (20, 200), (0, 50)])
    func steps(_ rate: Double, _ times: (attack: Double, release: Double)) throws {
        let harness = try compressor(
            ["detector": .string("peak")], rate: rate,
            [
                "threshold_db": -40, "ratio": 4, "knee_db": 0, "attack_ms": Float(times.attack),
                "release_ms": Float(times.release),
            ])
        let half = Int(rate / 2)
        // From 60 dB below to 20 above the threshold, which asks for 15 dB, and back.
        let input =
            Signal.constant(1e-5, frames: half) + Signal.constant(0.1, frames: half)
            + Signal.constant(1e-5, frames: half)
        let output = harness.run(3 * half, inputs: [input], plan: .fixed(777))[0]
        func reduction(_ frame: Int) -> Double { -Signal.decibels(Double(output[frame]) / Double(input[frame])) }
        #expect(abs(reduction(half - 1)) < 1e-3)
        for after in [0, 1, 10, 100, 1000, half / 2] {
            let seconds = Double(after + 1) / rate
            let risen = times.attack == 0 ? 15 : 15 * (1 - exp(-seconds * 1000 / times.attack))
            #expect(abs(reduction(half + after) - risen) < 0.01, "\(after) frames after the step up")
            let (a, r) = (times.attack / 1000, times.release / 1000)
            let fallen = 15 * (r * exp(-seconds / r) - a * (a == 0 ? 0 : exp(-seconds / a))) / (r - a)
            #expect(abs(reduction(2 * half + after) - fallen) < 0.02, "\(after) frames after the step down")
        }
    }

    @Test("The mean square follows its time constant", arguments: testRates) func meanSquare(_ rate: Double) throws {
        let harness = try compressor(
            ["rms_ms": .number(30)], rate: rate,
            ["threshold_db": -80, "ratio": 2, "knee_db": 0, "attack_ms": 0, "release_ms": 0])
        let input = Signal.constant(0.5, frames: Int(rate / 4))
        let output = harness.run(input.count, inputs: [input])[0]
        for frame in [10, 100, 1000, 9000] {
            let square = 0.25 * (1 - exp(-Double(frame + 1) / rate / 0.03))
            let expected = compressorReduction(10 * log10(square), threshold: -80, ratio: 2, knee: 0)
            #expect(abs(-Signal.decibels(Double(output[frame]) / 0.5) - expected) < 0.001)
        }
    }

    @Test("The delay is exactly the look-ahead, and told", arguments: testRates + [8000, 384_000], [0.0, 0.5, 3, 20])
    func latency(_ rate: Double, _ lookAhead: Double) throws {
        let harness = try compressor(["lookahead_ms": .number(lookAhead)], rate: rate, ["threshold_db": 0])
        let delay = frames(milliseconds: lookAhead, rate: rate)
        #expect(harness.instance.latency == delay)
        let output = harness.run(delay + 50, inputs: [Signal.impulse(at: 7, frames: 8)])[0]
        #expect(output.firstIndex { $0 != 0 } == delay + 7)
    }

    /// With an attack much shorter than the look-ahead the gain is there before the first loud sample.
    @Test("Looking ahead, the gain is there when the sound comes") func ahead() throws {
        let values: [String: Float] = ["threshold_db": -20, "ratio": 100, "knee_db": 0, "attack_ms": 0.5]
        let step = Signal.constant(0, frames: 1000) + Signal.constant(1, frames: 1000)
        let settings: [String: SettingValue] = ["detector": .string("peak")]
        let late = try compressor(settings, values).run(2000, inputs: [step])[0]
        #expect(late[1000] > 0.9)
        let early = try compressor(settings.merging(["lookahead_ms": .number(5)]) { $1 }, values)
            .run(2000, inputs: [step])[0]
        #expect(early[1239] == 0)
        #expect(abs(Signal.decibels(Double(early[1240])) + 19.8) < 0.01)
    }

    @Test("All channels get the gain of the loudest") func link() throws {
        let harness = try compressor(["channels": .integer(3), "detector": .string("peak")], ["release_ms": 1000])
        let loud = Signal.sine(1000, rate: 48000, frames: 24000, amplitude: 0.9)
        let inputs = [loud.map { $0 * 0.01 }, loud, loud.map { $0 * -0.1 }]
        let outputs = harness.run(24000, inputs: inputs)
        let gains = zip(outputs, inputs).map { gainOfEnd($0, $1, frames: 4800) }
        #expect(gains[1] < -10)
        #expect(gains.allSatisfy { abs($0 - gains[1]) < 1e-4 })
    }

    @Test("With a side chain it listens to that alone", arguments: [1, 2]) func sideChain(_ count: Int) throws {
        let harness = try compressor(
            ["sidechain_channels": .integer(Int64(count)), "channels": .integer(2), "detector": .string("peak")],
            ["threshold_db": -20, "ratio": 2, "knee_db": 0, "release_ms": 2000])
        let inputs = harness.instance.ports.filter { $0.kind == VG_AUDIO_PORT && $0.direction == VG_INPUT }
        #expect(
            inputs.map(\.symbol) == ["in_1", "in_2"] + (count == 1 ? ["sidechain"] : ["sidechain_1", "sidechain_2"]))
        #expect(inputs.map(\.bus) == [nil, nil] + Array(repeating: "sidechain", count: count))
        let loud = Signal.sine(1000, rate: 48000, frames: 24000)
        let quiet = loud.map { $0 * 0.001 }
        let silence = Signal.constant(0, frames: 24000)
        // The last channel of the side chain is the loud one.
        let key = Array(repeating: silence, count: count - 1) + [loud]
        let ducked = harness.run(24000, inputs: [quiet, loud] + key)
        #expect(abs(gainOfEnd(ducked[0], quiet, frames: 4800) + 10) < 0.05)
        #expect(abs(gainOfEnd(ducked[1], loud, frames: 4800) + 10) < 0.05)
        _ = harness.run(480_000)
        let free = harness.run(24000, inputs: [quiet, loud])
        #expect(abs(gainOfEnd(free[1], loud, frames: 4800)) < 0.15)
    }

    @Test("It shows what it takes away, sixty times a second") func series() throws {
        let harness = try compressor(
            ["detector": .string("peak")],
            ["threshold_db": -20, "ratio": 4, "knee_db": 0, "attack_ms": 0, "makeup_db": 12])
        _ = harness.run(24000, inputs: [Signal.constant(1, frames: 24000)])
        #expect(harness.reductions.count == 30)
        #expect(harness.reductions.allSatisfy { abs($0 - 15) < 1e-3 })
        #expect(harness.capture.frames.map(\.position) == (1...30).map { $0 * 800 })
    }

    /// `compand` of sox bends its corners nowhere when they have no radius, and its level is that of the samples.
    @Test("The static curve is that of sox's compand") func sox() async throws {
        let scratch = try Scratch()
        let levels: [Float] = [-50, -30, -20.5, -19, -12, -6, -1]
        // Long enough to settle, one level after the other.
        let input = levels.flatMap { Signal.constant(Float(linear(Double($0))), frames: 9600) }
        let (source, result) = (scratch.file("in.f32"), scratch.file("out.f32"))
        try input.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: source))
        let raw = ["-t", "f32", "-r", "48000", "-c", "1"]
        let run = try await runTool(
            ["sox", "-D"] + raw + [source] + raw + [result, "compand", "0.001,0.01", "-90,-90,-20,-20,0,-15"])
        #expect(run.status == 0, "\(run.output)")
        let data = try Data(contentsOf: URL(fileURLWithPath: result))
        let theirs = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect(theirs.count == input.count)
        let harness = try compressor(
            ["detector": .string("peak")],
            ["threshold_db": -20, "ratio": 4, "knee_db": 0, "attack_ms": 1, "release_ms": 10])
        let ours = harness.run(input.count, inputs: [input])[0]
        for place in levels.indices {
            let frame = (place + 1) * 9600 - 1
            let (one, other) = (Signal.decibels(Double(ours[frame])), Signal.decibels(Double(theirs[frame])))
            #expect(abs(one - other) < 0.05, "at \(levels[place]) dB: \(one), sox \(other)")
        }
    }
}
