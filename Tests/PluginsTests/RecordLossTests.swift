// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import NodeKit
import TestSupport

/// What is missing of a recording, what is told of it, and what becomes of the recording.
@Suite(.timeLimit(.minutes(5))) struct RecordLossTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func recorder(_ settings: [String: SettingValue] = [:], name: String = "take.wav") throws -> NodeHarness {
        try NodeHarness(
            pluginType("record"), settings.merging(["path": .string(scratch.file(name))]) { given, _ in given })
    }

    private func states(_ node: NodeHarness) -> [String] {
        node.capture.events("record.state").map { event in
            let reason = event.string("reason") ?? ""
            return (event.string("state") ?? "") + (reason.isEmpty ? "" : ": \(reason)")
        }
    }

    /// The marks of a WAV: frames and labels.
    private func marks(_ path: String) throws -> [UInt32] {
        var info = SF_INFO()
        let file = try #require(sf_open(path, Int32(SFM_READ), &info))
        defer { sf_close(file) }
        var cues = SF_CUES()
        guard sf_command(file, Int32(SFC_GET_CUE), &cues, Int32(MemoryLayout<SF_CUES>.size)) != 0 else { return [] }
        return withUnsafeBytes(of: &cues.cue_points) { points in
            points.bindMemory(to: SF_CUE_POINT.self).prefix(Int(cues.cue_count)).map(\.sample_offset)
        }
    }

    @Test(
        "A dropout is counted, told and marked, and silence takes its place if that is wanted",
        arguments: [false, true])
    func dropout(fills: Bool) throws {
        let node = try recorder(["fill": .bool(fills), "bits": .integer(24), "dither": .string("none")])
        let signal = (0..<9000).map { Float($0 % 100) / 128 }
        _ = node.render(3000, inputs: [signal])
        node.skipped = 512
        _ = node.render(3000, inputs: [Array(signal[3000...])])
        node.skipped = 100
        _ = node.render(3000, inputs: [Array(signal[6000...])])
        let take = try node.perform("finish")
        #expect(take["dropped"] == .integer(612) && take["missing"] == .number(612.0 / 48000))
        #expect(node.capture.counts["dropped"] == 612)
        let told = node.capture.events("record.dropped")
        let places = fills ? [3000, 6512] : [3000, 6000]
        #expect(told.map { $0.integer("at") } == places && told.map { $0.integer("frames") } == [512, 100])
        #expect(told.last?.integer("total") == 612 && told.allSatisfy { $0.string("cause") == "dropout" })
        let gap = { (count: Int) in [Float](repeating: 0, count: fills ? count : 0) }
        let expected =
            Array(signal[..<3000]) + gap(512) + Array(signal[3000..<6000]) + gap(100) + Array(signal[6000...])
        #expect(try SoundFile(scratch.file("take.wav")).samples == [expected])
        #expect(try marks(scratch.file("take.wav")) == places.map(UInt32.init))
        #expect(states(node) == ["recording", "finished"])
    }

    @Test("A disk that is full before the marks leaves a whole take without them") func marksWithoutRoom() async throws
    {
        for name in ["marked.wav", "take.wav"] {
            let path = scratch.file(name)
            let most = name == "take.wav" ? try fileSize(scratch.file("marked.wav")) - 10 : 1 << 20
            // The limit of a file's size refuses what is too much as a full disk does.
            await #expect(processExitsWith: .success) { [path = path as String, most = most as Int] in
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: rlim_t(most), rlim_max: rlim_t(most))
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                let node = try NodeHarness(pluginType("record"), ["path": .string(path)])
                for skipped in [0, 512] {
                    node.skipped = skipped
                    _ = node.render(3000, inputs: [noise(3000)])
                }
                #expect(try node.perform("finish")["frames"] == .integer(6000))
                #expect(node.capture.events("record.failed").isEmpty)
            }
        }
        #expect(try marks(scratch.file("marked.wav")) == [3000] && marks(scratch.file("take.wav")) == [])
        let takes = try ["marked.wav", "take.wav"].map { try SoundFile(scratch.file($0)).samples }
        #expect(takes[0] == takes[1] && takes[1][0].count == 6000)
        // Nothing of them is left behind the audio.
        #expect(try fileSize(scratch.file("take.wav")) < fileSize(scratch.file("marked.wav")) - 40)
    }

    @Test("R7: dropouts in a row interrupt it, and it goes on when they end, unless the user has paused it")
    func run() async throws {
        nonisolated(unsafe) let node = try recorder()
        let sound = noise(4800)
        for skipped in [0, 2400, 2400, 2400, 2400] {
            node.skipped = skipped
            _ = node.render(480, inputs: [sound])
        }
        let interrupted = "interrupted: the audio drops out, one time after the other"
        try await eventually("it is told") { states(node) == ["recording", interrupted] }
        try await eventually("it goes on") {
            _ = node.render(480, inputs: [sound])
            return states(node) == ["recording", interrupted, "recording"]
        }
        try node.perform("pause")
        try node.perform("resume")
        node.instance.finish()
        #expect(states(node).suffix(3) == ["paused", "recording", "finished"])
        #expect(node.capture.events("record.finished").last?.integer("dropped") == 4 * 2400)
    }

    @Test("R7: when nothing comes it says why, and goes on by itself; what is missing is as long as that took")
    func silence() async throws {
        nonisolated(unsafe) let node = try recorder(["fill": .bool(true), "path": .string(scratch.file("take.wav"))])
        let sound = noise(4800)
        _ = node.render(4800, inputs: [sound])
        let began = ContinuousClock.now
        try node.perform(
            "source", ["there": .bool(true), "comes": .bool(false), "reason": .string("the server is gone")])
        #expect(states(node) == ["recording", "interrupted: the server is gone"])
        try await Task.sleep(for: .milliseconds(300))
        _ = node.render(4800, inputs: [sound])
        let waited = began.duration(to: .now) / .seconds(1)
        try await eventually("it goes on") { states(node).count == 3 }
        let take = try node.perform("finish")
        #expect(states(node) == ["recording", "interrupted: the server is gone", "recording", "finished"])
        guard case .number(let missing)? = take["missing"], case .integer(let frames)? = take["frames"] else {
            Issue.record("no figures")
            return
        }
        #expect(missing >= 0.25 && missing <= waited + 0.2 && take["dropped"] == .integer(0))
        #expect(Double(frames) == (9600 + missing * 48000).rounded())
        #expect(node.capture.events("record.dropped").map { $0.string("cause") } == ["interruption"])
        // While the user has paused it nothing is missing.
        try node.perform("start", ["path": .string(scratch.file("more.wav"))])
        _ = node.render(480, inputs: [sound])
        try node.perform("pause")
        try node.perform(
            "source", ["there": .bool(true), "comes": .bool(false), "reason": .string("the server is gone")])
        try await Task.sleep(for: .milliseconds(100))
        try node.perform("source", ["there": .bool(true)])
        try node.perform("resume")
        _ = node.render(480, inputs: [sound])
        let more = try node.perform("finish")
        #expect(more["frames"] == .integer(960) && more["missing"] == .number(0))
    }

    @Test(
        "R7: one that is interrupted for longer than it may be ends with the reason, and keeps its take",
        .timeLimit(.minutes(1)))
    func limit() async throws {
        nonisolated(unsafe) let node = try recorder(["interruption_limit": .number(0.2)])
        _ = node.render(4800, inputs: [noise(4800)])
        try node.perform("source", ["there": .bool(false), "reason": .string("nothing is connected to mic any more")])
        try await eventually("it ends") { states(node).count == 3 }
        #expect(
            states(node).last == "finished: it was interrupted for 0.2 s: nothing is connected to mic any more")
        #expect(try SoundFile(scratch.file("take.wav")).samples[0].count == 4800)
        #expect((#expect(throws: NodeError.self) { try node.perform("finish") })?.kind == "not-recording")
    }

    @Test("R2, R3: subscribers get the file's rate and channels; who comes later gets how it is now")
    func published() async throws {
        nonisolated(unsafe) let node = try recorder([
            "publish": .bool(true), "channels": .integer(2), "rate": .number(16000), "file_channels": .integer(1),
            "publish_frames": .integer(160),
        ])
        let sine = Signal.sine(440, rate: 48000, frames: 57_600, amplitude: 0.5)
        _ = node.render(57_600, inputs: [sine, sine])
        try await eventually("all of it is told") {
            node.capture.silent.last { $0.name == "record.state" }?.integer("frames") ?? 0 > 18_000
        }
        #expect(node.capture.silent.last { $0.name == "record.state" }?.string("state") == "recording")
        let levels = try #require(node.capture.silent.last { $0.name == "record.levels" })
        guard case .list(let values)? = levels.fields["values"] else { throw NeverHappened(description: "\(levels)") }
        #expect(values.count >= 11)
        let ticks = node.capture.frames.compactMap { $0.rows[1]?.first }
        #expect(ticks.count == 12 && abs((ticks.last ?? 0) - 1.2) < 0.001)
        node.instance.finish()
        let audio = node.capture.audio
        #expect(audio.allSatisfy { $0.rate == 16000 && $0.channels.count == 1 })
        #expect(audio.dropLast().filter { $0.frames != 160 }.count <= 1)
        #expect(try audio.flatMap { $0.channels[0] } == SoundFile(scratch.file("take.wav")).samples[0])
    }

    @Test("What is refused has a kind that programs can tell apart") func kinds() throws {
        let node = try recorder(["autostart": .bool(false)])
        func kind(_ action: String) -> String? {
            (#expect(throws: NodeError.self) { try node.perform(action) })?.kind
        }
        for action in ["pause", "resume", "finish", "discard", "limit"] { #expect(kind(action) == "not-recording") }
        try node.perform("start")
        #expect(kind("start") == "already-recording" && kind("resume") == "not-paused")
        try node.perform("pause")
        #expect(kind("pause") == "already-paused")
    }
}
