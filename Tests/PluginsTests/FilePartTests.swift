// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// A part of a file, and another place of it while it plays.
@Suite(.timeLimit(.minutes(5))) struct FilePartTests {
    private let scratch: Scratch
    private let signal = noise(96_000)
    init() throws {
        scratch = try Scratch()
        try SoundFile(rate: 48_000, samples: [signal]).write(scratch.file("take.wav"))
    }

    private func node(_ settings: [String: SettingValue], offline: Bool = true) throws -> NodeHarness {
        try NodeHarness(
            pluginType("file"), settings.merging(["path": .string(scratch.file("take.wav"))]) { $1 }, offline: offline)
    }

    @Test("From start to end a file is played bit for bit", arguments: [64, 1000], [true, false])
    func part(block: Int, offline: Bool) throws {
        let node = try node(["start": .number(0.25), "end": .number(1.00002)], offline: offline)
        let part = Array(signal[12_000..<48_001])
        var output: [Float] = []
        while output.count < 60_000 {
            // Blocks here come faster than a file is read.
            node.instance.wait(frames: block)
            output += node.run([block], inputs: [])[0]
        }
        expectEqual(Array(output.prefix(part.count)), part)
        #expect(output.dropFirst(part.count).allSatisfy { $0 == 0 })
        #expect(node.capture.events("file.finished").first?.integer("frames") == part.count)
    }

    @Test("A loop repeats what is from start to end without a seam", arguments: [100, 5000]) func loop(frames: Int)
        throws
    {
        let node = try node([
            "loop": .bool(true), "start": .number(0.5), "end": .number(0.5 + Double(frames) / 48_000),
        ])
        let output = node.render(30_000)[0]
        let wanted = output.indices.map { signal[24_000 + $0 % frames] }
        expectEqual(output, wanted)
        // Behind a jump too, however little has been read ahead by then.
        for turn in 0..<40 {
            try node.perform("seek", ["position": .number(0.501)])
            let later = Array(node.render(turn % 2 == 0 ? 5_000 : 1_100)[0].dropFirst(960))
            let sought = later.indices.map { signal[24_000 + (48 + 480 + $0) % frames] }
            expectEqual(later, sought, "turn \(turn)")
        }
    }

    @Test("Seek goes to its frame, offline and live, and its fades leave no step", arguments: [true, false])
    func seek(offline: Bool) throws {
        let sine = Signal.sine(100, rate: 48_000, frames: 480_000, amplitude: 0.5)
        try SoundFile(rate: 48_000, samples: [sine]).write(scratch.file("take.wav"))
        let node = try node([:], offline: offline)
        func play(_ blocks: Int) -> [Float] {
            (0..<blocks).flatMap { _ in
                node.instance.wait(frames: 256)
                return node.run([256], inputs: [])[0]
            }
        }
        var output = play(20)
        // A quarter of a period later: without fades there would be a step of half of full scale.
        try node.perform("seek", ["position": .number(7.0025)])
        output += play(20)
        let place = 7 * 48_000 + 120
        // What was heard falls for 480 frames; then what is sought rises for as long.
        let start = 20 * 256 + 480
        let heard = Array(output[(start + 480)...])
        let wanted = Array(sine[(place + 480)..<(place + output.count - start)])
        expectEqual(heard, wanted)
        let steepest: Float = zip(output, output.dropFirst()).map { abs($1 - $0) }.max() ?? 1
        // Of the sine itself, and of a fade.
        let most: Float = 0.5 * 2 * .pi * 100 / 48_000 + 0.5 / 240
        #expect(steepest < most)
        #expect(node.capture.events("file.gap").isEmpty)
    }

    @Test("A file that has ended goes on where it is sought, and ends again") func seekAtEnd() throws {
        let node = try node([:])
        _ = node.renderUntilIdle(limit: 200_000)
        #expect(node.instance.isIdle)
        _ = node.render(4800)
        try node.perform("seek", ["position": .number(1.5)])
        #expect(!node.instance.askIdle())
        let output = node.renderUntilIdle(limit: 200_000)[0]
        let (heard, wanted) = (Array(output[480..<24_000]), Array(signal[72_480...]))
        expectEqual(heard, wanted)
        #expect(abs(output[0]) < 0.001)
        #expect(Signal.peak(Array(output.dropFirst(24_000))) == 0)
        #expect(node.capture.events("file.finished").map { $0.integer("frames") } == [96_000, 24_000])
        #expect(node.capture.events("file.gap").isEmpty)
    }

    @Test(
        "Of several places that are sought before the next block the last is played, at any block",
        arguments: [256, 8192])
    func soughtTwice(block: Int) throws {
        let node = try NodeHarness(
            pluginType("file"), ["path": .string(scratch.file("take.wav"))], maxBlock: 8192, offline: true)
        _ = node.render(block, block: block)
        for position in [0.1, 1.2, 0.5] { try node.perform("seek", ["position": .number(position)]) }
        let output = node.render(4 * block, block: block)[0]
        let heard = Array(output[960...])
        let wanted = Array(signal[24_480..<(24_000 + output.count - 480)])
        expectEqual(heard, wanted)
    }

    @Test("Another block size goes on behind what was sought") func otherBlockSize() throws {
        let node = try node([:])
        _ = node.render(1000)
        try node.perform("seek", ["position": .number(1)])
        let before = node.render(2560)[0]
        try node.prepare(Preparation(rate: 48_000, maxBlock: 2048, offline: true))
        let output = before + node.render(2048, block: 2048)[0]
        let heard = Array(output[960...])
        let wanted = Array(signal[48_480..<(48_000 + output.count - 480)])
        expectEqual(heard, wanted)
    }

    @Test(
        "A part that there is not is an error at its setting",
        arguments: [
            (["start": .number(2)], "start", "start = 2 s is not before the end of take.wav; it is 2 s long"),
            (["start": .number(7.5), "end": .number(9)], "start", "start = 7.5 s is not before the end"),
            (
                ["start": .number(1), "end": .number(1)], "end",
                "nothing of take.wav is from start = 1 s to end = 1 s; it is 2 s long"
            ), (["end": .number(0)], "end", "from start = 0 s to end = 0 s"),
        ] as [([String: SettingValue], String, String)])
    func wrongPart(_ settings: [String: SettingValue], _ key: String, _ message: String) throws {
        let error = #expect(throws: NodeError.self) { try node(settings) }
        #expect(error?.key == key)
        let told = error?.message.replacingOccurrences(of: scratch.path + "/", with: "") ?? ""
        #expect(told.contains(message), "\(told)")
    }

    @Test("A place that is not played is refused, and what plays goes on", arguments: [0.2, 1.5, 1e5, -1, .nan])
    func wrongPlace(_ position: Double) throws {
        let node = try node(["start": .number(0.25), "end": .number(1.5)])
        let first = node.render(1000)[0]
        let error = #expect(throws: NodeError.self) { try node.perform("seek", ["position": .number(position)]) }
        // What can be in no file is refused by what is declared.
        if position >= 0, position < 1e6 { #expect(error?.hint == "it is played from 0.25 to 1.5 s") }
        let heard = first + node.render(1000)[0]
        let wanted = Array(signal[12_000..<14_000])
        expectEqual(heard, wanted)
    }

    @Test("An end behind that of the file is told") func longEnd() throws {
        let node = try node(["end": .number(9)])
        let output = node.renderUntilIdle(limit: 200_000)[0]
        expectEqual(Array(output.prefix(96_000)), signal)
        let told = node.capture.logs.map(\.text).filter { $0.contains("end = 9 s is behind its end; it is 2 s long") }
        #expect(told.count == 1)
    }
}
