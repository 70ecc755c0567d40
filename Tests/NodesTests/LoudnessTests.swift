// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@testable import Nodes

/// A level in dBFS for so long.
typealias Part = (level: Double, seconds: Double)

private func again(_ parts: [Part], _ count: Int) -> [Part] { (0..<count).flatMap { _ in parts } }

/// A sine of 1 kHz in such parts.
private func tones(_ parts: [Part], rate: Double) -> [Float] {
    var phase = 0
    return parts.flatMap { part in
        (0..<Int((part.seconds * rate).rounded())).map { _ in
            phase += 1
            return Float(pow(10, part.level / 20) * sin(2 * .pi * 1000 * Double(phase - 1) / rate))
        }
    }
}

/// A meter of which some series are read.
func meter(
    _ wanted: [String], _ settings: [String: SettingValue] = [:], channels: Int = 2, rate: Double = 48000
) throws -> NodeHarness {
    let all = settings.merging(["channels": .integer(Int64(channels))]) { $1 }
    let harness = try NodeHarness(type("meter"), all, rate: rate)
    let names = harness.instance.declarations.series.map(\.name)
    harness.capture.wanted = Set(wanted.map { name in names.firstIndex(of: name)! })
    try harness.prepare(harness.preparation)
    return harness
}

extension NodeHarness {
    /// The frames of a series, in order.
    func series(_ name: String) -> [[Float]] {
        let index = instance.declarations.series.firstIndex { $0.name == name }
        return capture.frames.compactMap { frame in index.flatMap { frame.rows[$0] } }
    }
}

/// The signals are those of EBU Tech 3341 and 3342, synthesized; so are the numbers, within their tolerance of 0.1 LU (1 LU
/// for the range). Longer ones at a lower rate: what is asked does not depend on it.
@Suite struct LoudnessTests {
    @Test("EBU Tech 3341, cases 1 and 2: a steady tone on all three scales", arguments: [-23.0, -33])
    func steady(_ level: Double) throws {
        let harness = try meter(["lufs_m", "lufs_s", "lufs_i"])
        let signal = tones([(level, 20)], rate: 48000)
        _ = harness.run(signal.count, inputs: [signal, signal])
        for name in ["lufs_m", "lufs_s", "lufs_i"] {
            let shown = try #require(harness.series(name).last)
            #expect(shown.count == 1 && abs(Double(shown[0]) - level) <= 0.1, "\(name)")
        }
        #expect(harness.series("lra").isEmpty)
    }

    private static let integrated: [(number: Int, parts: [Part])] = [
        (3, [(-36, 10), (-23, 60), (-36, 10)]),
        (4, [(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)]),
        (5, [(-26, 20), (-20, 20.1), (-26, 20)]),
    ]

    @Test("EBU Tech 3341, cases 3 to 5: what is quiet is gated", arguments: integrated)
    func gated(_ one: (number: Int, parts: [Part])) throws {
        let harness = try meter(["lufs_i"], rate: 8000)
        let signal = tones(one.parts, rate: 8000)
        _ = harness.run(signal.count, inputs: [signal, signal])
        #expect(abs(try #require(harness.series("lufs_i").last)[0] + 23) <= 0.1)
    }

    @Test("EBU Tech 3341, case 6: five channels have their weights") func surround() throws {
        let harness = try meter(["lufs_i"], channels: 5, rate: 8000)
        let signals = [-28.0, -28, -24, -30, -30].map { tones([($0, 20)], rate: 8000) }
        _ = harness.run(signals[0].count, inputs: signals)
        #expect(abs(try #require(harness.series("lufs_i").last)[0] + 23) <= 0.1)
    }

    @Test("EBU Tech 3341, case 9: short-term loudness is steady where each 3 s are alike") func shortTerm() throws {
        let harness = try meter(["lufs_s"], rate: 8000)
        let signal = tones(again([(-20, 1.34), (-30, 1.66)], 5), rate: 8000)
        _ = harness.run(signal.count, inputs: [signal, signal])
        #expect(harness.series("lufs_s").dropFirst(190).allSatisfy { abs($0[0] + 23) <= 0.1 })
    }

    @Test("EBU Tech 3341, case 12: momentary loudness is steady where each 400 ms are alike") func momentary() throws {
        let harness = try meter(["lufs_m"], rate: 8000)
        let signal = tones(again([(-20, 0.18), (-30, 0.22)], 25), rate: 8000)
        _ = harness.run(signal.count, inputs: [signal, signal])
        #expect(harness.series("lufs_m").dropFirst(70).allSatisfy { abs($0[0] + 23) <= 0.1 })
    }

