// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// The engines that speak, beside espeak-ng.
@Suite(.serialized) struct VoiceEngineTests {
    private static let sentence = "Hello, this is a glowing voice orb. It speaks."

    private func harness(_ engine: String, _ settings: [String: SettingValue] = [:], offline: Bool = true) throws
        -> NodeHarness
    {
        try NodeHarness(
            pluginType("tts"), settings.merging(["engine": .string(engine)]) { $1 }, offline: offline)
    }

    @Test(
        "Every voice of flite speaks, tells words and sentences, and the same twice", .timeLimit(.minutes(5)),
        arguments: ["kal16", "slt", "rms", "awb", "kal"])
    func flite(voice: String) throws {
        let node = try harness("flite", ["voice": .string(voice)])
        let samples = try spoken(Self.sentence, by: node)
        #expect((2.0...4.5).contains(Double(samples.count) / 48000) && Signal.peak(samples) > 0.1)
        let words = node.capture.events("speech.word")
        #expect(
            words.map { $0.string("text") }
                == ["Hello", "this", "is", "a", "glowing", "voice", "orb", "It", "speaks"])
        #expect(words.map(\.frame) == words.map(\.frame).sorted() && Set(words.map(\.frame)).count == 9)
        #expect(node.capture.events("speech.sentence").map { $0.integer("offset") } == [0, 36])
        #expect(try spoken(Self.sentence, by: node) == samples)
    }

    @Test("Rate, pitch and volume change what flite says", .timeLimit(.minutes(5))) func fliteVoice() throws {
        let node = try harness("flite")
        let own = try spoken(Self.sentence, by: node)
        let fast = try spoken(Self.sentence, ["rate": .number(2)], by: node)
        #expect(Double(fast.count) / Double(own.count) < 0.6, "\(fast.count) \(own.count)")
        let high = try spoken(Self.sentence, ["pitch": .integer(80)], by: node)
        #expect(
            high != own && abs(high.count - own.count) < 4800,
            "\(high.count) \(own.count)")
        let quiet = try spoken(Self.sentence, ["volume": .integer(50)], by: node)
        #expect(abs(Signal.decibels(Signal.rms(quiet) / Signal.rms(own)) + 6.02) < 0.2)
        // Of two nodes each has its own.
        let other = try harness("flite", ["rate": .number(2)])
        #expect(try spoken(Self.sentence, by: other) == fast && spoken(Self.sentence, by: node) == own)
        let error = #expect(throws: NodeError.self) { try harness("flite", ["voice": .string("klt")]) }
        #expect(error?.message == "flite has no voice called \"klt\"" && error?.key == "voice")
        #expect(error?.hint == "did you mean \"slt\"?" || error?.hint.contains("slt") == true)
        #expect(throws: NodeError.self) { try harness("flite", ["language": .string("de")]) }
        #expect(throws: NodeError.self) { try node.perform("speak", ["text": .string("<speak>one</speak>")]) }
    }

    @Test(
        "A command speaks, sentence by sentence, whatever WAV file it writes", .timeLimit(.minutes(5)),
        arguments: [
            ("16", "signed", 16000, 1), ("8", "unsigned", 8000, 1), ("24", "signed", 44100, 2),
            ("32", "float", 48000, 2),
            ("64", "float", 22050, 1),
        ])
    func command(bits: String, encoding: String, rate: Int, channels: Int) throws {
        let kind = encoding == "float" ? "floating-point" : "\(encoding)-integer"
        let line =
            "sox -q -n -r \(rate) -c \(channels) -b \(bits) -e \(kind) -t wav - synth 0.5 sine 1000 gain -6 2>/dev/null"
        let node = try harness("command", ["command": .string("cat >/dev/null; " + line)])
        let samples = try spoken("One. Two.", by: node)
        #expect(samples.count == 48000)
        #expect(abs(Signal.peak(samples) - 0.5) < 0.03)
        let sentences = node.capture.events("speech.sentence")
        #expect(
            sentences.map { $0.string("text") } == ["One.", "Two."] && sentences[1].frame - sentences[0].frame == 24000)
    }

    @Test("A command is given the text and what is wanted of the voice", .timeLimit(.minutes(5))) func commandInput()
        throws
    {
        let scratch = try Scratch()
        let path = scratch.file("said")
        let line =
            "(cat; echo \"[$VOICEGRAPH_VOICE $VOICEGRAPH_RATE $VOICEGRAPH_PITCH]\") >> \(path); "
            + "sox -q -n -r 8000 -t wav - synth 0.1 sine 500"
        let node = try harness("command", ["command": .string(line)])
        _ = try spoken("Ä one. Two!", ["voice": .string("eve"), "rate": .integer(200)], by: node)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "Ä one. [eve 200 50]\nTwo![eve 200 50]\n")
    }

    @Test(
        "A command that fails is told, and its children are gone", .timeLimit(.minutes(5)),
        arguments: [
            ("echo no voice >&2; echo more >&2; exit 3", "the command ended with 3: no voice"),
            ("kill -9 $$", "the command was ended by signal 9"), ("cat", "this is no WAV file"),
            ("true", "the command wrote no WAV file"), ("sleep 100", "the command did not end within 0.5 s"),
            ("exec >&- 2>&-; sleep 100", "the command was ended by signal 9"),
        ])
    func failing(_ line: String, _ reason: String) throws {
        let node = try harness("command", ["command": .string(line), "time_limit": .number(0.5)])
        try node.perform("speak", ["text": .string("one two three four")])
        _ = node.renderUntilIdle(limit: 480_000)
        let failed = try #require(node.capture.events("speech.failed").first)
        #expect(failed.string("reason")?.hasPrefix(reason) == true, "\(failed)")
        #expect(node.capture.events("speech.state").map { $0.bool("speaking") } == [true, false])
        guard case .degraded? = node.capture.health.last else {
            Issue.record("\(node.capture.health)")
            return
        }
    }

    @Test("A command that is stopped is gone", .timeLimit(.minutes(5))) func stoppedCommand() throws {
        let scratch = try Scratch()
        let path = scratch.file("pid")
        let node = try harness(
            "command", ["command": .string("echo $$ > \(path).new; mv \(path).new \(path); exec sleep 1000")],
            offline: false)
        try node.perform("speak", ["text": .string("one")])
        while !FileManager.default.fileExists(atPath: path) { _ = node.run(256) }
        let process = try #require(
            Int32(String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)))
        try node.perform("stop")
        while kill(process, 0) == 0 { _ = node.run(256) }
        #expect(node.capture.events("speech.stopped").count == 1)
    }

    @Test("An engine without its command, or a program that is not there, is an error at its setting") func badCommand()
        throws
    {
        let missing = #expect(throws: NodeError.self) { try harness("command") }
        #expect(missing?.key == "command")
        let absent = #expect(throws: NodeError.self) {
            try harness("command", ["command": .list([.string("no-such-program")])])
        }
        #expect(absent?.key == "command" && absent?.message == "there is no program no-such-program")
    }

    @Test(
        "Piper speaks clause by clause, the same in every run offline, and tells sentences", .timeLimit(.minutes(5)),
        .enabled(
            if: TestModels.have("piper-joe", "onnxruntime"), "needs voicegraph models install piper-joe onnxruntime"))
    func piper() throws {
        let node = try harness("piper")
        let text = "When the sun goes down, the orb begins to glow. It speaks."
        let samples = try spoken(text, by: node)
        #expect((2.0...6.0).contains(Double(samples.count) / 48000) && Signal.peak(samples) > 0.1)
        #expect(node.capture.events("speech.sentence").map { $0.integer("offset") } == [0, 48])
        #expect(node.capture.events("speech.word").isEmpty)
        #expect(try spoken(text, by: node) == samples)
        #expect(try Double(spoken(text, ["rate": .number(2)], by: node).count) < 0.7 * Double(samples.count))
        let pitch = #expect(throws: NodeError.self) {
            try node.perform("speak", ["text": .string("x"), "pitch": .integer(60)])
        }
        #expect(pitch?.key == "pitch")
        let voice = #expect(throws: NodeError.self) { try harness("piper", ["voice": .string("jo")]) }
        #expect(voice?.key == "voice" && voice?.hint == "did you mean \"joe\"?")
        #expect(throws: Never.self) { _ = try harness("piper", ["language": .string("en-US")]) }
        // What was heard is known to the clause.
        try node.perform("speak", ["text": .string(text)])
        while node.capture.events("speech.started").count < 1 || node.position % 48000 != 0 { _ = node.render(256) }
        let heard = try node.perform("stop")["heard"]
        #expect(heard == .integer(0) || heard == .integer(24))
    }

    @Test(
        "The engine auto speaks with a trained voice where one speaks what is wanted as it is wanted, else with espeak-ng"
    )
    func best() async throws {
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            setenv(VG_TEST_USER_DATA, folder, 1)
            let models = folder + "/voicegraph/models"
            /// Which engine it is: piper's voices are empty here, and what shall compute them is.
            func chosen(_ settings: [String: SettingValue] = [:], _ text: String = "x") throws -> String {
                let node = try NodeHarness(pluginType("tts"), settings, offline: true)
                try node.perform("speak", ["text": .string(text)])
                _ = node.renderUntilIdle(limit: 480_000)
                return node.capture.events("speech.failed").isEmpty ? "espeak-ng" : "piper"
            }
            #expect(try chosen() == "espeak-ng")
            func install(_ name: String, _ language: String) throws {
                let place = models + "/piper-" + name
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                let description =
                    #"{"audio":{"sample_rate":22050},"espeak":{"voice":"\#(language)"},"#
                    + #""phoneme_id_map":{"^":[1],"_":[0],"$":[2]}}"#
                try description.write(toFile: place + "/x.onnx.json", atomically: true, encoding: .utf8)
            }
            try install("anna", "de")
            #expect(try chosen(["language": .string("de")]) == "espeak-ng", "nothing computes it")
            try FileManager.default.createDirectory(atPath: models + "/onnxruntime", withIntermediateDirectories: true)
            #expect(try chosen(["language": .string("de-DE")]) == "espeak-ng", "it is not said to be of that region")
            #expect(try chosen(["language": .string("de")]) == "piper")
            #expect(try chosen() == "espeak-ng", "English is spoken where nothing is said")
            try install("joe", "en-us")
            #expect(try chosen() == "piper" && chosen(["voice": .string("anna")]) == "piper")
            #expect(try chosen(["voice": .string("en-GB")]) == "espeak-ng")
            #expect(try chosen(["pitch": .integer(60)]) == "espeak-ng")
            #expect(try chosen(["ssml": .string("true")]) == "espeak-ng")
            #expect(try chosen([:], "<speak>x</speak>") == "espeak-ng", "whenever it comes")
        }
    }

    @Test("A model that is not installed is told with the command that installs it") func missingModel() async throws {
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            setenv(VG_TEST_USER_DATA, folder, 1)
            let error = try #require(throws: NodeError.self) {
                try NodeHarness(pluginType("tts"), ["engine": .string("piper")], offline: true)
            }
            #expect(error.message == "the model piper-joe is not installed in \(folder)/voicegraph/models")
            #expect(error.hint == "voicegraph models install piper-joe")
        }
    }

    @Test(
        "A model that was cut short is told when it is to speak", .timeLimit(.minutes(5)),
        .enabled(
            if: TestModels.have("piper-joe", "onnxruntime"), "needs voicegraph models install piper-joe onnxruntime"))
    func brokenModel() async throws {
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) {
            [folder = scratch.path as String, models = TestModels.folder as String] in
            let own = folder + "/voicegraph/models"
            try FileManager.default.createDirectory(atPath: own + "/piper-cut", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: own + "/onnxruntime", withDestinationPath: models + "/onnxruntime")
            for name in try FileManager.default.contentsOfDirectory(atPath: models + "/piper-joe")
            where name.contains(".onnx") {
                let data = try #require(FileManager.default.contents(atPath: models + "/piper-joe/" + name))
                let part = name.hasSuffix(".json") ? data : data.prefix(1_000_000)
                try part.write(to: URL(fileURLWithPath: own + "/piper-cut/" + name))
            }
            setenv(VG_TEST_USER_DATA, folder, 1)
            let node = try NodeHarness(pluginType("tts"), ["engine": .string("piper")], offline: true)
            try node.perform("speak", ["text": .string("one")])
            _ = node.renderUntilIdle(limit: 480_000)
            let failed = try #require(node.capture.events("speech.failed").first)
            #expect(failed.string("reason")?.hasPrefix("cannot read the model ") == true, "\(failed)")
        }
    }
}
