// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

/// Decibels to take away at a level in decibels: Giannoulis, Massberg, Reiss, JAES 60 (6), 2012, equation 4.
func compressorReduction(_ level: Double, threshold: Double, ratio: Double, knee: Double) -> Double {
    let over = level - threshold
    if 2 * over < -knee { return 0 }
    if 2 * abs(over) <= knee, knee > 0 {
        return -(1 / ratio - 1) * (over + knee / 2) * (over + knee / 2) / (2 * knee)
    }
    return level - (threshold + over / ratio)
}

/// The amplitude of a sine of so many decibels.
func linear(_ decibels: Double) -> Double { pow(10, decibels / 20) }

/// The gain in decibels of the last `frames` frames, which hold whole periods of a sine.
func gainOfEnd(_ output: [Float], _ input: [Float], frames: Int) -> Double {
    Signal.decibels(Signal.rms(output.suffix(frames)) / Signal.rms(input.suffix(frames)))
}

/// The number of frames of a time.
func frames(milliseconds: Double, rate: Double) -> Int { Int(milliseconds * rate / 1000 + 0.5) }

extension NodeHarness {
    /// Sets parameters at once.
    func set(_ values: [String: Float]) {
        for (key, value) in values { set(key, value) }
    }

    /// The series `gain_reduction` so far, in decibels.
    var reductions: [Float] { capture.frames.compactMap { $0.rows[0]?.first } }
}

/// The dynamics nodes, each so that it has a lot to do with noise of 0 dBFS.
struct BusyDynamics: CustomTestStringConvertible, Sendable {
    var type: String
    var settings: [String: SettingValue] = [:]
    var values: [String: Float] = [:]
    /// What moves while it plays.
    var moves: [String: Float] = [:]

    var testDescription: String { "\(type) \(settings.keys.sorted())" }

    static let all = [
        BusyDynamics(
            type: "compressor", settings: ["detector": .string("peak"), "lookahead_ms": .number(2)],
            values: ["threshold_db": -30, "attack_ms": 1, "makeup_db": 6],
            moves: ["threshold_db": -20, "ratio": 9, "knee_db": 12, "release_ms": 30, "makeup_db": 3]),
        BusyDynamics(
            type: "compressor", settings: ["detector": .string("rms"), "channels": .integer(2)],
            values: ["threshold_db": -30, "ratio": 10], moves: ["attack_ms": 3]),
        BusyDynamics(
            type: "limiter", settings: ["lookahead_ms": .number(1)], values: ["ceiling_db": -6, "release_ms": 10],
            moves: ["ceiling_db": -12, "release_ms": 50]),
        BusyDynamics(
            type: "gate", values: ["threshold_db": -20, "hold_ms": 1, "release_ms": 2, "range_db": -40],
            moves: ["threshold_db": -10, "hysteresis_db": 3, "hold_ms": 2, "range_db": -60]),
        BusyDynamics(
            type: "deesser", settings: ["channels": .integer(2)],
            values: ["threshold_db": -30, "release_ms": 5],
            moves: ["frequency": 3000, "threshold_db": -40, "ratio": 2, "range_db": -20]),
        BusyDynamics(
            type: "deesser", settings: ["mode": .string("wide")], values: ["threshold_db": -30],
            moves: ["frequency": 9000]),
        BusyDynamics(
            type: "duck", values: ["threshold_db": -3, "attack_ms": 4, "hold_ms": 1, "release_ms": 9],
            moves: ["depth_db": -30, "threshold_db": -6, "release_ms": 20]),
    ]

    func harness(rate: Double = 48000, maxBlock: Int = 8192) throws -> NodeHarness {
        let harness = try NodeHarness(NodesTests.type(type), settings, rate: rate, maxBlock: maxBlock)
        harness.set(values)
        return harness
    }

    /// Noise that comes and goes, one a channel.
    func input(_ frames: Int) -> [[Float]] {
        (0..<2).map { channel in
            Signal.noise(frames: frames, seed: UInt64(channel + 5)).enumerated().map { index, sample in
                sample * [1, 0.02, 0.3, 0, 0.7][index / 400 % 5]
            }
        }
    }
}

@Suite struct DynamicsTests {
    @Test("Every sample is the same in all blocks", arguments: BusyDynamics.all)
    func blocks(_ dynamics: BusyDynamics) throws {
        let input = dynamics.input(9000)
        func heard(_ plan: BlockPlan, flags: Bool) throws -> [[Float]] {
            let harness = try dynamics.harness()
            harness.flagsSilence = flags
            return harness.run(9000, inputs: input, plan: plan)
        }
        let single = try heard(.fixed(1), flags: false)
        for plan in BlockPlan.all + [.fixed(8192), .fixed(37)] {
            let same = try heard(plan, flags: true) == single
            #expect(same, "\(plan)")
        }
        #expect(single[0] != input[0])
    }

