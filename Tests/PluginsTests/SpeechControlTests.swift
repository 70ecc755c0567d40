// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// How speech is stopped, held and skipped, and when it is said to be heard.
@Suite(.serialized) struct SpeechControlTests {
    private func harness(_ settings: [String: SettingValue] = [:], offline: Bool = true) throws -> NodeHarness {
        try NodeHarness(pluginType("tts"), byEspeak(settings), offline: offline)
    }

    @Test("O1: Speaking stops the speech before it and trims; a blank text only stops", .timeLimit(.minutes(5)))
    func speakAndStop() throws {
        let node = try harness()
        try node.perform("speak", ["text": .string("one two three four five six")])
        _ = node.render(24000)
        try node.perform("speak", ["text": .string("  \n second \t ")])
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(node.capture.events("speech.stopped").map { $0.string("text") } == ["one two three four five six"])
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["second"])
        try node.perform("speak", ["text": .string("one two three")])
        _ = node.render(4800)
        try node.perform("speak", ["text": .string(" \n ")])
        #expect(node.render(4800)[0][240...].allSatisfy { $0 == 0 })
        #expect(node.instance.askIdle() && node.capture.events("speech.stopped").count == 2)
        try node.perform("stop")
        #expect(node.capture.events("speech.stopped").count == 2)
    }

    @Test(
        "O3 and Fix: The flag is up from the first sample to the last that is heard, behind the latency of all that follows",
        .timeLimit(.minutes(5)), arguments: [0, 1000, 20_000])
    func speakingFlag(latency: Int) throws {
        let node = try harness()
        node.capture.outputLatency = latency
        try node.perform("speak", ["text": .string("one two three")])
        let output = node.renderUntilIdle(limit: 480_000, block: 64)[0]
        let states = node.capture.events("speech.state")
        #expect(states.map { $0.bool("speaking") } == [true, false])
        let first = try #require(output.firstIndex { $0 != 0 })
        let last = try #require(output.lastIndex { $0 != 0 })
        #expect(states[0].frame <= first + latency && states[0].frame + 4800 > first + latency)
        #expect(states[1].frame > last + latency)
        // What is told was heard by then, and not a block later.
        let names = node.capture.events.map(\.name)
        #expect(names.firstIndex(of: "speech.synthesized")! < names.firstIndex(of: "speech.finished")!)
        #expect(node.position >= states[1].frame && node.position < states[1].frame + 128)
        // The control that ducks other sounds goes with the samples.
        let flags = node.controlOutputs.map { $0[0] }
        #expect(
            flags.enumerated().allSatisfy {
                $1 == (64 * $0 + 64 > states[0].frame - latency && 64 * $0 < states[1].frame - latency ? 1 : 0)
            })
    }

    @Test("A pause holds every sample but a short fade, and is no gap", .timeLimit(.minutes(5)), arguments: [64, 1024])
    func pause(block: Int) throws {
        let text = "one two three four five"
        let whole = try harness(["text": .string(text)]).renderUntilIdle(limit: 480_000, block: block)[0]
        let node = try harness(["text": .string(text)])
        var output = node.render(24 * 1024, block: block)[0]
        try node.perform("pause")
        let held = node.render(48 * 1024, block: block)[0]
        #expect(held[240...].allSatisfy { $0 == 0 } && !node.instance.askIdle())
        let states = node.capture.events("speech.state")
        #expect(states.last?.bool("paused") == true && states.last?.bool("speaking") == true)
        #expect(node.controlOutputs.last == [0])
        try node.perform("resume")
        #expect(node.capture.events("speech.state").last?.bool("paused") == false)
        output += held[..<240] + node.renderUntilIdle(limit: 480_000, block: block)[0]
        #expect(node.capture.events("speech.gap").isEmpty && node.capture.counts["missing"] == nil)
        #expect(node.capture.events("speech.finished").count == 1)
        // All of it is there: the same samples, but where it fades.
        let (start, end) = (24 * 1024, 24 * 1024 + 480)
        #expect(output[..<start].elementsEqual(whole[..<start]))
        let rest = min(whole.count, output.count)
        #expect(rest > 60_000 && output[end..<rest].elementsEqual(whole[end..<rest]))
        let faded = output[start..<end].map { abs($0) }.max() ?? 0
        #expect(faded <= (whole[start..<end].map { abs($0) }.max() ?? 0))
    }

    @Test("What cannot be paused, resumed or skipped is refused") func nothingToDo() throws {
        let node = try harness()
        for action in ["pause", "resume", "skip"] {
            #expect(throws: NodeError.self, "\(action)") { try node.perform(action) }
        }
        try node.perform("stop")
    }

    @Test("A text that interrupts is heard although the one before it was paused", .timeLimit(.minutes(5)))
    func interruptedPause() throws {
        let node = try harness(["text": .string("one two three four five")])
        _ = node.render(24000)
        try node.perform("pause")
        _ = node.render(4800)
        try node.perform("speak", ["text": .string("second")])
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["second"])
    }

    @Test("Skipping ends the item that is heard, and the next follows at once", .timeLimit(.minutes(5)))
    func skip() throws {
        let node = try harness(["queue": .bool(true)])
        let first = try node.perform("speak", ["text": .string("one two three four five six seven")])
        try node.perform("speak", ["text": .string("second")])
        try node.perform("speak", ["text": .string("third")])
        _ = node.render(48000)
        let word = try #require(node.capture.events("speech.word").last?.integer("offset"))
        let result = try node.perform("skip")
        #expect(result["item"] == first["item"] && result["heard"] == .integer(Int64(word)) && word > 0)
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(
            node.capture.events("speech.stopped").map { $0.string("text") } == ["one two three four five six seven"])
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["second", "third"])
        let started = node.capture.events("speech.started").map(\.frame)
        #expect(started.count == 3 && started[1] - 48000 <= 1024, "\(started)")
        #expect(node.capture.events("speech.gap").isEmpty)
        #expect(node.capture.events("speech.state").map { $0.bool("speaking") } == [true, true, true, false])
        // The last one: then all is quiet.
        try node.perform("speak", ["text": .string("fourth one")])
        _ = node.render(9600)
        try node.perform("skip")
        #expect(node.capture.events("speech.state").last?.bool("speaking") == false)
        #expect(node.render(4800)[0][240...].allSatisfy { $0 == 0 } && node.instance.askIdle())
    }

    @Test("How far a text was heard is known when it is stopped", .timeLimit(.minutes(5))) func heard() throws {
        let node = try harness()
        let item = try node.perform("speak", ["text": .string("one two three four five six")])["item"]
        _ = node.render(48000)
        let result = try node.perform("stop")
        let word = try #require(node.capture.events("speech.word").last?.integer("offset"))
        #expect(result["item"] == item && result["heard"] == .integer(Int64(word)) && word > 0)
        #expect(try node.perform("stop").isEmpty)
    }

    @Test("Sentences are told with their first word, short forms do not end one", .timeLimit(.minutes(5)))
    func sentences() throws {
        let text =
            "Mr. Smith came at 3.5 p.m. today! \"Did he?\" Yes… he did. \"Why?\" she asked.\n\nA title\n\nThe end"
        let node = try harness(["text": .string(text)])
        _ = node.renderUntilIdle(limit: 48000 * 60)
        let sentences = node.capture.events("speech.sentence")
        #expect(
            sentences.map { $0.string("text") } == [
                "Mr. Smith came at 3.5 p.m. today!", "\"Did he?\"", "Yes… he did.", "\"Why?\" she asked.", "A title",
                "The end",
            ])
        let scalars = Array(text.unicodeScalars)
        for sentence in sentences {
            let start = try #require(sentence.integer("offset")), length = try #require(sentence.integer("length"))
            #expect(String(String.UnicodeScalarView(scalars[start..<start + length])) == sentence.string("text"))
            let words = node.capture.events("speech.word").filter { $0.integer("offset")! >= start }
            #expect(words.first?.frame == sentence.frame)
        }
    }

    @Test("A second speech sounds the same as the first, and two nodes at once as each alone", .timeLimit(.minutes(5)))
    func sameSamples() throws {
        func speech(_ node: NodeHarness, _ text: String, _ voice: String) throws -> [Float] {
            node.capture.clear()
            let start = node.position
            try node.perform("speak", ["text": .string(text), "voice": .string(voice)])
            let output = node.renderUntilIdle(limit: 48000 * 60)[0]
            let first = try #require(node.capture.events("speech.started").first?.frame)
            let last = try #require(node.capture.events("speech.finished").first?.frame)
            return Array(output[(first - start)..<(last - start)])
        }
        let (english, german) = ("Hello, this is a glowing voice orb.", "Das ist ein leuchtender Ball.")
        let one = try harness()
        let alone = try speech(one, english, "en-us")
        let other = try speech(one, german, "de")
        // A variant that is made of noise, and one that was cut off.
        let noise = try speech(one, english, "en-us+whisper")
        try one.perform("speak", ["text": .string(english), "voice": .string("de+f2")])
        _ = one.render(9600)
        #expect(try speech(one, english, "en-us") == alone)
        #expect(try speech(one, english, "en-us+whisper") == noise)
        #expect(alone.count > 48000 && alone != noise)
        // Both at the same time, block by block.
        let (left, right) = (try harness(), try harness())
        try left.perform("speak", ["text": .string(english), "voice": .string("en-us")])
        try right.perform("speak", ["text": .string(german), "voice": .string("de")])
        var outputs: [[Float]] = [[], []]
        while !left.instance.askIdle() || !right.instance.askIdle() {
            outputs[0] += left.render(1024)[0]
            outputs[1] += right.render(1024)[0]
        }
        for (node, (output, expected)) in zip([left, right], zip(outputs, [alone, other])) {
            let start = try #require(node.capture.events("speech.started").first?.frame)
            #expect(output[start..<start + expected.count].elementsEqual(expected))
        }
    }

    @Test("A book streams: what is made ahead is a few sentences of it", .timeLimit(.minutes(5))) func book() throws {
        let sentence = "It was the best of times, it was the worst of times, it was the age of wisdom. "
        let text = String(repeating: sentence, count: 13_000)
        #expect(text.utf8.count > 1_000_000)
        let node = try harness(["rate": .integer(450)])
        try node.perform("speak", ["text": .string(text)])
        _ = node.render(48000 * 10)
        let before = residentMegabytes()
        _ = node.render(48000 * 120)
        #expect(residentMegabytes() - before < 32)
        #expect(node.capture.events("speech.word").count > 500 && node.capture.events("speech.synthesized").isEmpty)
        // Events carry the beginning of a long text.
        let shown = try #require(node.capture.events("speech.started").first?.string("text"))
        #expect(shown.count == 2001 && shown.hasSuffix("…"))
        let heard = try node.perform("stop")["heard"]
        #expect(heard == .integer(Int64(try #require(node.capture.events("speech.word").last?.integer("offset")))))
        #expect(node.render(4800)[0][240...].allSatisfy { $0 == 0 } && node.instance.askIdle())
    }

    @Test(
        "What is no text, or broken markup, is refused, and what is spoken goes on", .timeLimit(.minutes(5)),
        arguments: [
            ("bin\u{1}ary", "this is no text: character 4 is U+0001"),
            ("\u{7f}ELF\u{2}", "this is no text: character 1 is U+007F"),
            (
                "<speak>one <emphasis>two</speak>",
                "the SSML is broken: </speak> at character 25 stands where <emphasis> must end"
            ),
            ("<speak>one", "the SSML is broken: <speak> at character 1 is not closed"),
            ("<speak>one</p></speak>", "the SSML is broken: </p> at character 11 stands where <speak> must end"),
            ("<speak>one <break time=\"1s\"", "the SSML is broken: the < at character 12 is not closed"),
            (
                "<speak>1 < 2</speak>",
                "the SSML is broken: the < at character 10 begins no element; write &lt; for the character"
            ),
        ])
    func refused(_ text: String, _ message: String) throws {
        let node = try harness()
        try node.perform("speak", ["text": .string("one two")])
        _ = node.render(4800)
        let error = #expect(throws: NodeError.self) { try node.perform("speak", ["text": .string(text)]) }
        #expect(error?.message == message && error?.key == "text")
        node.instance.receive(.text(text), port: 0)
        #expect(node.capture.events("speech.failed").map { $0.string("reason") } == [message])
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["one two"])
    }

    @Test("All voices are told, by engine and language") func voices() throws {
        let node = try harness()
        func voices(_ arguments: [String: SettingValue] = [:]) throws -> [[String: SettingValue]] {
            guard case .list(let list)? = try node.perform("voices", arguments)["voices"] else { return [] }
            return list.compactMap { if case .table(let table) = $0 { table } else { nil } }
        }
        let all = try voices(["engine": .string("espeak-ng")])
        #expect(all.count > 90 && all.allSatisfy { $0["engine"] == .string("espeak-ng") })
        let german = try voices(["engine": .string("espeak-ng"), "language": .string("de")])
        #expect(german.map { $0["name"] } == [.string("German")])
        #expect(try voices(["language": .string("xx")]).isEmpty)
    }
}

/// What this process has in memory.
private func residentMegabytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096 >> 20
}
