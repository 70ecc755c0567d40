// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct AnalysisTests {
    private static let requested = [
        "true_peak", "lufs_m", "lufs_s", "lufs_i", "lra", "correlation", "goniometer", "waveform", "scope", "bands",
        "spectrum", "fine_spectrum", "fast_spectra", "waveforms",
    ]

    @Test("What is measured on request says so, at meters and visualizers", arguments: ["meter", "visualizer"])
    func declared(_ name: String) throws {
        let series = try NodeHarness(type(name)).instance.declarations.series
        #expect(series.filter(\.isOnRequest).map(\.name) == Self.requested)
    }

    @Test("What nobody reads is not measured; what somebody reads is, until he has gone") func demand() throws {
        let harness = try meter([])
        let signal = Signal.sine(1000, rate: 48000, frames: 4800, amplitude: 0.5)
        func measured() -> Set<String> { Set(Self.requested.filter { !harness.series($0).isEmpty }) }
        _ = harness.run(4800, inputs: [signal, signal])
        #expect(measured().isEmpty && harness.capture.levels.count == 6)
        let names = harness.instance.declarations.series.map(\.name)
        harness.capture.wanted = [names.firstIndex(of: "correlation")!, names.firstIndex(of: "waveform")!]
        _ = harness.run(4800, inputs: [signal, signal])
        #expect(measured() == ["correlation", "waveform"])
        harness.capture.wanted = []
        _ = harness.run(1024, inputs: [signal, signal])
        harness.capture.clear()
        for _ in 0..<10 { _ = harness.run(4800, inputs: [signal, signal]) }
        #expect(measured().isEmpty)
        // Nor did audio wait for it meanwhile.
        harness.capture.wanted = [names.firstIndex(of: "waveform")!]
        _ = harness.run(4800, inputs: [signal, signal])
        #expect(measured() == ["waveform"] && harness.capture.counts.isEmpty)
    }

    @Test("There are sixty frames a second, at the positions of the levels", arguments: testRates)
    func frames(_ rate: Double) throws {
        let harness = try meter(Self.requested, rate: rate)
        let noise = Signal.noise(frames: Int(rate), seed: 1, amplitude: 0.1)
        let output = harness.run(Int(rate), inputs: [noise, noise], plan: .random(max: 512, seed: 5))
        #expect(output == [noise, noise])
        for name in Self.requested { #expect(harness.series(name).count == 60, "\(name)") }
        let levels = harness.capture.levels.map(\.position)
        let index = harness.instance.declarations.series.firstIndex { $0.name == "bands" }!
        #expect(harness.capture.frames.filter { $0.rows[index] != nil }.map(\.position) == levels)
    }

    @Test("There are fewer frames where fewer are asked for, of the same sound", arguments: [30, 20, 10])
    func fewerFrames(_ rate: Int64) throws {
        let (all, some) = (
            try meter(Self.requested), try meter(Self.requested, ["series_rate": .integer(rate)])
        )
        // Louder, and falling silent in between.
        let noise = Signal.noise(frames: 96_000, seed: 1, amplitude: 0.1).enumerated().map {
            $0.element * Float($0.offset / 4000 % 4)
        }
        for harness in [all, some] { _ = harness.run(96_000, inputs: [noise, noise]) }
        let step = 60 / Int(rate)
        let index = all.instance.declarations.series.firstIndex { $0.name == "bands" }!
        let ends = all.capture.frames.filter { $0.rows[index] != nil }.map(\.position)
        #expect(
            some.capture.frames.filter { $0.rows[index] != nil }.map(\.position)
                == stride(from: step - 1, to: ends.count, by: step).map { ends[$0] })
        func every(_ name: String) -> [[Float]] {
            let values = all.series(name)
            return stride(from: step - 1, to: values.count, by: step).map { values[$0] }
        }
        for name in ["lufs_m", "lufs_s", "lufs_i", "lra", "spectrum"] {
            #expect(some.series(name) == every(name), "\(name)")
        }
        // What is of all samples is of all samples.
        for (place, most) in some.series("true_peak").enumerated() {
            let parts = all.series("true_peak")[place * step..<(place + 1) * step]
            #expect(most == [parts.map { $0[0] }.max()!, parts.map { $0[1] }.max()!])
        }
    }

    @Test("How many frames there are can be changed while it plays; no sound is lost, and other numbers are refused")
    func changedRate() throws {
        let harness = try meter(["lufs_i", "bands"], ["report": .bool(true)])
        let noise = Signal.noise(frames: 48_000, seed: 1, amplitude: 0.1)
        _ = harness.run(24_100, inputs: [noise, noise])
        try harness.set(setting: "series_rate", to: .integer(10))
        #expect(harness.series("bands").count == 30)
        _ = harness.run(23_900, inputs: [noise, noise])
        // The frame that was begun, and then five of the rest, the last of which is not whole.
        #expect(harness.series("bands").count == 30 + 1 + 4)
        #expect(try harness.perform("report")["seconds"] == .number(1))
        let error = #expect(throws: NodeError.self) { try harness.set(setting: "series_rate", to: .integer(25)) }
        #expect(error?.hint.contains("20") == true)
        #expect(throws: NodeError.self) { try meter([], ["series_rate": .integer(59)]) }
    }

    @Test(
        "Correlation and goniometer tell alike, apart and inverted",
        arguments: [(1.0, 1.0, 1.0), (1, -1, -1), (1, 0, 0)])
    func stereo(_ one: (left: Double, right: Double, correlation: Double)) throws {
        let harness = try meter(["correlation", "goniometer"])
        let signal = Signal.sine(997, rate: 48000, frames: 24000, amplitude: 0.5)
        _ = harness.run(
            24000, inputs: [signal.map { $0 * Float(one.left) }, signal.map { $0 * Float(one.right) }])
        #expect(abs(Double(try #require(harness.series("correlation").last)[0]) - one.correlation) < 0.001)
        let points = try #require(harness.series("goniometer").last)
        #expect(points.count == 200)
        let side = stride(from: 0, to: 200, by: 2).map { abs(points[$0]) }.max() ?? 0
        let middle = stride(from: 1, to: 200, by: 2).map { abs(points[$0]) }.max() ?? 0
        #expect(abs(side - Float(abs(one.right - one.left) * 0.5 * 0.5.squareRoot())) < 0.02)
        #expect(abs(middle - Float(abs(one.right + one.left) * 0.5 * 0.5.squareRoot())) < 0.02)
    }

    @Test("Noise of two sources is not correlated") func unrelated() throws {
        let harness = try meter(["correlation"])
        _ = harness.run(
            48000, inputs: [Signal.noise(frames: 48000, seed: 1), Signal.noise(frames: 48000, seed: 2)])
        #expect(abs(try #require(harness.series("correlation").last)[0]) < 0.05)
    }

    @Test("A waveform has the least and the largest sample of each of its columns") func waveform() throws {
        let harness = try meter(["waveform"], channels: 1)
        _ = harness.run(800, inputs: [(0..<800).map { Float($0) / 800 }])
        let shown = try #require(harness.series("waveform").first)
        #expect(shown.count == 32)
        for column in 0..<16 {
            #expect(abs(shown[2 * column] - Float(column) / 16) < 1e-6)
            #expect(abs(shown[2 * column + 1] - Float(column * 50 + 49) / 800) < 1e-6)
        }
    }

    @Test("A tone stands still on the oscilloscope: every trace begins where the wave rises", arguments: testRates)
    func scope(_ rate: Double) throws {
        let harness = try meter(["scope"], rate: rate)
        let frames = Int(rate / 2)
        // 437 Hz is no multiple of 60 Hz: without a trigger each trace would begin elsewhere. The octave crosses 0, too.
        let low = Signal.sine(437, rate: rate, frames: frames, amplitude: 0.4)
        let high = Signal.sine(874, rate: rate, frames: frames, amplitude: 0.02)
        _ = harness.run(frames, inputs: [low, high], plan: .random(max: 512, seed: 3))
        let traces = harness.series("scope")
        #expect(traces.count == 30)
        for trace in traces.dropFirst(2) {
            #expect(trace.count == Int(rate / 60 + 0.5))
            // A frame is a fraction of a period, by which they differ.
            let step = Float(2 * Double.pi * 437 / rate * 0.25)
            #expect(trace[0] >= 0 && trace[0] <= step && trace[1] > trace[0])
        }
        harness.capture.clear()
        _ = harness.run(frames, inputs: [Signal.constant(0, frames: frames), Signal.constant(0, frames: frames)])
        #expect(try #require(harness.series("scope").last).allSatisfy { $0 == 0 })
    }

    @Test("The spectrum shows a sine at its place with its amplitude", arguments: testRates, [100.0, 1000, 3000])
    func spectrum(_ rate: Double, _ frequency: Double) throws {
        let harness = try meter(["spectrum"], channels: 1, rate: rate)
        // At the middle of a bin.
        _ = harness.run(1, inputs: [[0]])
        let frames = Int(rate / 2)
        let bins = 2 * (try size(of: harness, frames: frames) - 1)
        let exact = (frequency * Double(bins) / rate).rounded() * rate / Double(bins)
        _ = harness.run(frames, inputs: [Signal.sine(exact, rate: rate, frames: frames, amplitude: 0.1)])
        let shown = try #require(harness.series("spectrum").last)
        let peak = try #require(shown.indices.max { shown[$0] < shown[$1] })
        #expect(abs(Double(peak) * rate / Double(bins) - exact) < 0.01)
        #expect(abs(shown[peak] + 20) < 0.05)
        // The window's side lobes.
        #expect(shown.indices.filter { abs($0 - peak) > 20 }.allSatisfy { shown[$0] < -100 })
    }

    @Test("A fine spectrum parts neighbours, and fast ones tell when, in the middle of it", arguments: testRates)
    func spectrogram(_ rate: Double) throws {
        let harness = try meter(["fine_spectrum", "fast_spectra"], channels: 1, rate: rate)
        let frames = Int(rate / 2)
        let tones = zip(
            Signal.sine(100, rate: rate, frames: frames, amplitude: 0.1),
            Signal.sine(125, rate: rate, frames: frames, amplitude: 0.1)
        ).map { $0 + $1 }
        _ = harness.run(frames, inputs: [tones])
        let fine = try #require(harness.series("fine_spectrum").last)
        func level(_ frequency: Double) -> Float {
            fine[Int((frequency / rate * 2 * Double(fine.count - 1)).rounded())]
        }
        #expect(level(100) > -23 && level(125) > -23 && level(112.5) < -30)
        // A click, which passes the middle half a window after it came.
        harness.capture.clear()
        let delay = fine.count - 1
        let interval = Int(rate / 60 + 0.5)
        _ = harness.run(4 * interval, inputs: [Signal.constant(0, frames: 4 * interval)])
        for _ in 0..<10 { _ = harness.run(interval * 6, inputs: [Signal.constant(0, frames: interval * 6)]) }
        harness.capture.clear()
        _ = harness.run(interval * 12, inputs: [[1] + Signal.constant(0, frames: interval * 12 - 1)])
        let rows = harness.series("fast_spectra").flatMap { values -> [Float] in
            let width = values.count / 4
            return (0..<4).map { values[$0 * width + width / 2] }
        }
        let loudest = try #require(rows.indices.max { rows[$0] < rows[$1] })
        // The last of the first four is 2.5 of them behind the newest sample's.
        #expect(abs(Double(loudest) - (Double(4 * delay) / Double(interval) - 2.5)) <= 1)
        #expect(rows.indices.filter { abs($0 - loudest) > 4 }.allSatisfy { rows[$0] < -130 })
    }

    @Test("Waveforms are those of each channel") func waveforms() throws {
        let harness = try meter(["waveforms"])
        _ = harness.run(800, inputs: [Signal.constant(0.25, frames: 800), Signal.constant(-0.5, frames: 800)])
        let shown = try #require(harness.series("waveforms").first)
        #expect(shown == Array(repeating: 0.25, count: 32) + Array(repeating: -0.5, count: 32))
    }

    private func size(of harness: NodeHarness, frames: Int) throws -> Int {
        _ = harness.run(frames, inputs: [Signal.constant(0, frames: frames)])
        return try #require(harness.series("spectrum").last).count
    }

    /// A visualizer of which the bands are read.
    private func bands(_ settings: [String: SettingValue] = [:], _ signal: [Float]) throws -> [[Float]] {
        let harness = try NodeHarness(type("visualizer"), settings)
        let names = harness.instance.declarations.series.map(\.name)
        harness.capture.wanted = [names.firstIndex(of: "bands")!]
        try harness.prepare(harness.preparation)
        _ = harness.run(signal.count, inputs: [signal])
        return harness.series("bands")
    }

    @Test("80 Hz and 8 kHz are at other ends of the bands, and as high, whatever their level", arguments: [0.01, 0.5])
    func bandsDiffer(_ amplitude: Double) throws {
        for (frequency, band) in [(80.0, 2), (700, 15), (8000, 30)] {
            let signal = Signal.sine(frequency, rate: 48000, frames: 96000, amplitude: amplitude)
            let shown = try #require(try bands(["bands": .integer(32)], signal).last)
            #expect(shown.count == 32)
            let highest = try #require(shown.indices.max { shown[$0] < shown[$1] })
            #expect(abs(highest - band) <= 1, "\(frequency) Hz")
            #expect(shown[highest] > 0.95)
            #expect(shown.indices.filter { abs($0 - highest) > 6 }.allSatisfy { shown[$0] < 0.1 })
        }
    }

    @Test("Bands have the number and the edges that were asked for") func bandEdges() throws {
        let signal = Signal.sine(300, rate: 48000, frames: 48000, amplitude: 0.5)
        let shown = try #require(
            try bands(["bands": .integer(4), "low": .number(100), "high": .number(1600)], signal).last)
        #expect(shown.count == 4)
        #expect(shown[1] > 0.95 && shown[0] < 0.1 && shown[2] < 0.1 && shown[3] < 0.1)
        let error = #expect(throws: NodeError.self) {
            try NodeHarness(type("visualizer"), ["low": .number(2000), "high": .number(200)])
        }
        #expect(error?.key == "low")
    }

    @Test("Bars fall as something that drops, and lie still in silence") func gravity() throws {
        let tone = Signal.sine(1000, rate: 48000, frames: 48000, amplitude: 0.5)
        let shown = try bands([:], tone + Signal.constant(0, frames: 48000))
        let heights = shown.compactMap { $0.max() }
        let falling = Array(heights[66..<100])
        #expect(zip(falling, falling.dropFirst()).allSatisfy { $0 >= $1 })
        let (early, late) = (falling[2] - falling[6], falling[18] - falling[22])
        #expect(early > 0 && late > 1.5 * early)
        #expect(heights.last == 0)
    }

    @Test("What is no number does not stay in any analysis") func nonsense() throws {
        let harness = try meter(Self.requested)
        let broken: [Float] = [.nan, .infinity, -.infinity] + Signal.constant(0, frames: 797)
        _ = harness.run(800, inputs: [broken, broken])
        let signal = Signal.sine(1000, rate: 48000, frames: 48000, amplitude: 0.5)
        _ = harness.run(48000, inputs: [signal, signal])
        for name in Self.requested {
            #expect(harness.series(name).allSatisfy { $0.allSatisfy(\.isFinite) }, "\(name)")
        }
    }
}