    /// What each of twenty tones shows at most, wherever it begins; the cases for files, where all are as loud, and for live
    /// meters, where each is 1 dB louder than the one before.
    @Test(
        "EBU Tech 3341, cases 10, 11, 13 and 14: short tones show at most what they are, wherever they begin",
        arguments: [
            (10, "lufs_s", 3, 0.15), (11, "lufs_s", 3, 0.15), (13, "lufs_m", 0.4, 0.02), (14, "lufs_m", 0.4, 0.02),
        ])
    func most(_ number: Int, _ series: String, _ length: Double, _ step: Double) throws {
        let isLive = number == 11 || number == 14
        let harness = try meter([series], rate: 8000)
        for index in 0..<20 {
            let (level, wait) = (isLive ? -38 + Double(index) : -23, Double(index) * step)
            let signal = tones(
                [(-200, wait), (level, length), (-200, isLive ? length - wait : 1)], rate: 8000)
            let before = harness.series(series).count
            _ = harness.run(signal.count, inputs: [signal, signal])
            // What one leaves behind is over before the next is at its most, but not before it begins.
            let shown = harness.series(series)[before...].map { Double($0[0]) }
            let most = try #require(shown.max())
            #expect(abs(most - level) <= 0.1, "tone \(index): \(most), not \(level)")
            if !isLive {
                let pause = Signal.constant(0, frames: 32_000)
                _ = harness.run(pause.count, inputs: [pause, pause])
            }
        }
    }

    private static let peaks: [(number: Int, divisor: Double, degrees: Double, amplitude: Double, expected: Float)] = [
        (15, 4, 0, 0.5, -6), (16, 4, 45, 0.5, -6), (17, 6, 60, 0.5, -6), (18, 8, 67.5, 0.5, -6),
        (19, 4, 45, 1.41, 3),
    ]

    @Test("EBU Tech 3341, cases 15 to 19: peaks between the samples", arguments: peaks)
    func truePeak(
        _ one: (number: Int, divisor: Double, degrees: Double, amplitude: Double, expected: Float)
    ) throws {
        let harness = try meter(["true_peak"])
        // Faded in and out, as the document asks: an edge has peaks of its own.
        let frames = 48000
        let signal = (0..<frames).map { frame in
            let fade = min(1, Double(min(frame, frames - frame)) / 4800)
            let phase = 2 * .pi * Double(frame) / one.divisor + one.degrees * .pi / 180
            return Float(fade * one.amplitude * sin(phase))
        }
        _ = harness.run(frames, inputs: [signal, Signal.constant(0, frames: frames)])
        let shown = harness.series("true_peak")
        #expect(shown.count == 60)
        let most = try #require(shown.map { $0[0] }.max())
        #expect(most <= one.expected + 0.2 && most >= one.expected - 0.4)
        #expect(shown.allSatisfy { $0[1] < -100 })
    }

    @Test(
        "EBU Tech 3341, as cases 20 to 23: one peak of full scale, a quarter of a frame later each time",
        arguments: 0..<4)
    func singlePeak(_ quarters: Int) throws {
        let harness = try meter(["true_peak"])
        let frames = 48000
        let place = Double(frames / 2) + Double(quarters) / 4
        // A sine of fs/6 at -6 dBFS, of which one crest is raised to 0 dBFS: what it is raised by ends well below fs/2.
        let signal = (0..<frames).map { frame in
            let fade = min(1, Double(min(frame, frames - frame)) / 4800)
            let distance = Double(frame) - place
            return Float(fade * 0.5 * cos(2 * .pi * distance / 6) * (1 + exp(-distance * distance / 18)))
        }
        _ = harness.run(frames, inputs: [signal, Signal.constant(0, frames: frames)])
        let most = try #require(harness.series("true_peak").map { $0[0] }.max())
        #expect(most <= 0.2 && most >= -0.4)
    }

    private static let ranges: [(number: Int, levels: [Double], range: Float)] = [
        (1, [-20, -30], 10), (2, [-20, -15], 5), (3, [-40, -20], 20), (4, [-50, -35, -20, -35, -50], 15),
    ]

    @Test("EBU Tech 3342, cases 1 to 4: the range", arguments: ranges)
    func range(_ one: (number: Int, levels: [Double], range: Float)) throws {
        let harness = try meter(["lra"], rate: 8000)
        let signal = tones(one.levels.map { ($0, 20) }, rate: 8000)
        _ = harness.run(signal.count, inputs: [signal, signal])
        #expect(abs(try #require(harness.series("lra").last)[0] - one.range) <= 1)
    }

