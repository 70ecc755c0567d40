// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// Recordings that are started and finished while the graph runs.
@Suite struct RecordActionTests {
    private func harness(_ scratch: Scratch, _ more: [String: SettingValue] = [:]) throws -> NodeHarness {
        var settings = more
        settings["path"] = .string(scratch.file("take.wav"))
        return try NodeHarness(pluginType("record"), settings, offline: true)
    }

    private func states(_ node: NodeHarness) -> [String?] {
        node.capture.events("record.state").map { $0.string("state") }
    }

    @Test("Only what is heard between start and finish is in the file", .timeLimit(.minutes(5)))
    func between() throws {
        let scratch = try Scratch()
        let node = try harness(scratch, ["autostart": .bool(false)])
        let signal = noise(40_000)
        _ = node.render(10_000, inputs: [signal])
        #expect(!FileManager.default.fileExists(atPath: scratch.file("take.wav")))
        #expect(try node.perform("start") == ["path": .string(scratch.file("take.wav"))])
        _ = node.render(20_000, inputs: [Array(signal[10_000...])])
        let result = try node.perform("finish")
        let expected: [String: SettingValue] = [
            "path": .string(scratch.file("take.wav")), "frames": .integer(20_000),
            "seconds": .number(20_000.0 / 48_000), "dropped": .integer(0), "clipped": .integer(0),
        ]
        #expect(result.filter { expected[$0.key] != nil } == expected)
        _ = node.render(10_000, inputs: [Array(signal[30_000...])])
        #expect(try SoundFile(scratch.file("take.wav")).samples == [Array(signal[10_000..<30_000])])
        #expect(states(node) == ["idle", "recording", "finished"])
        // The next one has a file of its own, and nothing of what came between.
        try node.perform("start", ["path": .string(scratch.file("other.flac"))])
        _ = node.render(1000, inputs: [signal])
        #expect(try node.perform("finish")["frames"] == .integer(1000))
        #expect(try SoundFile(scratch.file("other.flac")).samples[0].count == 1000)
        try node.perform("start")
        #expect(try node.perform("finish")["path"] == .string(scratch.file("take-2.wav")))
    }

    @Test("What cannot be done is refused and changes nothing", .timeLimit(.minutes(5))) func refused() throws {
        let scratch = try Scratch()
        let node = try harness(scratch)
        _ = node.render(1000, inputs: [noise(1000)])
        let started = #expect(throws: NodeError.self) { try node.perform("start") }
        #expect(started?.message == "is recording to \(scratch.file("take.wav")) already")
        try node.perform("finish")
        let finished = #expect(throws: NodeError.self) { try node.perform("finish") }
        #expect(finished?.message == "is not recording" && finished?.hint == "start first")
        for path in ["take.mp4", scratch.file("no/folder/take.wav")] {
            let error = #expect(throws: NodeError.self) { try node.perform("start", ["path": .string(path)]) }
            #expect(error?.key == "path")
        }
        #expect(states(node) == ["recording", "finished"])
        #expect(try SoundFile(scratch.file("take.wav")).samples[0].count == 1000)
    }

    @Test("The end of the audio completes the file", .timeLimit(.minutes(5))) func finish() throws {
        let scratch = try Scratch()
        let node = try harness(scratch)
        let signal = noise(5000)
        _ = node.render(5000, inputs: [signal])
        node.instance.finish()
        #expect(node.capture.events("record.finished").first?.integer("frames") == 5000)
        #expect(states(node) == ["recording", "finished"])
        #expect(try SoundFile(scratch.file("take.wav")).samples == [signal])
    }

    @Test("Another rate completes the file and goes on in another", .timeLimit(.minutes(5))) func otherRate() throws {
        let scratch = try Scratch()
        let node = try harness(scratch)
        let signal = noise(4000)
        _ = node.render(1000, inputs: [signal])
        // A longer block needs another pipe, not another file.
        try node.prepare(Preparation(rate: 48000, maxBlock: 4096, offline: true))
        _ = node.render(1000, inputs: [Array(signal[1000...])])
        try node.prepare(Preparation(rate: 44100, maxBlock: 1024, offline: true))
        _ = node.render(2000, inputs: [Array(signal[2000...])])
        node.instance.finish()
        let first = try SoundFile(scratch.file("take.wav"))
        let second = try SoundFile(scratch.file("take-2.wav"))
        #expect(first.samples == [Array(signal[..<2000])] && first.rate == 48000)
        #expect(second.samples == [Array(signal[2000...])] && second.rate == 44100)
        #expect(
            states(node) == [
                "recording", "interrupted", "recording", "interrupted", "finished", "recording", "finished",
            ])
    }

    @Test("Frames that find no room are counted and told, and make it degraded", .timeLimit(.minutes(5)))
    func dropped() throws {
        let scratch = try Scratch()
        // Ten seconds at this rate are a thousand frames: they are full long before the writer looks again.
        let node = try NodeHarness(
            pluginType("record"), ["path": .string(scratch.file("take.wav"))], rate: 100, maxBlock: 64)
        node.polls = false
        var heard = 0
        while node.capture.counts["dropped"] == nil, heard < 64_000_000 {
            _ = node.run([Int](repeating: 64, count: 1000), inputs: [noise(64_000)])
            heard += 64_000
            node.instance.poll()
        }
        node.instance.finish()
        let finished = try #require(node.capture.events("record.finished").first)
        let (written, lost) = (finished.integer("frames") ?? 0, finished.integer("dropped") ?? 0)
        #expect(lost > 0 && written + lost == heard)
        #expect(node.capture.counts == ["dropped": UInt64(lost)])
        #expect(node.capture.events("record.dropped").last?.integer("total") == lost)
        let reason = "\(lost) frames of the recording were lost: the disk is too slow"
        #expect(node.capture.health.last == .degraded(reason))
    }

    @Test("A disk that takes no more ends the recording; the next may work", .timeLimit(.minutes(5)))
    func fullDisk() async throws {
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: .max)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let path = folder + "/take.wav"
            nonisolated(unsafe) let node = try NodeHarness(
                pluginType("record"), ["path": .string(path)], offline: true)
            _ = node.render(96_000, inputs: [noise(96_000)])
            // The file is written on a thread of its own.
            try await eventually("the disk has refused") { !node.capture.events("record.failed").isEmpty }
            let failed = try #require(node.capture.events("record.failed").first)
            #expect(failed.string("path") == path && (failed.integer("frames") ?? 0) > 10_000)
            #expect(node.capture.events("record.state").map { $0.string("state") } == ["recording", "failed"])
            #expect(node.capture.health.last == .failed("the recording ended: \(failed.string("reason") ?? "")"))
            #expect(throws: NodeError.self) { try node.perform("finish") }
            limit.rlim_cur = .max
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try node.perform("start")
            _ = node.render(96_000, inputs: [noise(96_000)])
            #expect(try node.perform("finish")["frames"] == .integer(96_000))
            #expect(node.capture.health.last == .ok && node.capture.events("record.failed").count == 1)
            // What was written until the disk was full still plays.
            #expect(try SoundFile(#require(failed.string("place"))).samples[0].count > 10_000)
        }
    }
}