    @Test("Every sample is the same while parameters move", arguments: BusyDynamics.all)
    func moves(_ dynamics: BusyDynamics) throws {
        for (key, value) in dynamics.moves {
            let change = LaterChange(
                node: dynamics.type, parameter: key, from: dynamics.values[key] ?? 20, to: value, atOnce: false,
                settings: dynamics.settings)
            let single = try change.heard(.fixed(1), at: 2048)
            for plan in [BlockPlan.fixed(64), .fixed(1024), .random(max: 256, seed: 3)] {
                let same = try change.heard(plan, at: 2048) == single
                #expect(same, "\(key), \(plan)")
            }
        }
    }

    @Test("A parameter that moves makes no step in a steady sine", arguments: BusyDynamics.all)
    func steps(_ dynamics: BusyDynamics) throws {
        for (key, value) in dynamics.moves where !key.hasSuffix("_ms") {
            let harness = try dynamics.harness()
            // As loud as a sine of 100 Hz gets from the first to the last value, and no more.
            let sine = Signal.sine(100, rate: 48000, frames: 12000, amplitude: 0.5)
            let inputs = [sine, sine]
            _ = harness.run(12000, inputs: inputs)
            harness.set(key, value, over: 480)
            let output = harness.run(12000, inputs: inputs)[0]
            let loudest = Signal.peak(output)
            #expect(Signal.largestStep(output) < loudest * 0.0131 * 2.5 + 1e-4, "\(key)")
        }
    }

    @Test("In place it gives the same", arguments: BusyDynamics.all) func inPlace(_ dynamics: BusyDynamics) throws {
        let input = dynamics.input(5000)
        let plain = try dynamics.harness().run(5000, inputs: input)
        let harness = try dynamics.harness()
        harness.inPlace = true
        #expect(harness.run(5000, inputs: input) == plain)
    }

    @Test("It works at every rate", arguments: BusyDynamics.all, [8000.0, 22050, 44100, 96000, 192_000, 384_000])
    func rates(_ dynamics: BusyDynamics, _ rate: Double) throws {
        let harness = try dynamics.harness(rate: rate)
        let output = harness.run(6000, inputs: dynamics.input(6000), plan: .random(max: 700, seed: 4))
        #expect(output.allSatisfy { $0.allSatisfy(\.isFinite) })
        #expect(Signal.rms(output[0]) > 0.001)
    }

    @Test("After nonsense it is as before within a second", arguments: BusyDynamics.all)
    func nonsense(_ dynamics: BusyDynamics) throws {
        let bad: [Float] = (0..<999).map {
            [.nan, .infinity, -.infinity, 3e38, -3e38, Float.leastNonzeroMagnitude, 1, 1e20][$0 % 8]
        }
        let sine = Signal.sine(1000, rate: 48000, frames: 4800, amplitude: 0.4)
        let harness = try dynamics.harness()
        harness.set(["release_ms": 20])
        _ = harness.run(999, inputs: [bad, bad])
        _ = harness.run(48000)
        let fresh = try dynamics.harness()
        fresh.set(["release_ms": 20])
        _ = fresh.run(48999)
        let (after, expected) = (harness.run(4800, inputs: [sine, sine]), fresh.run(4800, inputs: [sine, sine]))
        for (after, expected) in zip(after, expected) { #expect(Signal.difference(after, expected) < 1e-5) }
    }

    @Test("Silence is flagged once the delay is out, and it is idle then", arguments: BusyDynamics.all)
    func silence(_ dynamics: BusyDynamics) throws {
        let harness = try dynamics.harness()
        #expect(harness.instance.isIdle)
        _ = harness.run(640, inputs: dynamics.input(400))
        let latency = harness.instance.latency
        #expect(harness.instance.isIdle == (latency <= 240))
        _ = harness.run(200_000)
        #expect(harness.instance.isIdle)
        #expect(harness.silentOutputs.suffix(600).allSatisfy { !$0.contains(false) })
        // What follows is no other than in a node that was just made.
        let input = dynamics.input(3000)
        #expect(try harness.run(3000, inputs: input) == dynamics.harness().run(3000, inputs: input))
    }

    @Test("Silence from the start is flagged, and nothing is taken away", arguments: BusyDynamics.all)
    func silenceFromTheStart(_ dynamics: BusyDynamics) throws {
        let harness = try dynamics.harness()
        _ = harness.run(48000)
        #expect(harness.silentOutputs.allSatisfy { !$0.contains(false) })
        #expect(harness.reductions.count == 60)
        let closed: Float = dynamics.type == "gate" ? 40 : 0
        #expect(harness.reductions.allSatisfy { abs($0 - closed) < 1e-3 })
    }

    @Test(
        "Unknown words are refused with the key",
        arguments: [("compressor", "detector"), ("deesser", "mode")])
    func unknownWords(_ name: String, _ key: String) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type(name), [key: .string("loud")]) }
        #expect(error?.key == key)
        #expect(error?.hint.hasPrefix("use ") == true)
    }

    @Test("A look-ahead out of range is refused", arguments: ["compressor", "limiter"], [-1.0, 51, .nan])
    func lookAhead(_ name: String, _ value: Double) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type(name), ["lookahead_ms": .number(value)]) }
        #expect(error?.key == "lookahead_ms")
    }
}
