// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

/// A frame of the series of a meter.
struct Levels {
    var peak, rms: [Float]
    var orb: Float
    var position: UInt64
}

extension NodeCapture {
    /// The frames of a meter, in order; a frame without one of its series is left out.
    var levels: [Levels] {
        frames.compactMap {
            guard let peak = $0.rows[0], let rms = $0.rows[1], let orb = $0.rows[2]?.first else { return nil }
            return Levels(peak: peak, rms: rms, orb: orb, position: $0.position)
        }
    }
}

@Suite struct MeterTests {
    /// A sine with a whole number of cycles in every window of 1024 frames.
    private func sine(_ amplitude: Double, rate: Double, frames: Int) -> [Float] {
        Signal.sine(20 * rate / 1024, rate: rate, frames: frames, amplitude: amplitude)
    }

    @Test("Every sample passes unchanged", arguments: ["meter", "visualizer"], BlockPlan.all)
    func unchanged(_ name: String, _ plan: BlockPlan) throws {
        let inputs = (1...3).map { Signal.noise(frames: 5000, seed: UInt64($0), amplitude: 3) }
        for inPlace in [false, true] {
            let harness = try NodeHarness(type(name), ["channels": .integer(3)])
            harness.inPlace = inPlace
            #expect(harness.run(5000, inputs: inputs, plan: plan) == inputs)
        }
    }

    @Test("There are sixty frames a second", arguments: testRates) func frameRate(_ rate: Double) throws {
        let harness = try NodeHarness(type("meter"), rate: rate)
        harness.positionOffset = 500
        _ = harness.run(Int(rate), inputs: [sine(0.1, rate: rate, frames: Int(rate))], plan: .random(max: 512, seed: 1))
        let levels = harness.capture.levels
        #expect(levels.count == 60)
        let interval = UInt64(rate / 60)
        #expect(levels.map(\.position) == (1...60).map { 500 + $0 * interval })
    }

    @Test("A sine of minus 20 DBFS reads as that", arguments: testRates, BlockPlan.all)
    func sine(_ rate: Double, _ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("meter"), ["channels": .integer(2)], rate: rate)
        let signal = sine(0.1, rate: rate, frames: 8192)
        _ = harness.run(8192, inputs: [signal, signal.map { $0 / 2 }], plan: plan)
        let levels = harness.capture.levels
        #expect(levels.count == 8192 / Int(rate / 60))
        for frame in levels {
            #expect(abs(Signal.decibels(Double(frame.peak[0])) + 20) < 0.1)
            #expect(abs(Signal.decibels(Double(frame.rms[0])) + 23.01) < 0.1)
            #expect(abs(Signal.decibels(Double(frame.peak[1])) + 26.02) < 0.1)
        }
    }

    /// Silence 0; full-scale sine 0.9398; -20 dBFS sine 0.5398; an RMS of -25 dB 0.5.
    @Test(
        "O2: The orb level follows its vectors",
        arguments: [(0.0, 0.0), (1.0, 0.9398), (0.1, 0.5398), (0.0795272, 0.5)],
        ["meter", "visualizer"])
    func orbLevel(_ vector: (amplitude: Double, orb: Float), _ name: String) throws {
        let harness = try NodeHarness(type(name))
        _ = harness.run(4800, inputs: [sine(vector.amplitude, rate: 48000, frames: 4800)], plan: .fixed(100))
        let orb = try #require(harness.capture.levels.last?.orb)
        #expect(abs(orb - vector.orb) < 1e-4)
    }

    @Test("In silence time goes on") func silence() throws {
        let harness = try NodeHarness(type("meter"))
        _ = harness.run(2400, inputs: [Signal.constant(0.5, frames: 2400)])
        _ = harness.run(2400)
        let levels = harness.capture.levels
        #expect(levels.map { $0.peak[0] } == [0.5, 0.5, 0.5, 0, 0, 0])
        #expect(levels.map(\.position) == (1...6).map { 800 * $0 })
        #expect(levels.last?.orb == 0)
    }

    @Test("Nonsense does not stay") func nonsense() throws {
        let harness = try NodeHarness(type("meter"))
        _ = harness.run(800, inputs: [[.nan, .infinity]])
        _ = harness.run(4000, inputs: [Signal.constant(0.5, frames: 4000)])
        let levels = harness.capture.levels
        #expect(levels[0].orb.isFinite)
        #expect(levels[2].peak == [0.5])
        #expect(abs(levels[5].orb - 0.8796) < 1e-3)
    }

    @Test("Preparing again starts anew") func preparedAgain() throws {
        let harness = try NodeHarness(type("meter"))
        _ = harness.run(100, inputs: [Signal.constant(1, frames: 100)])
        try harness.prepare(Preparation(rate: 96000, maxBlock: 512))
        _ = harness.run(1600, inputs: [Signal.constant(0.25, frames: 1600)])
        #expect(harness.capture.levels.map(\.peak) == [[0.25]])
    }

    @Test("Unknown ballistics are refused") func unknownBallistics() throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("meter"), ["ballistics": .string("x")]) }
        #expect(error?.key == "ballistics")
        #expect(error?.hint == "use peak, vu, ppm1, ppm2, k12, k14 or k20")
    }

    /// What the needle of the first channel shows, frame by frame.
    private func needle(_ harness: NodeHarness) -> [Float] { harness.capture.frames.compactMap { $0.rows[3]?.first } }

    @Test("At its reference a sine shows 0 on every needle", arguments: ["vu", "ppm1", "ppm2", "k20"], testRates)
    func needle(_ ballistics: String, _ rate: Double) throws {
        for reference in [-18.0, -9] {
            let harness = try NodeHarness(
                type("meter"), ["ballistics": .string(ballistics), "reference": .number(reference)], rate: rate)
            let frames = Int(rate) * 2
            let signal = Signal.sine(1000, rate: rate, frames: frames, amplitude: pow(10, -18 / 20))
            #expect(harness.run(frames, inputs: [signal], plan: .random(max: 512, seed: 3)) == [signal])
            let shown = needle(harness)
            #expect(shown.count == 120)
            #expect(abs(try #require(shown.last) - Float(-18 - reference)) < 0.3)
        }
    }

    @Test(
        "Where no reference is given it is that of the standard",
        arguments: [("vu", -18), ("k12", -12), ("k14", -14), ("k20", -20.0)])
    func defaultReference(_ meter: (name: String, reference: Double)) throws {
        let harness = try NodeHarness(type("meter"), ["ballistics": .string(meter.name)])
        let signal = Signal.sine(1000, rate: 48000, frames: 96_000, amplitude: pow(10, meter.reference / 20))
        _ = harness.run(96_000, inputs: [signal])
        #expect(abs(try #require(needle(harness).last)) < 0.1)
    }

    @Test("In silence a needle falls, and each channel has its own") func needlesFall() throws {
        let harness = try NodeHarness(type("meter"), ["ballistics": .string("ppm2"), "channels": .integer(2)])
        let signal = Signal.sine(1000, rate: 48000, frames: 48000, amplitude: 1)
        _ = harness.run(48000, inputs: [signal, Signal.constant(0, frames: 48000)])
        let loud = try #require(harness.capture.frames.last?.rows[3])
        #expect(abs(loud[0] - 18) < 0.3 && loud[1] < -100)
        _ = harness.run(134_400)
        #expect(abs(try #require(needle(harness).last) - loud[0] + 24) < 0.3)
    }

    @Test("What it shows of the loudest channel are its control outputs", arguments: BlockPlan.all)
    func controlOutputs(_ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("meter"), ["ballistics": .string("vu"), "channels": .integer(2)])
        #expect(
            harness.instance.ports.filter { $0.kind == VG_CONTROL_PORT }.map(\.symbol) == ["peak", "rms", "needle"])
        let signal = Signal.sine(1000, rate: 48000, frames: 96000, amplitude: 0.5)
        _ = harness.run(96000, inputs: [signal.map { $0 / 10 }, signal], plan: plan)
        let shown = try #require(harness.controlOutputs.last)
        for (value, expected) in zip(shown, [-6.02, -9.03, 18 - 6.02]) {
            #expect(abs(Double(value) - expected) < 0.05, "\(shown)")
        }
        let silent = Signal.constant(0, frames: 9600)
        _ = harness.run(9600, inputs: [silent, silent], plan: plan)
        #expect(harness.controlOutputs.last?.prefix(2) == [-120, -120])
    }

    @Test("Without ballistics there is no needle, and nothing that a reference is for") func noNeedle() throws {
        let harness = try NodeHarness(type("meter"))
        _ = harness.run(4800, inputs: [Signal.constant(0.5, frames: 4800)])
        #expect(harness.capture.frames.count == 6 && needle(harness).isEmpty)
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("meter"), ["reference": .number(-20)]) }
        #expect(error?.key == "reference")
    }
}

