// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import NodeKit
import TestSupport

/// The files that a recorder makes: their names, what they take the place of, what is in them when something goes wrong.
@Suite(.timeLimit(.minutes(5))) struct RecordFileTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func recorder(
        _ settings: [String: SettingValue] = [:], name: String = "take.wav", rate: Double = 48000, offline: Bool = true
    ) throws -> NodeHarness {
        try NodeHarness(
            pluginType("record"), settings.merging(["path": .string(scratch.file(name))]) { given, _ in given },
            rate: rate, offline: offline)
    }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: scratch.path))?.sorted() ?? []
    }

    @Test(
        "A recording never takes the place of its own files: parts by time or size, and at another rate",
        arguments: ["split", "split_size"])
    func ownFiles(setting: String) throws {
        try scratch.write("take.wav", "old")
        try scratch.write("take-2.wav", "another's")
        let limit: SettingValue = .number(setting == "split" ? 0.5 : 0.09)
        let node = try recorder([setting: limit, "overwrite": .bool(true)])
        let first = noise(72_000)
        _ = node.render(72_000, inputs: [first])
        node.instance.deactivate()
        try node.prepare(Preparation(rate: 44100, maxBlock: 1024, offline: true))
        _ = node.render(4410, inputs: [noise(4410)])
        try node.perform("finish")
        let told = node.capture.events("record.finished").compactMap { $0.string("path") }
        #expect(told.first == scratch.file("take.wav") && Set(told).count == told.count && told.count >= 3)
        #expect(told.last == scratch.file("take-\(told.count + 1).wav"))
        #expect(try String(contentsOfFile: scratch.file("take-2.wav"), encoding: .utf8) == "another's")
        let parts = try told.map { try SoundFile($0).samples[0] }
        #expect(parts.dropLast().flatMap { $0 } == first && parts.last?.count == 4410)
        #expect(parts.first?.count == 24_000 && parts.allSatisfy { !$0.isEmpty })
        // The next recording is another one: it replaces the file that it names.
        try node.perform("start")
        _ = node.render(100, inputs: [noise(100)])
        try node.perform("finish")
        #expect(try SoundFile(scratch.file("take.wav")).samples[0].count == 100)
    }

    @Test("A file has its name when it is complete, and no other loses its own") func names() throws {
        let node = try recorder(name: "a%%%Y.wav")
        let other = try recorder(name: "a%%%Y.wav")
        let year = Calendar.current.component(.year, from: Date())
        _ = node.render(1000, inputs: [noise(1000)])
        _ = other.render(2000, inputs: [noise(2000)])
        #expect(files == ["a%\(year)-2.part.wav", "a%\(year).part.wav"])
        try scratch.write("a%\(year).wav", "another's")
        node.instance.finish()
        other.instance.finish()
        #expect(files == ["a%\(year)-2.wav", "a%\(year)-3.wav", "a%\(year).wav"])
        #expect(try String(contentsOfFile: scratch.file("a%\(year).wav"), encoding: .utf8) == "another's")
        #expect(node.capture.events("record.finished").first?.string("path") == scratch.file("a%\(year)-3.wav"))
        #expect(try SoundFile(scratch.file("a%\(year)-2.wav")).samples[0].count == 2000)
    }

    @Test("A name that is taken as it is has nothing filled in") func literalName() throws {
        let node = try recorder(["literal": .bool(true)], name: "100%Y {date}.wav")
        _ = node.render(1000, inputs: [noise(1000)])
        node.instance.finish()
        #expect(files == ["100%Y {date}.wav"])
        #expect(node.capture.events("record.finished").first?.string("path") == scratch.file("100%Y {date}.wav"))
    }

    @Test("What is rendered is the same however fast it comes", arguments: ["wav", "flac", "ogg", "opus"])
    func pace(suffix: String) throws {
        let signal = noise(96_000)
        func take(_ name: String, _ waits: Bool) throws -> [(bytes: Data, samples: [[Float]])] {
            let node = try recorder(["split_size": .number(0.05)], name: "\(name).\(suffix)")
            for start in stride(from: 0, to: signal.count, by: 7000) {
                _ = node.render(min(7000, signal.count - start), inputs: [Array(signal[start...])])
                // Longer than what is live goes without being saved.
                if waits { Thread.sleep(forTimeInterval: 0.12) }
            }
            node.instance.finish()
            let paths = node.capture.events("record.finished").compactMap { $0.string("path") }
            return try paths.map { try (Data(contentsOf: URL(fileURLWithPath: $0)), SoundFile($0).samples) }
        }
        let (slow, fast) = try (take("slow", true), take("fast", false))
        #expect(slow.map(\.bytes.count) == fast.map(\.bytes.count) && slow.map(\.samples) == fast.map(\.samples))
        // Each Opus has a serial number in its pages that libsndfile draws.
        if suffix != "opus" { #expect(slow.map(\.bytes) == fast.map(\.bytes)) }
    }

    @Test("No file is shorter than a hundredth of a second") func shortParts() throws {
        for length in [1e-9, 0.0099] {
            let error = #expect(throws: NodeError.self) { try recorder(["split": .number(length)]) }
            #expect(error?.key == "split")
        }
        let node = try recorder(["split": .number(0.01), "split_size": .number(1e-6)])
        _ = node.render(4900, inputs: [noise(4900)])
        node.instance.finish()
        #expect(try (2...11).map { try SoundFile(scratch.file("take-\($0).wav")).samples[0].count }.last == 100)
        #expect(files.count == 11)
    }

    @Test("Until the new one is complete the old one stays") func replaced() throws {
        try scratch.write("take.wav", "old")
        let node = try recorder(["overwrite": .bool(true)])
        _ = node.render(1000, inputs: [noise(1000)])
        #expect(try String(contentsOfFile: scratch.file("take.wav"), encoding: .utf8) == "old")
        node.instance.finish()
        #expect(files == ["take.wav"])
        #expect(try SoundFile(scratch.file("take.wav")).samples[0].count == 1000)
    }

    @Test("Under the name of a part nothing is written over: not what a link leads to, nor what has two names")
    func foreignParts() throws {
        try scratch.write("victim", "precious")
        symlink(scratch.file("victim"), scratch.file("take.part.wav"))
        try scratch.write("other", "precious")
        link(scratch.file("other"), scratch.file("take-2.part.wav"))
        try scratch.write("take.wav", "old")
        chmod(scratch.file("take.wav"), 0o600)
        let node = try recorder(["overwrite": .bool(true)])
        _ = node.render(1000, inputs: [noise(1000)])
        node.instance.finish()
        for name in ["victim", "other"] {
            #expect(try String(contentsOfFile: scratch.file(name), encoding: .utf8) == "precious")
        }
        #expect(try SoundFile(scratch.file("take.wav")).samples[0].count == 1000)
        var facts = stat()
        #expect(stat(scratch.file("take.wav"), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(files == ["other", "take-2.part.wav", "take.part.wav", "take.wav", "victim"])
    }

    @Test(
        "A full disk leaves the old file, and what there is of the new one under its part's name, and says why",
        arguments: ["wav", "flac", "ogg", "opus"])
    func fullDisk(suffix: String) async throws {
        let path = scratch.file("take.\(suffix)")
        try scratch.write("take.\(suffix)", "good")
        // The limit of a file's size refuses what is too much as a full disk does.
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 20_000, rlim_max: 20_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let node = try NodeHarness(
                pluginType("record"), ["path": .string(path), "overwrite": .bool(true)], offline: true)
            _ = node.render(960_000, inputs: [Signal.noise(frames: 960_000, seed: 3)])
            node.instance.finish()
            let failed = node.capture.events("record.failed").first
            #expect(failed?.string("reason") == "File too large")
            #expect(failed?.string("place")?.hasSuffix("take.part." + path.suffix(4).drop { $0 == "." }) == true)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "good")
        #expect(files == ["take.\(suffix)", "take.part.\(suffix)"].sorted())
        #expect(try SoundFile(scratch.file("take.part.\(suffix)")).samples[0].count > 1000)
    }

    @Test(
        "What was saved of a recording is in the file, but for less than a tenth of a second that encoders hold back",
        arguments: ["wav", "flac", "ogg", "opus"], ["silence", "noise"])
    func held(suffix: String, sound: String) throws {
        let frames = 144_000
        let node = try recorder(name: "take.\(suffix)")
        let signal = sound == "silence" ? [Float](repeating: 0, count: frames) : noise(frames)
        _ = node.render(frames, inputs: [signal])
        // Saves, as it does ten times a second, and does not complete the file.
        node.instance.deactivate()
        let part = scratch.file("take.part.\(suffix)")
        let copy = scratch.file("copy.part.\(suffix)")
        try FileManager.default.copyItem(atPath: part, toPath: copy)
        #expect(try SoundFile(copy).samples[0].count > frames - 9600)
    }

    @Test("Where the name is a link, what it leads to is replaced") func linked() throws {
        try FileManager.default.createDirectory(atPath: scratch.file("big"), withIntermediateDirectories: true)
        try scratch.write("big/real.wav", "old")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("take.wav"), withDestinationPath: scratch.file("big/real.wav"))
        let node = try recorder(["overwrite": .bool(true)])
        _ = node.render(1000, inputs: [noise(1000)])
        node.instance.finish()
        #expect(node.capture.events("record.finished").first?.string("path") == scratch.file("take.wav"))
        #expect(files == ["big", "take.wav"])
        #expect(try SoundFile(scratch.file("big/real.wav")).samples[0].count == 1000)
    }

    @Test("Opus has the rate that it knows", arguments: [44100, 48000, 96000]) func opus(rate: Int) throws {
        let node = try recorder(name: "take.opus", rate: Double(rate))
        _ = node.render(rate, inputs: [Signal.sine(440, rate: Double(rate), frames: rate, amplitude: 0.5)])
        node.instance.finish()
        let file = try SoundFile(scratch.file("take.opus"))
        #expect(file.rate == 48000 && abs(file.samples[0].count - 48000) < 1000)
        #expect(abs(Signal.rms(Array(file.samples[0][4800..<43000])) - 0.3536) < 0.02)
    }

    @Test("A WAV says when it was recorded, but none that is rendered does", arguments: [true, false])
    func stamp(offline: Bool) throws {
        let node = try recorder(offline: offline)
        _ = node.render(4800, inputs: [noise(4800)])
        node.instance.finish()
        var info = SF_INFO()
        let file = try #require(sf_open(scratch.file("take.wav"), Int32(SFM_READ), &info))
        defer { sf_close(file) }
        var facts = SF_BROADCAST_INFO()
        let size = Int32(MemoryLayout<SF_BROADCAST_INFO>.size)
        #expect((sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &facts, size) != 0) == !offline)
        if offline { return }
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let time = text(facts.origination_time).split(separator: ":").compactMap { Int($0) }
        #expect(text(facts.origination_date).wholeMatch(of: /20\d\d-\d\d-\d\d/) != nil && time.count == 3)
        let seconds = time[0] * 3600 + time[1] * 60 + time[2]
        #expect(UInt64(facts.time_reference_high) << 32 + UInt64(facts.time_reference_low) == UInt64(seconds * 48000))
    }
}
