// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The examples that converse, on a JACK server, with a speaker that is another program.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConversationTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// Answers everything with something long.
    private static let talkative = """
        *
            The weather will be fine today, and tomorrow, and the day after that, in all parts of the country but one. \
        There it will rain from the morning until late at night, and the wind will be strong.

        """

    /// An example that plays, with the engine that is always there.
    private func converse(_ example: String, on server: Jackd) async throws -> Program {
        let rules = try scratch.write("long.rules", Self.talkative)
        let run = try voicegraph(
            "run", "\(packageRoot)/config/\(example).conf", "--server", server.name, "--json", "--set",
            "node.text.engine=\"pocketsphinx\"", "--set", "node.agent.rules=\"\(rules)\"")
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
        do { try await eventually(what, seconds: 30) { condition(try run.events()) } } catch {
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
        let run = try await converse("assistant", on: server)
        try await say("what will the weather be", to: "assistant:mic_1", on: server)
        // In its first seconds the echo canceller would rather lose who speaks than let an echo pass.
        try await until("some words are heard", run) { events in
            events.count { $0["event"] as? String == "speech.word" } >= 14
        }
        let first = try #require(try named("speech.started", run).first?["item"] as? Int)
        try await say("please stop and go forward ten meters", to: "assistant:mic_1", on: server)
        try await until("another reply", run) { events in
            events.contains { $0["event"] as? String == "speech.started" && $0["item"] as? Int != first }
        }
        #expect(try named("speech.state", run).contains { $0["paused"] as? Bool == true })
        let stopped = try #require(try named("speech.stopped", run).first)
        #expect(stopped["item"] as? Int == first)
        let reply = try #require(try named("agent.final", run).first { $0["item"] as? Int == first })
        let said = try #require(reply["text"] as? String)
        let text = try #require(stopped["text"] as? String)
        let heard = try #require(stopped["heard"] as? Int)
        #expect(reply["interrupted"] as? Bool == true)
        #expect(said == text.prefix(heard).trimmingCharacters(in: .whitespaces) && heard > 20 && heard < text.count)
        try await end(run)
        server.stop()
    }

    /// What the voice gives comes back into the microphone as loud as it is, two blocks later.
    @Test("An assistant that hears itself does not answer itself, and says all that it has to say")
    func ownVoice() async throws {
        let server = try await Jackd.start(block: 256)
        let run = try await converse("assistant", on: server)
        _ = try await server.tool("jack_connect", "assistant:speakers_1", "assistant:mic_1")
        try await say("what will the weather be", to: "assistant:mic_1", on: server)
        try await until("all was heard", run) { events in
            events.contains { $0["event"] as? String == "agent.final" }
                && events.contains { $0["event"] as? String == "speech.finished" }
        }
        #expect(try named("speech.stopped", run).isEmpty)
        let turns = try named("agent.user", run)
        #expect(turns.count == 1, "\(turns)")
        #expect(try named("agent.final", run).first?["interrupted"] as? Bool != true)
        try await end(run)
        server.stop()
    }

    @Test("Push to talk: what is said while the switch is pressed is one item, and nothing else is heard")
    func pushToTalk() async throws {
        let server = try await Jackd.start(block: 256)
        let runtime = try Scratch()
        let run = try await converse("push-to-talk", on: server)
        _ = runtime
        try await say("go forward ten meters", to: "push-to-talk:mic_1", on: server)
        func press(_ action: String) async throws {
            let call = try voicegraph("ctl", "do", "talk", action, "--client", "push-to-talk")
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
}
