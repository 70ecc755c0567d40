// SPDX-License-Identifier: Apache-2.0
import CEspeak
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@Suite(.serialized) struct TTSTests {
    static let sentence = "Hello, this is a glowing voice orb."

    private func harness(_ settings: [String: SettingValue], rate: Double = 48000) throws -> NodeHarness {
        try NodeHarness(pluginType("tts"), byEspeak(settings), rate: rate, offline: true)
    }

    @Test(
        "Every sample is played at every rate, and the end is told after the last", .timeLimit(.minutes(5)),
        arguments: [22050.0, 44100, 48000, 96000])
    func everySample(rate: Double) throws {
        let node = try harness(["text": .string(Self.sentence)], rate: rate)
        let output = node.renderUntilIdle(limit: Int(rate * 20))[0]
        let made = try #require(node.capture.events("speech.synthesized").first?.integer("frames"))
        #expect(abs(Double(made) / rate - 2.0) < 0.2)
        let finished = try #require(node.capture.events("speech.finished").first?.frame)
        let started = try #require(node.capture.events("speech.started").first?.frame)
        #expect(finished - started == made)
        #expect(output.count >= finished)
        #expect(output.contains { abs($0) > 0.1 })
        #expect(output[finished...].allSatisfy { $0 == 0 })
    }

    @Test("What is heard is what the library made", .timeLimit(.minutes(5))) func whatIsHeard() throws {
        // At the voice's own rate nothing is resampled, so all samples are multiples of 1/32768.
        let node = try harness(["text": .string(Self.sentence)], rate: 22050)
        let output = node.renderUntilIdle(limit: 22050 * 20)[0]
        #expect(output.allSatisfy { ($0 * 32768).rounded() == $0 * 32768 })
        let made = try #require(node.capture.events("speech.synthesized").first?.integer("frames"))
        // The speech is longer than the ring when it is repeated: nothing may be lost at its edge.
        let long = try harness(["text": .string(String(repeating: Self.sentence + " ", count: 12))], rate: 22050)
        let all = long.renderUntilIdle(limit: 22050 * 120, block: 1024)[0]
        let total = try #require(long.capture.events("speech.synthesized").first?.integer("frames"))
        #expect(total > 9 * made && total > 65536)
        #expect(all.count >= total && all.count < total + 2048)
        // A gap would be a run of zeros in the middle of a voiced sound; speech pauses are shorter than half a second.
        #expect(longestSilence(all) < 22050)
    }

    @Test(
        "Marks of emphasis make no sound, a line that ends is a pause, and words and sentences stand where they were written",
        .timeLimit(.minutes(5)))
    func marks() throws {
        func samples(_ text: String) throws -> ([Float], NodeCapture) {
            let node = try harness(["text": .string(text)], rate: 22050)
            return (node.renderUntilIdle(limit: 22050 * 20)[0], node.capture)
        }
        let (marked, events) = try samples("**All** `done`. 2 * 3")
        #expect(try marked == samples("All done. 2 * 3").0)
        #expect(try marked != samples("All done. 2 3").0)
        let words = events.events("speech.word")
        #expect(words.prefix(2).map { $0.string("text") } == ["All", "done"])
        #expect(words.prefix(2).map { $0.integer("offset") } == [2, 9])
        let sentences = events.events("speech.sentence")
        #expect(sentences.map { $0.string("text") } == ["All done.", "2 * 3"])
        #expect(sentences.map { $0.integer("offset") } == [2, 16])
        let (lines, told) = try samples("Apple\nBanana")
        #expect(try lines == samples("Apple.\nBanana").0)
        #expect(told.events("speech.sentence").map { $0.string("text") } == ["Apple", "Banana"])
        #expect(told.events("speech.sentence").map { $0.integer("offset") } == [0, 6])
        #expect(told.events("speech.sentence").map { $0.integer("length") } == [5, 6])
    }

    @Test("Words are told in order when they are heard", .timeLimit(.minutes(5))) func words() throws {
        let node = try harness(["text": .string("one two three")])
        _ = node.renderUntilIdle(limit: 48000 * 10)
        let words = node.capture.events("speech.word")
        #expect(words.map { $0.string("text") } == ["one", "two", "three"])
        #expect(words.map { $0.integer("offset") } == [0, 4, 8])
        let positions = words.map(\.frame)
        #expect(positions == positions.sorted() && Set(positions).count == 3)
        let names = node.capture.eventNames.filter {
            !["speech.synthesized", "speech.state", "speech.sentence"].contains($0)
        }
        #expect(names == ["speech.started", "speech.word", "speech.word", "speech.word", "speech.finished"])
    }

    @Test("A new text stops the old one without a click", .timeLimit(.minutes(5))) func newText() throws {
        let node = try harness(["text": .string(String(repeating: "aaaaah ", count: 30))])
        var output = node.render(48000)[0]
        node.instance.receive(.text("  second  "), port: 0)
        output += node.renderUntilIdle(limit: 48000 * 10)[0]
        #expect(node.capture.events("speech.stopped").count == 1)
        #expect(node.capture.events("speech.started").map { $0.string("text") }.last == "second")
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["second"])
        // The step from sample to sample at the change is no greater than in the speech itself.
        func step(_ range: Range<Int>) -> Float { range.map { abs(output[$0] - output[$0 - 1]) }.max() ?? 0 }
        #expect(step(47900..<48300) <= step(1..<47900))
    }

    @Test("A blank text stops within 5 milliseconds", .timeLimit(.minutes(5))) func blankText() throws {
        let node = try harness(["text": .string(String(repeating: Self.sentence, count: 5))])
        // Until it is loud.
        while node.render(256)[0].allSatisfy({ abs($0) < 0.2 }) {}
        node.instance.receive(.text(" \n "), port: 0)
        let rest = node.render(4800)[0]
        #expect(rest[240...].allSatisfy { $0 == 0 })
        // In between the voice goes on and away: the end of the fade is far quieter than its beginning.
        let early = rest[..<120].map { abs($0) }.max() ?? 0
        let late = rest[216..<240].map { abs($0) }.max() ?? 0
        #expect(early > 0.01 && late < early / 2)
        #expect(node.capture.events("speech.stopped").count == 1)
        #expect(node.capture.events("speech.finished").isEmpty)
        #expect(node.instance.isIdle)
    }

    @Test("Many texts at once leave only the last", .timeLimit(.minutes(5))) func manyTexts() throws {
        let node = try harness([:])
        #expect(node.instance.isIdle)
        for number in 1...20 { node.instance.receive(.text("number \(number)"), port: 0) }
        _ = node.renderUntilIdle(limit: 48000 * 10)
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["number 20"])
    }

    @Test("Queued texts are all spoken in order", .timeLimit(.minutes(5))) func queuedTexts() throws {
        let node = try harness(["queue": .bool(true), "text": .string("one")])
        node.instance.receive(.text("two"), port: 0)
        node.instance.receive(.text("three"), port: 0)
        _ = node.renderUntilIdle(limit: 48000 * 10)
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["one", "two", "three"])
    }

    @Test("A change of rate goes on with the word that was heard", .timeLimit(.minutes(5))) func changedRate() throws {
        let node = try harness(["text": .string("one two three four five six seven eight")])
        _ = node.render(48000)
        let before = node.capture.events("speech.word").compactMap { $0.string("text") }
        try node.prepare(Preparation(rate: 44100, maxBlock: 1024, offline: true))
        _ = node.renderUntilIdle(limit: 48000 * 10)
        let after = node.capture.events("speech.word").dropFirst(before.count).compactMap { $0.string("text") }
        #expect(after.first == before.last && after.last == "eight")
    }

    @Test("Every run of a program renders the same bits", .timeLimit(.minutes(5))) func sameBits() async throws {
        let scratch = try Scratch()
        for name in ["a", "b"] {
            await #expect(processExitsWith: .success) { [path = scratch.file(name) as String] in
                let node = try NodeHarness(
                    pluginType("tts"), byEspeak(["text": .string("aaah " + TTSTests.sentence)]), offline: true)
                var output = node.render(30_000)[0]
                node.instance.receive(.text("second thoughts"), port: 0)
                output += node.renderUntilIdle(limit: 480_000)[0]
                try output.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path))
            }
        }
        let first = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a")))
        #expect(first.count > 200_000)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("b"))) == first)
    }

    @Test("What is heard is bit for bit what the library makes on its own", .timeLimit(.minutes(5))) func libraryAlone()
        async throws
    {
        // Each in a process of its own: what espeak-ng makes depends on what it spoke before.
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) { [path = scratch.file("node") as String] in
            let node = try NodeHarness(
                pluginType("tts"), byEspeak(["text": .string(TTSTests.sentence)]), rate: 22050, offline: true)
            let output = node.renderUntilIdle(limit: 480_000)[0]
            let made = try #require(node.capture.events("speech.synthesized").first?.integer("frames"))
            try output.prefix(made).withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path))
        }
        await #expect(processExitsWith: .success) { [path = scratch.file("direct") as String] in
            let samples = try espeakAlone(TTSTests.sentence)
            try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path))
        }
        let direct = try Data(contentsOf: URL(fileURLWithPath: scratch.file("direct")))
        #expect(direct.count > 4 * 22050)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("node"))) == direct)
    }

    @Test("Live speech plays every sample too", .timeLimit(.minutes(5))) func live() throws {
        let node = try NodeHarness(pluginType("tts"), byEspeak(["text": .string(Self.sentence)]))
        var output: [Float] = []
        // No waiting for the voice here: early blocks may be silent, later ones come from a full ring.
        while node.capture.events("speech.finished").isEmpty, output.count < 48000 * 3600 { output += node.run(512)[0] }
        let made = try #require(node.capture.events("speech.synthesized").first?.integer("frames"))
        let started = try #require(node.capture.events("speech.started").first?.frame)
        let finished = try #require(node.capture.events("speech.finished").first?.frame)
        #expect(finished - started >= made)
        #expect(output[finished...].allSatisfy { $0 == 0 })
        // The voice's thread may not have seen yet that all it made was heard: blocks come faster than it is woken.
        while !node.instance.isIdle, output.count < 48000 * 3600 { output += node.run(512)[0] }
        #expect(node.instance.isIdle)
        // Blocks came faster than the voice: what was told of that is all that was missing.
        var heard: [Float] = []
        var next = started
        for gap in node.capture.events("speech.gap") {
            let (position, frames) = (gap.frame, gap.integer("frames") ?? 0)
            #expect(frames > 0)
            try #require(position > next && position + frames < finished)
            #expect(output[position..<position + frames].allSatisfy { $0 == 0 })
            heard += output[next..<position]
            next = position + frames
        }
        heard += output[next..<finished]
        #expect(heard.count == made)
    }

    @Test("An unknown voice is an error at its setting") func unknownVoice() throws {
        let error = try #require(throws: NodeError.self) {
            try NodeInstance(
                type: pluginType("tts"), name: "n", settings: Settings(byEspeak(["voice": .string("klingon-opera")])))
        }
        #expect(error.message == "espeak-ng has no voice called \"klingon-opera\"" && error.key == "voice")
    }

    @Test("A language tag is a voice") func languageTag() throws {
        _ = try NodeInstance(
            type: pluginType("tts"), name: "n", settings: Settings(byEspeak(["language": .string("en-US")])))
    }

    @Test("A rate between factor and words is an error") func badRate() throws {
        let error = try #require(throws: NodeError.self) {
            try NodeInstance(type: pluginType("tts"), name: "n", settings: Settings(byEspeak(["rate": .number(20)])))
        }
        #expect(error.key == "rate")
    }

    private func longestSilence(_ samples: [Float]) -> Int {
        var longest = 0
        var current = 0
        for sample in samples {
            current = sample == 0 ? current + 1 : 0
            longest = max(longest, current)
        }
        return longest
    }
}

