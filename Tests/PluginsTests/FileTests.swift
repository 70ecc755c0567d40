// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@Suite struct FileTests {
    @Test(
        "A file at the graph's rate is played bit for bit", .timeLimit(.minutes(5)),
        arguments: [(1, 64), (2, 256), (3, 1000)])
    func bitForBit(channels: Int, block: Int) throws {
        let scratch = try Scratch()
        let signal = (0..<channels).map { noise(150_001, seed: UInt32($0 + 1)) }
        try SoundFile(rate: 48000, samples: signal).write(scratch.file("take.wav"))
        let node = try NodeHarness(
            pluginType("file"), ["path": .string("take.wav")], offline: true, baseFolder: scratch.path)
        #expect(node.instance.ports.count == channels)
        let output = node.renderUntilIdle(limit: 300_000, block: block)
        for channel in 0..<channels {
            #expect(Array(output[channel].prefix(150_001)) == signal[channel])
            #expect(output[channel].dropFirst(150_001).allSatisfy { $0 == 0 })
        }
        #expect(node.capture.eventNames == ["file.started", "file.finished"])
        #expect(node.capture.events("file.finished").first?.integer("frames") == 150_001)
    }

    @Test(
        "A sine keeps pitch, level and length through resampling", .timeLimit(.minutes(5)),
        arguments: [8000, 44100, 96000])
    func resampling(fileRate: Int) throws {
        let scratch = try Scratch()
        let sine = (0..<fileRate).map { Float(0.5 * sin(2 * .pi * 1000 * Double($0) / Double(fileRate))) }
        try SoundFile(rate: fileRate, samples: [sine]).write(scratch.file("sine.wav"))
        let node = try NodeHarness(pluginType("file"), ["path": .string(scratch.file("sine.wav"))], offline: true)
        let output = node.renderUntilIdle(limit: 100_000)[0]
        #expect(abs((node.capture.events("file.finished").first?.integer("frames") ?? 0) - 48000) <= 1)
        // Away from the ends the difference from the ideal sine is below -80 dBFS.
        let errors = (2000..<46000).map { (frame: Int) -> Double in
            let phase: Double = 2 * .pi * 1000 * Double(frame) / 48000
            return abs(Double(output[frame]) - 0.5 * sin(phase))
        }
        #expect(errors.max()! < 1e-4)
    }

    @Test("A loop repeats without a seam", .timeLimit(.minutes(5))) func loop() throws {
        let scratch = try Scratch()
        let signal = noise(1000)
        try SoundFile(rate: 48000, samples: [signal]).write(scratch.file("loop.wav"))
        let node = try NodeHarness(
            pluginType("file"), ["path": .string(scratch.file("loop.wav")), "loop": .bool(true)], offline: true)
        let output = node.render(100_000)[0]
        #expect(output.indices.allSatisfy { output[$0] == signal[$0 % 1000] })
        #expect(node.instance.isIdle)
        #expect(node.capture.events("file.finished").isEmpty)
    }

    @Test("Another block size goes on where the file was", .timeLimit(.minutes(5))) func otherBlockSize() throws {
        let scratch = try Scratch()
        let signal = noise(20_000)
        try SoundFile(rate: 48000, samples: [signal]).write(scratch.file("take.wav"))
        let node = try NodeHarness(pluginType("file"), ["path": .string(scratch.file("take.wav"))], offline: true)
        var output = node.render(5000)[0]
        try node.prepare(Preparation(rate: 48000, maxBlock: 2048, offline: true))
        output += node.render(15_000, block: 2048)[0]
        #expect(output == signal)
    }

    @Test("An OGG that was cut in half is played in a loop, and ends when it is told", .timeLimit(.minutes(1)))
    func cutLoop() throws {
        let scratch = try Scratch()
        let path = scratch.file("cut.ogg")
        let writer = try NodeHarness(pluginType("record"), ["path": .string(path)], offline: true)
        _ = writer.render(400_000, inputs: [noise(400_000)])
        try writer.perform("finish")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
        let node = try NodeHarness(pluginType("file"), ["path": .string(path), "loop": .bool(true)], offline: true)
        let output = node.render(600_000)[0]
        #expect(Signal.rms(output[500_000...]) > 0.1)
        #expect(node.capture.health.allSatisfy { $0 == .ok })
        // With live blocks it is read by itself, ahead of what is played.
        let live = try NodeHarness(pluginType("file"), ["path": .string(path), "loop": .bool(true)])
        _ = live.run([256], inputs: [])
    }

    @Test("A FLAC that does not say its length, as a stream or what a crash left, is played as if it did")
    func unknownLength() throws {
        let scratch = try Scratch()
        let path = scratch.file("whole.flac")
        let writer = try NodeHarness(pluginType("record"), ["path": .string(path)], offline: true)
        _ = writer.render(96_000, inputs: [noise(96_000)])
        try writer.perform("finish")
        // The 36 bits of STREAMINFO (RFC 9639, 8.2) that are 0 where the number of samples is not known.
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[21] &= 0xF0
        for place in 22...25 { bytes[place] = 0 }
        let stream = scratch.file("stream.flac")
        try Data(bytes).write(to: URL(fileURLWithPath: stream))
        func played(_ path: String, _ settings: [String: SettingValue] = [:], seek: Double? = nil) throws -> [Float] {
            let settings = settings.merging(["path": .string(path)]) { $1 }
            let node = try NodeHarness(pluginType("file"), settings, offline: true)
            if let seek { try node.perform("seek", ["position": .number(seek)]) }
            var output = node.render(5000)[0]
            // Another block size goes on where it was.
            try node.prepare(Preparation(rate: 48000, maxBlock: 2048, offline: true))
            output += settings["loop"] == nil ? node.renderUntilIdle(limit: 200_000)[0] : node.render(200_000)[0]
            #expect(node.capture.health.allSatisfy { $0 == .ok })
            #expect(node.capture.events("file.failed").isEmpty)
            return output
        }
        #expect(Signal.rms(try played(stream)) > 0.1)
        expectEqual(try played(stream), try played(path))
        for settings in [
            ["start": SettingValue.number(0.5)], ["end": .number(1.5)], ["loop": .bool(true)],
            ["loop": .bool(true), "start": .number(0.25), "end": .number(1)],
        ] { expectEqual(try played(stream, settings), try played(path, settings), "\(settings)") }
        expectEqual(try played(stream, seek: 1.25), try played(path, seek: 1.25), "seek")
    }

    @Test(
        "A compressed file that is damaged is played to where it can be, and its fault is told", .timeLimit(.minutes(1))
    )
    func damaged() throws {
        let scratch = try Scratch()
        let path = scratch.file("cut.flac")
        let writer = try NodeHarness(pluginType("record"), ["path": .string(path)], offline: true)
        _ = writer.render(48_000, inputs: [noise(48_000)])
        try writer.perform("finish")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
        let node = try NodeHarness(pluginType("file"), ["path": .string(path)], offline: true)
        _ = node.renderUntilIdle(limit: 96_000)
        #expect(node.capture.eventNames == ["file.started", "file.failed", "file.finished"])
        #expect(node.capture.health.last?.reason?.hasPrefix("cannot read \(path): ") == true)
    }

    @Test("What is not read in time is told as a gap of so many frames", .timeLimit(.minutes(1))) func gap() throws {
        let scratch = try Scratch()
        try SoundFile(rate: 8000, samples: [noise(4_000_000)]).write(scratch.file("long.wav"))
        let node = try NodeHarness(
            pluginType("file"), ["path": .string(scratch.file("long.wav"))], rate: 8000, maxBlock: 8192)
        // Blocks that come faster than any file is read, and pauses in which it is.
        for _ in 0..<200 where node.capture.events("file.gap").isEmpty {
            _ = node.run(Array(repeating: 8192, count: 20), inputs: [])
            usleep(20_000)
            node.instance.poll()
        }
        let gap = try #require(node.capture.events("file.gap").first?.integer("frames"))
        #expect(gap > 0 && node.capture.counts["missing"] ?? 0 >= UInt64(gap))
    }

    @Test("Neither a folder nor a pipe is waited for", .timeLimit(.minutes(1))) func noFile() throws {
        let scratch = try Scratch()
        mkfifo(scratch.file("pipe.wav"), 0o600)
        for path in [scratch.file("pipe.wav"), scratch.path] {
            let error = try #require(throws: NodeError.self) {
                try NodeInstance(type: pluginType("file"), name: "n", settings: Settings(["path": .string(path)]))
            }
            #expect(error.message == "cannot read \(path): it is not a file")
        }
    }

    @Test(
        "Resampling passes what is heard and adds nothing, live and offline", .timeLimit(.minutes(5)),
        arguments: [(1000.0, true), (18_000, true), (20_000, true), (18_000, false)])
    func resamplingQuality(_ frequency: Double, _ offline: Bool) throws {
        let scratch = try Scratch()
        try SoundFile(rate: 44_100, samples: [Signal.sine(frequency, rate: 44_100, frames: 44_100, amplitude: 0.5)])
            .write(scratch.file("sine.wav"))
        let node = try NodeHarness(
            pluginType("file"), ["path": .string(scratch.file("sine.wav"))], offline: offline)
        var output: [Float] = []
        while output.count < 47_000 {
            // Blocks here come faster than a file is read.
            if !offline { node.instance.wait(frames: 256) }
            let block = offline ? node.render(256)[0] : node.run([256], inputs: [])[0]
            if !offline, output.isEmpty, block.allSatisfy({ $0 == 0 }) { continue }
            output += block
        }
        // What is left of whole periods without the sine itself.
        let middle = output[5000..<43_400].map(Double.init)
        let step = 2 * .pi * frequency / 48_000
        var (s, c) = (0.0, 0.0)
        for (index, sample) in middle.enumerated() {
            s += sample * sin(step * Double(index))
            c += sample * cos(step * Double(index))
        }
        (s, c) = (2 * s / Double(middle.count), 2 * c / Double(middle.count))
        let rest = middle.enumerated().map { index, sample in
            sample - s * sin(step * Double(index)) - c * cos(step * Double(index))
        }
        let level = Signal.decibels((s * s + c * c).squareRoot() / 0.5)
        let noise = Signal.decibels((rest.reduce(0) { $0 + $1 * $1 } / Double(rest.count)).squareRoot() / 0.3536)
        print("figure: 44.1 to 48 kHz at \(Int(frequency)) Hz: \(level) dB, rest \(Int(noise)) dB")
        #expect(abs(level) < 0.02 && noise < -120)
    }

    /// A WAV of 16 bits with these sizes in its head, and chunks behind the sound.
    private func wave(_ frames: Int, whole: UInt32? = nil, data: UInt32? = nil, behind: [UInt8] = []) -> [UInt8] {
        func little(_ number: UInt32, _ count: Int = 4) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
        }
        let format =
            little(16) + little(1, 2) + little(1, 2) + little(48_000) + little(96_000) + little(2, 2) + little(16, 2)
        let sound = (0..<frames).flatMap { little(UInt32($0 % 20_000), 2) }
        let size = UInt32(36 + sound.count + behind.count)
        return Array("RIFF".utf8) + little(whole ?? size) + Array("WAVEfmt ".utf8) + format + Array("data".utf8)
            + little(data ?? UInt32(sound.count)) + sound + behind
    }

    private func play(_ bytes: [UInt8]) throws -> (frames: Int, failures: [CapturedEvent], last: Float) {
        let scratch = try Scratch()
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("a.wav")))
        let node = try NodeHarness(pluginType("file"), ["path": .string(scratch.file("a.wav"))], offline: true)
        let output = node.renderUntilIdle(limit: 100_000)[0]
        let frames = node.capture.events("file.finished").first?.integer("frames") ?? 0
        return (frames, node.capture.events("file.failed"), frames > 0 ? output[frames - 1] : 0)
    }

    @Test(
        "A WAV whose head does not tell its length is played to its end",
        arguments: [(0, 0), (36, 0), (UInt32.max, UInt32.max), (0x7FFF_F024, 0x7FFF_F000)] as [(UInt32, UInt32)])
    func openLength(whole: UInt32, data: UInt32) throws {
        let played = try play(wave(10_001, whole: whole, data: data))
        #expect(played.frames == 10_001 && played.failures.isEmpty)
        #expect(played.last == Float(10_000) / 32_768)
    }

    @Test("A head that says that there is no sound, with chunks behind it, is believed") func emptySound() throws {
        let list = Array("LIST".utf8) + [4, 0, 0, 0] + Array("INFO".utf8)
        #expect(try play(wave(0, behind: list)).frames == 0)
        #expect(try play(wave(500, behind: list)).frames == 500)
    }

    @Test("A WAV that is shorter than its head says is told", arguments: [0, 1]) func shortSound(odd: Int) throws {
        let played = try play(Array(wave(10_000).dropLast(8000 + odd)))
        #expect(played.frames == 6000 - odd)
        let reason = try #require(played.failures.first).fields["reason"]
        #expect(reason == .string("it ends after \(6000 - odd) of 10000 frames"))
    }

    @Test("A streamed WAV beyond 4 GiB is read behind what 32 bits can say") func beyondFourGigabytes() throws {
        let scratch = try Scratch()
        let path = scratch.file("long.wav")
        let head = Array(wave(0, whole: .max, data: .max))
        try Data(head).write(to: URL(fileURLWithPath: path))
        // A file with holes in it takes no room.
        let frames = 2_200_000_000
        let descriptor = open(path, O_WRONLY)
        defer { close(descriptor) }
        try #require(ftruncate(descriptor, off_t(head.count + 2 * frames)) == 0)
        var mark: Int16 = 16_384
        try #require(pwrite(descriptor, &mark, 2, off_t(head.count + 2 * (frames - 1))) == 2)
        let start = Double(frames - 4800) / 48_000
        let node = try NodeHarness(
            pluginType("file"), ["path": .string(path), "start": .number(start)], offline: true)
        let output = node.renderUntilIdle(limit: 100_000)[0]
        #expect(node.capture.events("file.finished").first?.integer("frames") == 4800)
        #expect(output[4799] == 0.5)
    }

    @Test("A file that is no audio is an error at its setting") func noAudio() throws {
        let scratch = try Scratch()
        try "not audio at all".write(toFile: scratch.file("a.wav"), atomically: true, encoding: .utf8)
        let error = try #require(throws: NodeError.self) {
            try NodeInstance(
                type: pluginType("file"), name: "n", settings: Settings(["path": .string(scratch.file("a.wav"))]))
        }
        #expect(error.key == "path" && error.message.hasPrefix("cannot read"))
    }
}
