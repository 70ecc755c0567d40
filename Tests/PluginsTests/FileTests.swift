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
        let error = (2000..<46000).map { abs(Double(output[$0]) - 0.5 * sin(2 * .pi * 1000 * Double($0) / 48000)) }
            .max()!
        #expect(error < 1e-4)
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