@Suite struct VisualizerTests {
    @Test(
        "Presets ignore case, and fall back to verdant",
        arguments: [
            ("glacier", "glacier"), ("TwiLight", "twilight"), ("no such preset", "verdant"), ("", "verdant"),
            ("D3FFA6-#036B5B", "d3ffa6-#036b5b"), ("D3FFA6-036B5", "verdant"), ("D3FFA6", "verdant"),
        ])
    func presets(_ given: String, _ taken: String) throws {
        let harness = try NodeHarness(type("visualizer"), ["preset": .string(given), "style": .string("wave")])
        let event = try #require(harness.capture.events.first)
        #expect(event.name == "visualizer")
        #expect(event.fields["style"] == .string("wave") && event.fields["preset"] == .string(taken))
    }

    @Test("The default is an orb in its own colours") func defaults() throws {
        let event = try NodeHarness(type("visualizer")).capture.events.first
        #expect(
            event?.fields == [
                "style": .string("orb"), "frequency": .number(1.5), "follow": .bool(false), "density": .number(1),
                "level_time": .number(0.05), "view_time": .number(0.15), "speaking_time": .number(0.6),
                "end_time": .number(0.25),
            ])
    }

    @Test("O2: The scale of the level is as long as it is asked to be", arguments: [-50.0, -30, -90])
    func range(_ range: Double) throws {
        for rms in [0.5, 0.05, 0.005, 0.0005] as [Float] {
            let harness = try NodeHarness(type("visualizer"), ["range_db": .number(range)])
            _ = harness.run([1024, 1024, 1024, 1024], inputs: [Signal.constant(rms, frames: 4096)])
            let level = try #require(harness.capture.frames.last?.rows[2]?.first)
            let decibels = 20 * log10(Double(rms))
            #expect(abs(Double(level) - min(max((decibels - range) / -range, 0), 1)) < 1e-4, "\(rms)")
        }
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("visualizer"), ["range_db": .number(0)]) }
        #expect(error?.key == "range_db")
    }

    @Test("An unknown style is refused") func unknownStyle() throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("visualizer"), ["style": .string("cube")]) }
        #expect(error?.key == "style")
        #expect(error?.hint == "use orb, bars, wave, spectrum, spectrogram, scope, goniometer, meter or loudness")
    }
}
