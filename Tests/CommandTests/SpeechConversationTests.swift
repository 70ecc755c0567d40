// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The examples that converse, on a JACK server, with a speaker that is another program.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SpeechConversationTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// Whether the model that tells speech is installed.
    private static let hasDetector = ["silero-vad", "onnxruntime"].allSatisfy {
        FileManager.default.fileExists(atPath: "\(userData)/voicegraph/models/\($0)")
    }

    /// Answers everything with something long.
    private static func talkative(_ times: Int = 1) -> String {
        let text = """
            The weather will be fine today, and tomorrow, and the day after that, in all parts of the country but one. \
            There it will rain from the morning until late at night, and the wind will be strong.
            """
        return "*\n    " + Array(repeating: text, count: times).joined(separator: " ") + "\n"
    }

    /// Nobody else's run has its name here.
    private var environment: [String: String] { ["XDG_RUNTIME_DIR": scratch.path] }

    /// An example that plays, with the engine that is always there.
    private func converse(_ example: String, answers: Int = 1, on server: Jackd) async throws -> Program {
        let rules = try scratch.write("long.rules", Self.talkative(answers))
        let run = try voicegraph(
            "run", "\(packageRoot)/config/\(example).conf", "--server", server.name, "--json", "--set",
            "node.text.engine=\"pocketsphinx\"", "--set", "node.agent.rules=\"\(rules)\"", environment: environment)
        try await eventually("it has its ports", seconds: 60) {
            try await server.tool("jack_lsp").contains("\(example):mic_1")
        }
        return run
    }

    private func named(_ name: String, _ run: Program) throws -> [[String: Any]] {
        try run.events().filter { $0["event"] as? String == name }
    }

    private func until(_ what: String, _ run: Program, _ condition: @escaping @Sendable ([[String: Any]]) -> Bool)
        async throws
    {
        do { try await eventually(what, seconds: 60) { condition(try run.events()) } } catch {
            let told = run.lines.filter { line in
                ["agent.", "transcribe.", "speech.st", "speech.f", "vad."].contains {
                    line.contains("\"event\":\"\($0)")
                }
            }
            Issue.record("\(what): \(told.suffix(40).joined(separator: "\n"))")
            throw error
        }
    }

    private func end(_ run: Program) async throws {
        run.signal(SIGTERM)
        #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
    }

    @Test("Whoever speaks is answered aloud; who speaks meanwhile silences the voice, and only what was heard was said")
    func bargeIn() async throws {
        let server = try await Jackd.start(block: 256)
        // So long that a busy machine has the time to hear who speaks meanwhile.
        let run = try await converse("assistant", answers: 5, on: server)
        try await say("what will the weather be", to: "assistant:mic_1", on: server)
        // In its first seconds the echo canceller would rather lose who speaks than let an echo pass. On a machine that is
        // busy what was said may come in two turns, the second of which stops the reply to the first.
        @Sendable func heardReply(_ events: [[String: Any]]) -> Int? {
            let words = events.filter { $0["event"] as? String == "speech.word" }.compactMap { $0["item"] as? Int }
            return words.last { item in words.count { $0 == item } >= 14 }
        }
        try await until("some words of a reply are heard", run) { heardReply($0) != nil }
        let first = try #require(heardReply(try run.events()))
        try await say("please stop and go forward ten meters", to: "assistant:mic_1", on: server)
        try await until("another reply", run) { events in
            events.last { $0["event"] as? String == "speech.started" }.map { $0["item"] as? Int != first } ?? false
        }
        #expect(try named("speech.state", run).contains { $0["paused"] as? Bool == true })
        let stopped = try #require(try named("speech.stopped", run).first { $0["item"] as? Int == first })
        let reply = try #require(try named("agent.final", run).first { $0["item"] as? Int == first })
        let said = try #require(reply["text"] as? String)
        // The sentence that was stopped may not be the first.
        let sentence = try #require(stopped["text"] as? String)
        let heard = try #require(stopped["heard"] as? Int)
        let made = try named("agent.partial", run).last { $0["item"] as? Int == first }?["text"] as? String
        let whole = try #require(made)
        #expect(reply["interrupted"] as? Bool == true)
        #expect(whole.hasPrefix(said) && said.count > 20 && said.count < whole.count, "\(said)")
        #expect(said.hasSuffix(sentence.prefix(heard).trimmingCharacters(in: .whitespaces)), "\(said): \(heard)")
        #expect(heard < sentence.count)
        try await end(run)
        server.stop()
    }

    /// An interrupted reply is void for whoever speaks it. The first reply of the agent that takes its place is another one.
    @Test("An agent whose settings change is heard again, though its last reply was interrupted")
    func changed() async throws {
        let rules = try scratch.write("long.rules", Self.talkative())
        let talk = """
            [graph]
            links = ["agent.text -> voice.text", "voice.speaking -> agent.speaking", "voice -> out"]
            [node.agent]
            type = "agent"
            rules = "\(rules)"
            [node.voice]
            type = "tts"
            queue = true
            [node.out]
            type = "output"
            """
        let file = try scratch.write("talk.conf", talk)
        let run = try Program(
            [Program.voicegraph, "run", file, "--driver", "dummy", "--json", "--watch"], environment: environment)
        try await run.wait("it runs") { try named("running", $0).count == 1 }
        func act(_ arguments: String...) async throws {
            let ctl = try Program([Program.voicegraph, "ctl", "do", "agent"] + arguments, environment: environment)
            #expect(try await ctl.end() == 0, "\(ctl.errors)")
        }
        try await act("send", "text=hello")
        try await until("the first reply is heard", run) { $0.contains { $0["event"] as? String == "speech.word" } }
        try await act("interrupt")
        try await until("it is stopped", run) { $0.contains { $0["event"] as? String == "speech.stopped" } }
        try scratch.write("talk.conf", talk.replacing("[node.voice]", with: "history_turns = 5\n[node.voice]"))
        try await run.wait("it is reloaded") {
            try named("graph.changed", $0).contains { $0["added"] as? [String] == ["agent"] }
        }
        try await act("send", "text=hello")
        try await until("the second reply is heard", run) {
            $0.count { $0["event"] as? String == "speech.started" } == 2
        }
        try await end(run)
    }

    /// What the voice gives comes back into the microphone as loud as it is, 20 ms later. Anything that it took for somebody
    /// would hold or stop it, so that other samples came out. WebRTC's detector takes what is left of the first words for
    /// somebody.
    @Test(
        "An assistant that hears itself does not answer itself, and says all that it has to say",
        .enabled(if: hasDetector, "needs the models onnxruntime and silero-vad"), arguments: [0, -6])
    func ownVoice(decibels: Int) async throws {
        let rules = try scratch.write("long.rules", Self.talkative())
        let question = scratch.file("question.wav")
        let flite = try await runTool(["flite", "-voice", "kal16", "-t", "what will the weather be", "-o", question])
        #expect(flite.status == 0, "\(flite.output)")
        let example = try String(contentsOfFile: "\(packageRoot)/config/assistant.conf", encoding: .utf8)
        let room = """

            [node.room]
            type = "delay"
            ms = 20

            [node.wall]
            type = "gain"
            gain_db = \(decibels)

            """
        let echoing =
            example.replacingOccurrences(
                of: "links = [", with: "links = [\n  \"voice -> room -> wall -> echo\",") + room
        var heard: [[Float]] = []
        for (name, text) in [("dry", example), ("echoing", echoing)] {
            let graph = try scratch.write("\(name).conf", text)
            let out = scratch.file("\(name).wav")
            let render = try voicegraph(
                "render", graph, "-o", out, "--input", "mic=\(question)", "--set",
                "node.text.engine=\"pocketsphinx\"", "--set", "node.agent.rules=\"\(rules)\"",
                environment: environment.merging(["XDG_DATA_HOME": userData]) { $1 })
            #expect(try await render.end(seconds: 120) == 0, "\(render.errors)")
            heard.append(try SoundFile(out).samples[0])
        }
        #expect(Double(heard[0].count { abs($0) > 0.01 }) > 48000)
        #expect(heard[0] == heard[1])
    }

    @Test("Push to talk: what is said while the switch is pressed is one item, and nothing else is heard")
    func pushToTalk() async throws {
        let server = try await Jackd.start(block: 256)
        let run = try await converse("push-to-talk", on: server)
        try await say("go forward ten meters", to: "push-to-talk:mic_1", on: server)
        func press(_ action: String) async throws {
            let call = try voicegraph("ctl", "do", "talk", action, environment: environment)
            #expect(try await call.end() == 0, "\(call.errors)")
        }
        try await press("press")
        try await say("seven of clubs", to: "push-to-talk:mic_1", on: server)
        try await press("release")
        try await until("it is answered", run) { $0.contains { $0["event"] as? String == "speech.started" } }
        #expect(try named("transcribe.final", run).map { $0["text"] as? String } == ["seven of clubs"])
        #expect(try named("agent.user", run).count == 1)
        try await end(run)
        server.stop()
    }

    @Test("Wake word, half duplex: it listens after its name only, and not to itself, though the microphone hears it")
    func wakeWord() async throws {
        let server = try await Jackd.start(block: 256)
        let run = try await converse("wake-word", on: server)
        _ = try await server.tool("jack_connect", "wake-word:speakers_1", "wake-word:mic_1")
        try await say("seven of clubs", to: "wake-word:mic_1", on: server)
        try await say("hello computer", to: "wake-word:mic_1", on: server)
        try await until("it has heard its name", run) { events in
            events.contains { $0["event"] as? String == "wake.state" && $0["open"] as? Bool == true }
        }
        #expect(try named("transcribe.final", run).isEmpty)
        try await say("go forward ten meters", to: "wake-word:mic_1", on: server)
        try await until("all was heard", run) { events in
            events.contains { $0["event"] as? String == "agent.final" }
        }
        let texts = try named("transcribe.final", run).map { $0["text"] as? String }
        #expect(texts == ["go forward ten meters"])
        #expect(try named("agent.final", run).map { $0["interrupted"] as? Bool } == [false])
        try await end(run)
        server.stop()
    }
}
