// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import NodeKit
import TestSupport

/// A recorder as a session: states, active time, limits, levels, interruptions, and the files that it makes.
@Suite(.timeLimit(.minutes(5))) struct RecordSessionTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func recorder(
        _ settings: [String: SettingValue] = [:], name: String = "take.wav", rate: Double = 48000, offline: Bool = true
    ) throws -> NodeHarness {
        try NodeHarness(
            pluginType("record"), settings.merging(["path": .string(scratch.file(name))]) { given, _ in given },
            rate: rate, offline: offline)
    }

    private func states(_ node: NodeHarness) -> [String?] {
        node.capture.events("record.state").map { $0.string("state") }
    }

    private func refused(_ node: NodeHarness, _ action: String) -> String? {
        (#expect(throws: NodeError.self) { try node.perform(action) })?.message
    }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: scratch.path))?.sorted() ?? []
    }

    @Test("R1: idle, recording, paused; what does not fit the state is refused") func states() throws {
        let node = try recorder(["autostart": .bool(false)])
        for action in ["pause", "finish", "discard", "limit"] { #expect(refused(node, action) == "is not recording") }
        #expect(refused(node, "resume") == "is not paused")
        try node.perform("start")
        #expect(refused(node, "start")?.hasPrefix("is recording to ") == true)
        #expect(refused(node, "resume") == "is not paused")
        try node.perform("pause")
        #expect(refused(node, "pause") == "is paused already")
        #expect(refused(node, "start")?.hasPrefix("is recording to ") == true)
        try node.perform("resume")
        try node.perform("pause")
        try node.perform("finish")
        #expect(states(node) == ["idle", "recording", "paused", "recording", "paused", "finished"])
        #expect(files == ["take.wav"])
    }

    @Test("R1: what is discarded leaves no trace, and the next recording begins at nothing") func discard() throws {
        let node = try recorder(["autostart": .bool(false)])
        try node.perform("start")
        _ = node.render(5000, inputs: [noise(5000)])
        try node.perform("discard")
        #expect(files.isEmpty && states(node) == ["idle", "recording", "idle"])
        #expect(node.capture.events("record.discarded").count == 1)
        try node.perform("start")
        _ = node.render(700, inputs: [noise(700)])
        #expect(try node.perform("finish")["frames"] == .integer(700))
    }

    @Test("R5: a pause leaves out what is heard in it, and its time") func pause() throws {
        let node = try recorder()
        let signal = noise(30_000)
        _ = node.render(10_000, inputs: [signal])
        try node.perform("pause")
        _ = node.render(10_000, inputs: [Array(signal[10_000...])])
        try node.perform("resume")
        _ = node.render(10_000, inputs: [Array(signal[20_000...])])
        let take = try node.perform("finish")
        #expect(take["frames"] == .integer(20_000) && take["seconds"] == .number(20_000.0 / 48_000))
        #expect(try SoundFile(scratch.file("take.wav")).samples == [Array(signal[..<10_000] + signal[20_000...])])
    }

    @Test("R3, R5: who subscribes gets what is recorded, with rate, channels and positions, without pauses")
    func audio()
        throws
    {
        let node = try recorder([
            "publish": .bool(true), "channels": .integer(2), "autostart": .bool(false), "preroll": .number(0.05),
            "limit": .number(0.5),
        ])
        let (left, right) = (noise(60_000, seed: 1), noise(60_000, seed: 2))
        func hear(_ frames: Range<Int>) {
            _ = node.render(frames.count, inputs: [Array(left[frames]), Array(right[frames])])
        }
        hear(0..<10_000)
        #expect(node.capture.audio.isEmpty)
        try node.perform("start")
        hear(10_000..<20_000)
        try node.perform("pause")
        hear(20_000..<30_000)
        try node.perform("resume")
        hear(30_000..<60_000)
        node.instance.wait(frames: 1)
        node.instance.finish()
        // From the preroll, 2400 frames, on to the limit, 24 000 in all.
        let recorded = Array(7_600..<20_000) + Array(30_000..<41_600)
        let audio = node.capture.audio
        #expect(audio.allSatisfy { $0.rate == 48000 && $0.channels.count == 2 })
        #expect(audio.flatMap { $0.channels[0] } == recorded.map { left[$0] })
        #expect(audio.flatMap { $0.channels[1] } == recorded.map { right[$0] })
        #expect(audio.flatMap { $0.channels[0].indices.map(Int($0.position).advanced) } == recorded)
        #expect(audio.flatMap { $0.channels[0].indices.map(Int($0.frame).advanced) } == Array(recorded.indices))
        // Whole blocks, but before the pause and at the end.
        #expect(audio.map(\.frames).filter { $0 != 1024 } == [12_400 % 1024, 11_600 % 1024])
        #expect(
            try SoundFile(scratch.file("take.wav")).samples
                == audio.reduce(into: [[], []]) {
                    $0[0] += $1.channels[0]
                    $0[1] += $1.channels[1]
                })
    }

    @Test("R2: the file has the rate and the channels that are asked for", arguments: [8000, 44100, 96000])
    func shape(rate: Int) throws {
        let node = try recorder([
            "rate": .number(Double(rate)), "channels": .integer(2), "file_channels": .integer(1),
        ])
        let left = Signal.sine(1000, rate: 48000, frames: 48_000, amplitude: 0.5)
        _ = node.render(48_000, inputs: [left, [Float](repeating: 0, count: 48_000)])
        #expect(try node.perform("finish")["frames"] == .integer(Int64(rate)))
        let file = try SoundFile(scratch.file("take.wav"))
        let expected = Signal.sine(1000, rate: Double(rate), frames: rate, amplitude: 0.25)
        #expect(file.rate == rate && file.samples.count == 1)
        let middle = rate / 10..<rate * 9 / 10
        #expect(Signal.difference(Array(file.samples[0][middle]), Array(expected[middle])) < 1e-4)
    }

    @Test("R2: channels that cannot be made of those that come are an error at their setting") func noShape() {
        let error = #expect(throws: NodeError.self) {
            try NodeInstance(
                type: pluginType("record"), name: "n",
                settings: Settings([
                    "path": .string("take.wav"), "channels": .integer(4), "file_channels": .integer(2),
                ]),
                baseFolder: scratch.path)
        }
        #expect(error?.key == "file_channels")
    }

    @Test("R3, R4: the levels of the last ten seconds are there for whoever comes late") func levels() throws {
        let node = try recorder()
        func hear(_ amplitude: Double, seconds: Double) {
            let count = Int(seconds * 48000)
            _ = node.render(count, inputs: [Signal.sine(1000, rate: 48000, frames: count, amplitude: amplitude)])
        }
        hear(0.1, seconds: 3)
        hear(0, seconds: 9)
        try node.perform("pause")
        let told = try node.perform("levels")
        guard case .list(let list)? = told["values"] else {
            Issue.record("\(told)")
            return
        }
        let values = list.compactMap { value -> Double? in if case .number(let number) = value { number } else { nil } }
        // -20 dBFS at its peak; nothing is below -120.
        #expect(values.count == 100 && told["seconds"] == .number(12))
        #expect(values[..<10].allSatisfy { abs($0 + 23.01) < 0.01 } && values[10...].allSatisfy { $0 == -120 })
        let retained = try #require(node.capture.events("record.levels").last)
        #expect(retained.number("seconds") == 12)
    }

    @Test("R6: a limit ends the recording to the frame, and pauses do not count") func limit() throws {
        let node = try recorder(["limit": .number(0.5)])
        let signal = noise(96_000)
        _ = node.render(10_000, inputs: [signal])
        try node.perform("pause")
        _ = node.render(48_000, inputs: [signal])
        try node.perform("resume")
        _ = node.render(38_000, inputs: [Array(signal[10_000...])])
        #expect(refused(node, "finish") == "is not recording")
        #expect(try SoundFile(scratch.file("take.wav")).samples == [Array(signal[..<24_000])])
        #expect(node.capture.events("record.limit").map { $0.number("seconds") } == [0.5])
        #expect(states(node) == ["recording", "paused", "recording", "finished"])
    }

    @Test("R6: a limit is set and cleared at any time; one that has passed ends the recording") func limitLater() throws
    {
        let node = try recorder(["limit": .number(0.1)])
        try node.perform("limit")
        let signal = noise(20_000)
        _ = node.render(10_000, inputs: [signal])
        try node.perform("limit", ["seconds": .number(0.25)])
        _ = node.render(10_000, inputs: [Array(signal[10_000...])])
        #expect(refused(node, "finish") == "is not recording")
        #expect(try SoundFile(scratch.file("take.wav")).samples == [Array(signal[..<12_000])])
        try node.perform("start")
        try node.perform("limit")
        _ = node.render(9600, inputs: [signal])
        try node.perform("pause")
        try node.perform("limit", ["seconds": .number(0.1)])
        #expect(refused(node, "finish") == "is not recording")
        #expect(node.capture.events("record.finished").last?.integer("frames") == 9600)
    }

    @Test("R7: when the audio stops and comes back the recording goes on, unless the user has paused it")
    func interruption() throws {
        let node = try recorder()
        let signal = noise(30_000)
        _ = node.render(10_000, inputs: [signal])
        node.instance.deactivate()
        #expect(try SoundFile(scratch.file("take.part.wav")).samples == [Array(signal[..<10_000])])
        try node.prepare(Preparation(rate: 48000, maxBlock: 1024, offline: true))
        _ = node.render(10_000, inputs: [Array(signal[10_000...])])
        try node.perform("pause")
        node.instance.deactivate()
        try node.prepare(Preparation(rate: 48000, maxBlock: 1024, offline: true))
        _ = node.render(10_000, inputs: [Array(signal[20_000...])])
        node.instance.finish()
        #expect(try SoundFile(scratch.file("take.wav")).samples == [Array(signal[..<20_000])])
        #expect(states(node) == ["recording", "interrupted", "recording", "paused", "finished"])
    }

    @Test("R7: a file with a rate of its own goes on at another rate of the audio") func otherRate() throws {
        let node = try recorder(["rate": .number(48000), "limit": .number(3)])
        for rate in [48000, 44100, 96000, 48000] as [Double] {
            try node.prepare(Preparation(rate: rate, maxBlock: 1024, offline: true))
            let count = Int(rate)
            _ = node.render(count, inputs: [Signal.sine(440, rate: rate, frames: count, amplitude: 0.5)])
        }
        let file = try SoundFile(scratch.file("take.wav"))
        #expect(files == ["take.wav"] && file.rate == 48000 && file.samples[0].count == 3 * 48000)
        // Where the rates meet the wave may jump, but it does not rest.
        #expect(abs(Signal.rms(file.samples[0]) - 0.3536) < 0.002)
    }

    @Test("The next file begins at the very next frame") func split() throws {
        let node = try recorder(["split": .number(0.25)])
        let signal = noise(40_000)
        _ = node.render(40_000, inputs: [signal])
        node.instance.finish()
        #expect(files == ["take-2.wav", "take-3.wav", "take-4.wav", "take.wav"])
        let parts = try ["take.wav", "take-2.wav", "take-3.wav", "take-4.wav"].map {
            try SoundFile(scratch.file($0)).samples[0]
        }
        #expect(parts.map(\.count) == [12_000, 12_000, 12_000, 4000] && Array(parts.joined()) == signal)
        #expect(node.capture.events("record.finished").count == 4)
    }

    @Test("What came before the start is in the recording") func preroll() throws {
        let node = try recorder(["autostart": .bool(false), "preroll": .number(0.5)])
        let signal = noise(100_000)
        _ = node.render(30_000, inputs: [signal])
        #expect(refused(node, "finish") == "is not recording" && refused(node, "discard") == "is not recording")
        _ = node.render(40_000, inputs: [Array(signal[30_000...])])
        #expect(files.isEmpty)
        try node.perform("start")
        _ = node.render(10_000, inputs: [Array(signal[70_000...])])
        #expect(try node.perform("finish")["frames"] == .integer(34_000))
        #expect(try SoundFile(scratch.file("take.wav")).samples == [Array(signal[46_000..<80_000])])
        // And of what came since the last one.
        _ = node.render(1000, inputs: [Array(signal[80_000...])])
        try node.perform("start")
        #expect(try node.perform("finish")["frames"] == .integer(1000))
        #expect(try SoundFile(scratch.file("take-2.wav")).samples == [Array(signal[80_000..<81_000])])
    }
}
