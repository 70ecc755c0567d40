// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@Suite struct RecordTests {
    private func record(
        _ path: String, _ signal: [[Float]], _ more: [String: SettingValue] = [:], rate: Double = 48000
    ) throws -> NodeCapture {
        var settings = more
        settings["path"] = .string(path)
        settings["channels"] = .integer(Int64(signal.count))
        let node = try NodeHarness(pluginType("record"), settings, rate: rate, offline: true)
        _ = node.render(signal[0].count, inputs: signal)
        node.instance.finish()
        node.instance.deactivate()
        return node.capture
    }

    @Test("A WAV holds every sample unchanged", .timeLimit(.minutes(5)), arguments: [1, 2, 5])
    func wav(channels: Int) throws {
        let scratch = try Scratch()
        // Longer than the ring, 10 s: nothing may be lost when it is full.
        let signal = (0..<channels).map { noise(150_003, seed: UInt32($0 + 7)) }
        let capture = try record(scratch.file("take.wav"), signal, rate: 8000)
        let file = try SoundFile(scratch.file("take.wav"))
        #expect(file.rate == 8000)
        #expect(file.samples == signal)
        let names = capture.eventNames.filter { $0 != "record.levels" }
        #expect(names == ["record.started", "record.state", "record.finished", "record.state"])
        #expect(capture.events("record.finished").first?.integer("frames") == 150_003)
        #expect(capture.events("record.finished").first?.integer("dropped") == 0)
    }

    @Test(
        "Compressed formats hold the same signal", .timeLimit(.minutes(5)),
        arguments: [("flac", Float(1) / 4_000_000), ("ogg", Float(0.2))])
    func compressed(suffix: String, tolerance: Float) throws {
        let scratch = try Scratch()
        let sine = (0..<96000).map { Float(0.5 * sin(2 * .pi * 440 * Double($0) / 48000)) }
        _ = try record(scratch.file("take.\(suffix)"), [sine])
        let file = try SoundFile(scratch.file("take.\(suffix)"))
        #expect(file.samples[0].count == 96000)
        #expect(zip(file.samples[0], sine).allSatisfy { abs($0 - $1) < tolerance })
    }

    @Test("An existing file is kept unless it may be overwritten", .timeLimit(.minutes(5))) func existingFile() throws {
        let scratch = try Scratch()
        let first = [noise(1000)]
        let second = [noise(2000, seed: 9)]
        _ = try record(scratch.file("take.wav"), first)
        _ = try record(scratch.file("take.wav"), second)
        #expect(try SoundFile(scratch.file("take.wav")).samples == first)
        #expect(try SoundFile(scratch.file("take-2.wav")).samples == second)
        _ = try record(scratch.file("take.wav"), second, ["overwrite": .bool(true)])
        #expect(try SoundFile(scratch.file("take.wav")).samples == second)
    }

    @Test(
        "A process that is killed leaves a file that plays", .timeLimit(.minutes(5)), arguments: ["wav", "flac", "ogg"])
    func killed(suffix: String) async throws {
        let scratch = try Scratch()
        let path = scratch.file("take.\(suffix)")
        // What the file is called until it is complete.
        let part = scratch.file("take.part.\(suffix)")
        // WAV is complete up to the last save; the compressed formats hold back their newest frames.
        let least = suffix == "wav" ? 480_000 : 400_000
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, part = part as String, least = least as Int] in
            let node = try NodeHarness(pluginType("record"), ["path": .string(path)], offline: true)
            let deadline = Date().addingTimeInterval(60)
            let sine = (0..<480_000).map { Float(0.5 * sin(2 * .pi * 440 * Double($0) / 48000)) }
            _ = node.render(480_000, inputs: [sine])
            // The writer saves at the latest when it has caught up; then comes the end without warning.
            while Date() < deadline, (try? SoundFile(part))?.samples[0].count ?? 0 < least {
                node.instance.poll()
                usleep(100_000)
            }
            kill(getpid(), SIGKILL)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        let file = try SoundFile(part)
        #expect(file.samples[0].count >= least)
        #expect(abs((file.samples[0].map { abs($0) }.max() ?? 0) - 0.5) < 0.05)
    }

    @Test("A full disk is told, and the graph runs on", .timeLimit(.minutes(5))) func fullDisk() throws {
        let scratch = try Scratch()
        // /dev/full refuses every write as a full disk would.
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("full.wav"), withDestinationPath: "/dev/full")
        let capture = try record(scratch.file("full.wav"), [noise(96000)], ["overwrite": .bool(true)])
        #expect(capture.events("record.failed").count == 1)
        #expect(capture.logs.contains { $0.text.contains("ended") })
        #expect(capture.events("record.state").map { $0.string("state") } == ["recording", "failed"])
        #expect(capture.events("record.failed").first?.string("place") == nil)
        guard case .failed? = capture.health.last else {
            Issue.record("\(capture.health)")
            return
        }
    }

    @Test(
        "A path that cannot work is an error at its setting",
        arguments: [
            ("take.mp4", "cannot tell the format"), ("no/such/folder/take.wav", "cannot write to the folder"),
        ])
    func hopelessPath(path: String, message: String) throws {
        let scratch = try Scratch()
        let error = try #require(throws: NodeError.self) {
            try NodeInstance(
                type: pluginType("record"), name: "n", settings: Settings(["path": .string(path)]),
                baseFolder: scratch.path)
        }
        #expect(error.message.hasPrefix(message) && error.key == "path")
    }

    @Test("Date and time are filled in", .timeLimit(.minutes(5))) func dateAndTime() throws {
        let scratch = try Scratch()
        let capture = try record(scratch.file("{date} {time}.wav"), [noise(100)])
        let path = try #require(capture.events("record.started").first?.string("path"))
        #expect(path.wholeMatch(of: /.*\/\d{4}-\d\d-\d\d \d\d-\d\d-\d\d\.wav/) != nil)
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