    @Test("A report tells loudness, range, true peak and clips since the start or a reset") func report() throws {
        let harness = try NodeHarness(type("meter"), ["channels": .integer(2), "report": .bool(true)], rate: 8000)
        let signal = tones([(-20, 20), (-30, 20)], rate: 8000)
        _ = harness.run(signal.count, inputs: [signal, signal])
        _ = harness.run(800, inputs: [Signal.constant(1, frames: 800), Signal.constant(0, frames: 800)])
        func number(_ name: String) throws -> Double {
            guard case .number(let number) = try harness.perform("report")[name] else { return .nan }
            return number
        }
        #expect(abs(try number("range") - 10) <= 1)
        #expect(abs(try number("seconds") - 40.1) < 0.1)
        #expect(try number("true_peak") >= 0)
        #expect(try harness.perform("report")["clips"] == .integer(800))
        _ = try harness.perform("reset")
        let quiet = tones([(-33, 20)], rate: 8000)
        _ = harness.run(quiet.count, inputs: [quiet, quiet])
        #expect(abs(try number("integrated") + 33) <= 0.1)
        #expect(abs(try number("true_peak") + 33) <= 0.4)
        #expect(try harness.perform("report")["clips"] == .integer(0))
        // Nobody reads the series.
        #expect(harness.series("lufs_i").isEmpty)
    }

    @Test("A report of so many frames is that of a sound that ends there, though silence was played behind it")
    func reportedFrames() throws {
        let signal = (0..<100_003).map { 0.3 * sinf(Float($0) / 11) * (0.2 + Float($0) / 100_003) }
        let exact = try MeterReport(channels: 1, rate: 48_000)
        signal.withUnsafeBufferPointer { exact.add($0.baseAddress!, frames: signal.count, stride: signal.count) }
        let wanted = exact.fields()
        for (block, more) in [(4096, 1), (1000, 20), (40_000, 0), (4096, 0)] {
            let report = try MeterReport(channels: 1, rate: 48_000)
            let played = signal + [Float](repeating: 0, count: (block - signal.count % block) % block + more * block)
            for start in stride(from: 0, to: played.count, by: block) {
                played[start..<min(start + block, played.count)].withUnsafeBufferPointer {
                    report.add($0.baseAddress!, frames: $0.count, stride: $0.count)
                }
            }
            let found = report.fields(frames: signal.count)
            for name in ["integrated", "range", "dc", "silence", "seconds", "true_peak"] {
                guard case .number(let a)? = found[name], case .number(let b)? = wanted[name] else {
                    Issue.record("no \(name)")
                    continue
                }
                #expect(abs(a - b) < 1e-6, "\(name) in blocks of \(block): \(a), not \(b)")
            }
        }
    }

    @Test(
        "The true peak of a report is the largest of the series, wherever it comes",
        arguments: [44100, 48000, 96000, 192000] as [Double], [1, 0.4] as [Float])
    func reportedPeak(rate: Double, left: Float) throws {
        let harness = try meter(["true_peak"], ["report": .bool(true)], rate: rate)
        let frames = 2 * Int(rate / 60 + 0.5)
        let quiet = Signal.constant(0.01, frames: frames)
        for round in 0..<120 {
            // Signs that alternate on both sides of a frame are what lies highest above its samples. Each is a little larger
            // than the one before, and begins elsewhere; with less on its left it rises out of what need not be measured.
            let amplitude = 0.05 * pow(1.02, Float(round))
            var signal = quiet
            let middle = 14 + 37 * round % (frames - 28)
            for distance in -13..<14 {
                let isUp = (distance + (distance > 0 ? 1 : 0)) % 2 == 0
                signal[middle + distance] = (isUp ? amplitude : -amplitude) * (distance < 0 ? left : 1)
            }
            _ = harness.run(frames, inputs: round % 3 == 0 ? [quiet, signal] : [signal, quiet])
            let most = try #require(harness.series("true_peak").joined().max())
            #expect(try harness.perform("report")["true_peak"] == .number(Double(most)), "round \(round)")
        }
    }

    @Test("Without the setting there is no report, and it says how there is one") func noReport() throws {
        let harness = try NodeHarness(type("meter"))
        for action in ["report", "reset"] {
            let error = #expect(throws: NodeError.self) { try harness.perform(action) }
            #expect(error?.hint.contains("report = true") == true)
        }
    }

    @Test("Silence, and what is no number, is as quiet as can be") func nothing() throws {
        let harness = try meter(["lufs_m", "lufs_s", "lufs_i", "lra", "true_peak"])
        let signal = [Float](repeating: .nan, count: 4800) + Signal.constant(0, frames: 4800)
        _ = harness.run(9600, inputs: [signal, signal])
        for name in ["lufs_m", "lufs_s", "lufs_i"] { #expect(harness.series(name).last == [-70]) }
        #expect(harness.series("lra").last == [0])
        #expect(harness.series("true_peak").last == [-140, -140])
    }
}
