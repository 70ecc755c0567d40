// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// What is recognized, of voices that people and programs made.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TranscribeTests {
    static let phrase = "go forward ten meters"

    @Test("V2: Partial texts each replace the whole, then a final text follows, for every item")
    func partials() throws {
        let node = try transcribe(["engine": .string("pocketsphinx")])
        try node.hear(silence(0.5) + spoken(Self.phrase) + silence(1) + spoken("seven of clubs") + silence(1))
        let finals = node.capture.events("transcribe.final")
        #expect(finals.map { $0.string("text") } == [Self.phrase, "seven of clubs"])
        #expect(finals.map { $0.integer("item") } == [1, 2])
        let partials = node.capture.events("transcribe.partial").filter { $0.integer("item") == 1 }
        let texts = partials.compactMap { $0.string("text") }
        #expect(texts.count >= 2 && Set(texts).count == texts.count, "\(texts)")
        // Messages say the same, in the same order.
        let messages = node.capture.messages.map(\.message).filter { $0.item == 1 }
        #expect(messages.map(\.isPartial) == texts.map { _ in true } + [false])
        #expect(messages.map(\.content) == (texts + [Self.phrase]).map { .text($0) })
        let states = node.capture.events("transcribe.state").compactMap { $0.string("state") }
        #expect(states == ["listening", "hearing", "finishing", "listening", "hearing", "finishing", "listening"])
    }

    @Test("An item has the times of its words and how sure they are", arguments: [8000.0, 48000, 192_000])
    func times(rate: Double) throws {
        let node = try transcribe(["engine": .string("pocketsphinx")], rate: rate)
        let speech = try spoken(Self.phrase)
        try node.hear(silence(0.5) + speech + silence(1))
        let final = try #require(node.capture.events("transcribe.final").first)
        // At 8 kHz half of what the engine knows is not there.
        if rate > 8000 { #expect(final.string("text") == Self.phrase) }
        let (start, end) = (try #require(final.number("start")), try #require(final.number("end")))
        // The voice begins and ends with a quarter of a second of silence.
        #expect((0.5...1).contains(start), "\(start)")
        #expect(abs(end - 0.5 - Double(speech.count) / 16000) < 0.5, "\(end)")
        #expect(abs(Double(final.integer("start_frame") ?? 0) - start * rate) < 2)
        #expect((0...1).contains(try #require(final.number("confidence"))))
        guard case .list(let words)? = final.fields["words"] else {
            Issue.record("no words in \(final)")
            return
        }
        let tables: [Settings] = words.compactMap { if case .table(let table) = $0 { Settings(table) } else { nil } }
        #expect(tables.compactMap { $0.string("text") }.joined(separator: " ") == final.string("text"))
        let times: [Double] = tables.flatMap { word -> [Double] in
            [word.number("start") ?? 0, word.number("end") ?? 0]
        }
        #expect(times == times.sorted() && times[0] > start - 0.4 && times.last! < end + 0.4, "\(times)")
    }

    /// Which words are heard right depends on where each detector begins, so a few may be others.
    @Test(
        "People who speak are understood",
        arguments: TestModels.have("onnxruntime", "silero-vad") ? ["webrtc", "silero"] : ["webrtc"])
    func people(detector: String) throws {
        let settings: [String: SettingValue] = ["partials": .bool(false), "detector": .string(detector)]
        let node = try transcribe(settings.merging(["engine": .string("pocketsphinx")]) { $1 })
        let folder = "/usr/share/pocketsphinx/test/data"
        for name in ["cards/003", "cards/005"] {
            try node.hear(SoundFile("\(folder)/\(name).wav").samples[0] + silence(1.5))
        }
        let texts = node.capture.events("transcribe.final").compactMap { $0.string("text") }
        let heard = texts.joined(separator: " ").split(separator: " ")
        let said = "seven of clubs eight of spades four of clubs seven of hearts".split(separator: " ")
        let missed = heard.difference(from: said).removals.count
        print("figure: \(missed) of \(said.count) words missed with \(detector)")
        #expect(texts.count == 2 && missed <= 3, "\(texts)")
        #expect(node.capture.events("transcribe.partial").isEmpty)
    }

    @Test("Offline every run and every block gives the same") func sameEachRun() throws {
        let speech = try silence(0.3) + spoken(Self.phrase) + silence(1) + spoken("five five") + silence(1)
        let runs = try [256, 256, 1024].map { block in
            let node = try transcribe(["engine": .string("pocketsphinx")])
            try node.hear(speech, block: block)
            return node.capture.events.map {
                "\($0.name) \($0.position) \($0.string("text") ?? $0.string("state") ?? "")"
            }
        }
        #expect(runs[0] == runs[1] && !runs[0].isEmpty)
        #expect(runs[0].filter { $0.contains("final") } == runs[2].filter { $0.contains("final") })
    }

    @Test("A phrase list and a grammar are all that is understood") func phrases() async throws {
        let scratch = try Scratch()
        let speech = try silence(0.3) + spoken("please go forward now") + silence(1)
        let keys = try transcribe([
            "keyphrases": .list([.string("go forward"), .string("hello computer")]), "threshold": .number(1e-10),
        ])
        try keys.hear(speech)
        #expect(keys.capture.events("transcribe.final").map { $0.string("text") } == ["go forward"])
        let path = try scratch.write(
            "cards.jsgf", "#JSGF V1.0;\ngrammar cards;\npublic <card> = (two | three | seven) of (clubs | hearts);\n")
        let cards = try transcribe(["grammar": .string(path)])
        try cards.hear(silence(0.3) + spoken("seven of clubs") + silence(1))
        #expect(cards.capture.events("transcribe.final").map { $0.string("text") } == ["seven of clubs"])
        let broken = try transcribe(["grammar": .string(try scratch.write("broken.jsgf", "no grammar at all"))])
        try broken.hear(speech)
        let state = try #require(broken.capture.events("transcribe.state").last)
        #expect(state.string("state") == "failed" && state.string("reason")?.contains("broken.jsgf") == true)
        guard case .failed? = broken.capture.health.last else {
            Issue.record("\(broken.capture.health)")
            return
        }
    }

    @Test("What nobody can recognize is refused at once, with what to do")
    func refused() throws {
        func error(_ settings: [String: SettingValue]) -> NodeError? {
            #expect(throws: NodeError.self) { try transcribe(settings) }
        }
        #expect(error(["engine": .string("pocketsphinx"), "language": .string("xx")])?.key == "language")
        #expect(error(["keyphrases": .string("xyzzy plugh")])?.message.contains("\"xyzzy\"") == true)
        #expect(error(["engine": .string("command")])?.key == "command")
        #expect(error(["command": .list([.string("no-such-program"), .string("-")])])?.key == "command")
        #expect(error(["partials": .string("often")])?.key == "partials")
    }

    @Test("Silence, noise, clipping and what is no number give no false text and no failure")
    func badInput() throws {
        let node = try transcribe(["engine": .string("pocketsphinx")])
        try node.hear(silence(2) + noise(32000) + [Float](repeating: .nan, count: 1600) + silence(1))
        #expect(node.capture.events("transcribe.failed").isEmpty)
        #expect(node.capture.health.allSatisfy { $0 == .ok })
        let speech = try spoken(Self.phrase)
        let peak = speech.map { abs($0) }.max() ?? 1
        let clipped = speech.map { max(-1, min(1, $0 * 2 / peak)) }
        #expect(clipped.count { abs($0) == 1 } > 100)
        let loud = try transcribe(["engine": .string("pocketsphinx")])
        try loud.hear(silence(0.5) + clipped + silence(1))
        let texts = loud.capture.events("transcribe.final").compactMap { $0.string("text") }
        #expect(texts.count == 1 && texts[0].hasPrefix("go for") && texts[0].hasSuffix("ten meters"), "\(texts)")
    }

    @Test("What is said without a pause is cut where it is quiet, and no word is lost")
    func longSpeech() throws {
        let node = try transcribe([
            "engine": .string("pocketsphinx"), "partials": .bool(false), "max_segment": .number(4),
            "silence": .number(10),
        ])
        let parts = ["go forward ten meters", "seven of clubs", "five five", "eight of spades"]
        var speech: [Float] = []
        for part in parts { speech += try spoken(part) + silence(0.25) }
        try node.hear(speech)
        node.instance.finish()
        let finals = node.capture.events("transcribe.final")
        #expect(finals.count > 1)
        #expect(finals.compactMap { $0.string("text") }.joined(separator: " ") == parts.joined(separator: " "))
        for (one, next) in zip(finals, finals.dropFirst()) {
            #expect(one.integer("end_frame") == next.integer("start_frame"))
        }
    }

    @Test("With a gate an item is what is said while it is open, and just before") func gated() throws {
        let node = try transcribe(["engine": .string("pocketsphinx"), "gated": .bool(true)])
        let speech = try spoken(Self.phrase)
        try node.hear(spoken("five five") + silence(1))
        // It opens when the first word has begun.
        try node.hear(silence(0.5) + speech[..<4000])
        node.controlInputs[0] = 1
        try node.hear(Array(speech[4000...]) + silence(0.3))
        node.controlInputs[0] = 0
        try node.hear(silence(0.5))
        let finals = node.capture.events("transcribe.final")
        #expect(finals.map { $0.string("text") } == [Self.phrase])
        let opened = try (spoken("five five").count + 16000 + 8000 + 4000) * 3
        #expect(abs((finals.first?.integer("start_frame") ?? 0) - opened) <= 2048)
    }

    @Test("Where it is to be strict, what the engine is not sure of is no text, and what was told of it is taken back")
    func strict() throws {
        func heard(_ sureness: Double?, strict: Bool, then: Bool) throws -> (unsure: [String], NodeHarness) {
            var settings: [String: SettingValue] = ["engine": .string("pocketsphinx")]
            settings["min_confidence"] = sureness.map { .number($0) }
            let node = try transcribe(settings)
            node.controlInputs[1] = strict ? 1 : 0
            let speech = try spoken(Self.phrase)
            try node.hear(silence(0.5) + speech[..<12000])
            // What counts is how it was when the item began.
            node.controlInputs[1] = then ? 1 : 0
            try node.hear(Array(speech[12000...]) + silence(1))
            return (node.capture.events("transcribe.unsure").compactMap { $0.string("text") }, node)
        }
        let (unsure, node) = try heard(1, strict: true, then: false)
        #expect(unsure == [Self.phrase] && node.capture.events("transcribe.final").isEmpty)
        let messages = node.capture.messages.map(\.message)
        #expect(messages.count > 1 && messages.last?.content == .text("") && messages.last?.isPartial == false)
        #expect(node.capture.events("transcribe.state").last?.string("state") == "listening")
        #expect((0..<1).contains(try #require(node.capture.events("transcribe.unsure").first?.number("confidence"))))
        for (sureness, strict, then) in [(1, false, true), (0.1, true, true), (nil, true, true)]
            as [(Double?, Bool, Bool)]
        {
            let (unsure, node) = try heard(sureness, strict: strict, then: then)
            #expect(
                unsure.isEmpty && node.capture.events("transcribe.final").map { $0.string("text") } == [Self.phrase])
        }
    }

    @Test(
        "A gate that closes while no audio comes is known to be closed when it comes back", arguments: [48000.0, 44100])
    func gateAfterPause(rate: Double) throws {
        let node = try transcribe(["engine": .string("pocketsphinx"), "gated": .bool(true)])
        node.controlInputs[0] = 1
        try node.hear(spoken(Self.phrase))
        // The server was lost, and whoever opened the gate begins anew.
        node.controlInputs[0] = 0
        try node.prepare(Preparation(rate: rate, maxBlock: 1024, offline: true))
        try node.hear(silence(0.5))
        #expect(node.capture.events("transcribe.final").map { $0.string("text") } == [Self.phrase])
        #expect(node.capture.events("transcribe.state").last?.string("state") == "listening")
        // One that stays open has been open all the time.
        node.controlInputs[0] = 1
        try node.hear(spoken(Self.phrase) + silence(0.2))
        try node.prepare(Preparation(rate: rate, maxBlock: 1024, offline: true))
        try node.hear(silence(0.2))
        #expect(node.capture.events("transcribe.state").last?.string("state") == "hearing")
    }

    @Test(
        "Moonshine understands what people read",
        .enabled(if: TestModels.have("moonshine-base-en", "onnxruntime"), "its model is not installed"))
    func moonshine() throws {
        let node = try transcribe(["engine": .string("moonshine")])
        let folder = "/usr/share/pocketsphinx/test/data/librivox/"
        try node.hear(SoundFile(folder + "sense_and_sensibility_01_austen_64kb-0880.wav").samples[0] + silence(1))
        let final = try #require(node.capture.events("transcribe.final").first)
        let text = try #require(final.string("text"))
        #expect(text.lowercased().filter { $0.isLetter || $0 == " " } == "he was not an illdisposed young man")
        #expect((0.9...1).contains(try #require(final.number("confidence"))))
        #expect(node.capture.events("transcribe.partial").count > 2)
    }

    @Test(
        "What Moonshine has written of a part does not change the words of the whole",
        .enabled(if: TestModels.have("moonshine-base-en", "onnxruntime"), "its model is not installed"),
        arguments: ["0870", "0880", "0890", "0920", "0930"])
    func drafts(recording: String) throws {
        let folder = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-"
        let sound = try SoundFile(folder + recording + ".wav").samples[0] + silence(1)
        func words(_ partials: SettingValue) throws -> [String] {
            let node = try transcribe(["engine": .string("moonshine"), "partials": partials], rate: 16000)
            try node.hear(sound)
            // Its numbers are rounded for all tokens of a step together, which can turn a comma into a full stop.
            return node.capture.events("transcribe.final").map {
                ($0.string("text") ?? "").lowercased().filter { $0.isLetter || $0 == " " }
            }
        }
        let whole = try words(.number(60))
        #expect(try words(.number(0.1)) == whole && whole.count == 1)
        // What is said after the newest partial text is in the final one.
        #expect(try words(.number(2.5)) == whole)
    }

    @Test(
        "A model of Moonshine that was cut short is told, and so is another model in its place",
        .enabled(if: TestModels.have("moonshine-base-en", "onnxruntime"), "its model is not installed"),
        arguments: ["tokenizer.bin", "encoder_model.ort", "decoder_model_merged.ort"])
    func cutModel(file: String) async throws {
        await #expect(processExitsWith: .success) { [file] in
            let scratch = try Scratch()
            let models = scratch.file("voicegraph/models")
            let folder = models + "/moonshine-base-en"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let from = TestModels.folder
            try FileManager.default.createSymbolicLink(
                atPath: models + "/onnxruntime", withDestinationPath: from + "/onnxruntime")
            for name in ["tokenizer.bin", "encoder_model.ort", "decoder_model_merged.ort"] {
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(from)/moonshine-base-en/\(name)"))
                let part = name == file ? data.prefix(data.count / 2) : data
                try part.write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            }
            setenv(VG_TEST_USER_DATA, scratch.path, 1)
            let node = try transcribe(["engine": .string("moonshine")])
            try node.hear(silence(0.5))
            let state = node.capture.events("transcribe.state").last
            #expect(state?.string("state") == "failed" && state?.string("reason")?.isEmpty == false)
        }
    }
}

/// A node in a harness that calls it as a render does.
func transcribe(_ settings: [String: SettingValue] = [:], rate: Double = 48000, offline: Bool = true) throws
    -> NodeHarness
{
    try NodeHarness(pluginType("transcribe"), settings, rate: rate, maxBlock: 1024, offline: offline)
}

extension NodeHarness {
    /// Lets the node hear samples at 16 kHz, at the rate that it was prepared for, and work on all of them.
    func hear(_ samples: [Float], block: Int = 1024) throws {
        let ratio = preparation.rate / 16000
        let last = samples.count - 1
        // Between two samples a straight line, where there are more than 16 kHz: speech has little near 8 kHz.
        let input = (0..<Int(Double(samples.count) * ratio)).map { frame -> Float in
            let place = Double(frame) / ratio
            let index = min(Int(place), last)
            let part = Float(place - Double(index))
            return samples[index] + part * (samples[min(index + 1, last)] - samples[index])
        }
        for first in stride(from: 0, to: input.count, by: block) {
            let part = Array(input[first..<min(first + block, input.count)])
            if preparation.offline { instance.wait(frames: part.count) }
            _ = run([part.count], inputs: [part])
        }
        instance.wait(frames: 1)
    }
}