/// What espeak-ng says of a text, called as its manual says.
private func espeakAlone(_ text: String) throws -> [Float] {
    let library = try Library("libespeak-ng.so.1")
    var espeak = vg_espeak()
    espeak.initialize = try library.function("espeak_Initialize")
    espeak.setVoiceByName = try library.function("espeak_SetVoiceByName")
    espeak.setCallback = try library.function("espeak_SetSynthCallback")
    espeak.synth = try library.function("espeak_Synth")
    _ = espeak.initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, nil, 0)
    _ = espeak.setVoiceByName("en-us")
    espeak.setCallback(receive)
    var samples: [Float] = []
    withUnsafeMutablePointer(to: &samples) { samples in
        _ = text.withCString {
            espeak.synth($0, text.utf8.count + 1, 0, POS_CHARACTER, 0, UInt32(espeakCHARS_UTF8), nil, samples)
        }
    }
    return samples
}

private func receive(
    _ buffer: UnsafeMutablePointer<Int16>?, _ count: Int32, _ events: UnsafeMutablePointer<espeak_EVENT>?
) -> Int32 {
    let target = events?.pointee.user_data.assumingMemoryBound(to: [Float].self)
    for index in 0..<Int(buffer == nil ? 0 : count) { target?.pointee.append(Float(buffer![index]) / 32768) }
    return 0
}
