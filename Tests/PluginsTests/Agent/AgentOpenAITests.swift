// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@Suite("The agent's endpoint", .timeLimit(.minutes(5))) struct AgentOpenAITests {
    private let endpoint: ChatEndpoint

    init() throws { endpoint = try ChatEndpoint() }

    private func texts(_ run: AgentRun) -> [String] { run.finals.compactMap { $0.string("text") } }

    @Test("An answer is streamed by sentences, and what was said goes along with the next request")
    func conversation() throws {
        let run = try endpoint.agent("good", ["system": .string("Be brief."), "temperature": .number(0.5)])
        for item in 1...2 {
            run.say("Hello \(item)", item: UInt64(item))
            run.play(2)
        }
        #expect(texts(run) == ["Hello there. How are you?", "Hello there. How are you?"])
        #expect(run.sent.map(\.text).prefix(2) == ["Hello there.", "How are you?"])
        let last = try #require(endpoint.requests.last)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
        let body = try #require(object["body"] as? [String: Any])
        let messages = try #require(body["messages"] as? [[String: String]])
        #expect(messages.map { $0["role"]! } == ["system", "user", "assistant", "user"])
        #expect(messages.map { $0["content"]! } == ["Be brief.", "Hello 1", "Hello there. How are you?", "Hello 2"])
        #expect(body["temperature"] as? Double == 0.5 && body["stream"] as? Bool == true)
        #expect(body["model"] as? String == "small")
        #expect(run.states.contains("connecting") && run.states.contains("thinking"))
    }

    @Test("The history keeps so many turns and so much text, and forget empties it")
    func history() throws {
        let run = try endpoint.agent("good", ["history_turns": .integer(2)])
        func roles() throws -> [String] {
            let object = try JSONSerialization.jsonObject(with: Data(endpoint.requests.last!.utf8)) as? [String: Any]
            let messages = (object?["body"] as? [String: Any])?["messages"] as? [[String: String]]
            return try #require(messages).map { $0["role"]!.prefix(1) + ":" + $0["content"]!.prefix(2) }
        }
        for item in 1...3 {
            run.say("\(item)?", item: UInt64(item))
            run.play(2)
        }
        #expect(try roles() == ["u:2?", "a:He", "u:3?"])
        try run.node.perform("forget")
        run.say("new", item: 9)
        #expect(try roles() == ["u:ne"])
        let short = try endpoint.agent("good", ["history_characters": .integer(100)])
        for item in 1...9 {
            short.say("\(item) " + String(repeating: "x", count: 30), item: UInt64(item))
            short.play(2)
        }
        #expect(try roles().count <= 3)
    }

    @Test("What was heard of a reply that was taken for ended changes what is remembered")
    func late() throws {
        let run = try endpoint.agent("good")
        run.say("Hello", item: 1)
        run.play(2)
        #expect(texts(run) == ["Hello there. How are you?"])
        run.hear("Hello there.", item: run.sent[0].item, more: true)
        run.hear("How", item: run.sent[0].item)
        run.say("Again", item: 2)
        #expect(endpoint.requests.last?.contains(#"{"content": "Hello there. How", "role": "assistant"}"#) == true)
    }

    @Test(
        "Answers are read however they are cut, and from an endpoint that does not stream",
        arguments: ["crlf", "plain", "slow"])
    func forms(mode: String) throws {
        let run = try endpoint.agent(mode)
        run.say("Hello", item: 1)
        run.play(2)
        #expect(
            texts(run) == [["crlf": "Gr\u{FC}\u{DF}e.", "plain": "All at once.", "slow": "Slowly. But surely."][mode]!])
    }

    @Test(
        "A stream is read in every form that the standard allows, and in what endpoints make of it",
        arguments: [
            "cr", "mark", "comments", "fields", "unknown", "bare", "split", "tight", "ping", "lines", "unfinished",
            "null", "open", "halves",
        ])
    func streams(form: String) throws {
        let run = try endpoint.agent("form-" + form, ["retries": .integer(0)])
        run.say("Hello", item: 1)
        run.play(2)
        #expect(texts(run) == ["Hello there. How are you?"], "\(run.failures)")
    }

    @Test("Speech begins before the answer is complete; what comes after an interruption is dropped")
    func interruption() async throws {
        let run = try endpoint.agent("step", offline: false)
        run.say("Hello", item: 1)
        try await run.until("the first sentence") { $0.messages.contains { $0.message.plainText == "First sentence." } }
        #expect(run.finals.isEmpty && run.state?.string("state") == "waiting")
        run.hear("First", item: run.sent[0].item)
        try run.node.perform("interrupt")
        try endpoint.scratch.write("go", "")
        #expect(run.sent.last?.text == "" && texts(run) == ["First"])
        run.say("Again", item: 2)
        try await run.until("the second answer") { $0.messages.last?.message.plainText == "Third." }
        #expect(run.sent.filter { $0.text.hasPrefix("Second") }.count == 1)
        #expect(endpoint.requests.last?.contains(#"{"content": "First", "role": "assistant"}"#) == true)
    }

    @Test("What was said twice, without an answer that somebody heard in between, is one message: turns alternate")
    func alternating() async throws {
        try endpoint.scratch.write("mode", "hang")
        let run = try endpoint.agent("told", offline: false)
        run.say("Hello", item: 1)
        try eventuallyNow("it is asked") { endpoint.requests.count == 1 }
        try run.node.perform("interrupt")
        try endpoint.scratch.write("mode", "good")
        run.say("Again", item: 2)
        try eventuallyNow("it is asked again") { endpoint.requests.count == 2 }
        let request = try #require(endpoint.requests.last)
        #expect(request.contains(#"[{"content": "Hello\nAgain", "role": "user"}]"#), "\(request)")
    }

    @Test("T4: A busy or broken endpoint is asked again, and its wish to wait is kept", arguments: ["busy", "once"])
    func retries(mode: String) throws {
        let run = try endpoint.agent(mode, ["retries": .integer(3)])
        run.say("Hello", item: 1)
        run.play(2)
        #expect(texts(run) == ["Hello there. How are you?"])
        #expect(endpoint.requests.count == (mode == "busy" ? 3 : 2))
        let error = try #require(run.capture.events("agent.state").first { $0.string("state") == "error" })
        #expect(error.string("error") == "Connection lost" && error.string("kind") == "connection")
        #expect(try #require(error.number("retry")) == (mode == "busy" ? 0 : 0.01))
        #expect(run.state?.string("state") == "idle" && run.failures.isEmpty)
        #expect(run.capture.health.last == .ok)
    }

    @Test("T2: Who interrupts while it waits to be tried again ends the error with it, and can type on")
    func interruptedRetry() async throws {
        let run = try endpoint.agent(
            "broken", ["retries": .integer(3), "retry_wait": .number(10)], offline: false)
        try run.node.perform("send", ["text": .string("Hello")])
        try await run.until("it waits to try again") { $0.events("agent.state").last?.number("retry") == 10 }
        let refusal = try #require(throws: NodeError.self) { try run.node.perform("send", ["text": .string("One")]) }
        #expect(refusal.hint == "it tries again by itself")
        try run.node.perform("retry")
        try await run.until("it was tried again at once, and waits longer") {
            $0.events("agent.state").last?.number("retry") == 20
        }
        try run.node.perform("interrupt")
        #expect(run.state?.string("state") == "idle")
        try run.node.perform("send", ["text": .string("Two")])
    }

    @Test("T2: A lost connection shows an error with retry, which connects again")
    func lost() throws {
        let free = try ChatEndpoint().port
        let run = try endpoint.agent(
            "good", ["url": .string("http://localhost:\(free)/v1"), "retries": .integer(2)])
        run.say("Hello", item: 1)
        #expect(run.failures.first?.string("kind") == "connection")
        #expect(run.state?.string("state") == "error" && run.state?.string("error") == "Connection lost")
        #expect(run.state?.string("label") == "Connection lost" && run.state?.number("retry") == nil)
        #expect(run.capture.counts["retries"] == 2)
        // T10: nothing is typed into a connection that is lost.
        let refused = try #require(throws: NodeError.self) { try run.node.perform("send", ["text": .string("Hi")]) }
        #expect(refused.message.contains("not connected"))
        try run.node.perform("retry")
        #expect(run.failures.count == 2)
        try run.node.perform("forget")
        #expect(run.state?.string("state") == "idle")
    }

    @Test(
        "T4: Each fault of an endpoint is told with its kind and reason, and the next item is asked all the same",
        arguments: [
            ("broken", "connection", "the endpoint answers 500: it hurts"),
            ("denied", "initialization", "the endpoint answers 401"),
            ("bad", "other", "the endpoint answers 400: no such field"),
            ("around", "other", "the endpoint answers 307: it sends on without end"),
            ("away", "other", "the endpoint answers 302: it sends on to http://127.0.0.1:"),
            ("hang", "connection", "the endpoint says nothing within 0.3 s"),
            ("silent", "connection", "the endpoint says nothing within 0.3 s"),
            ("comments", "connection", "the endpoint says nothing within 0.3 s"),
            ("stall", "connection", "the endpoint went silent in its answer: nothing came within 0.3 s"),
            ("cut", "connection", "the endpoint ended in the middle of its answer"),
            ("short", "connection", "the endpoint ended in the middle of its answer"),
            ("garbage", "other", "the endpoint answers with something that is no stream"),
            ("json", "other", "the endpoint sends something that is no JSON"),
            ("page", "other", "the endpoint answers with something that is no stream"),
            ("nothttp", "connection", ""), ("nothing", "connection", ""),
            ("inner", "other", "the endpoint says: overloaded"),
            ("endless", "other", "the answer is longer than 5000 bytes"),
            ("line", "other", "the answer does not end"), ("huge", "other", "the answer does not end"),
        ])
    func faults(mode: String, kind: String, reason: String) throws {
        let run = try endpoint.agent(
            mode,
            [
                // Short only where it has to be waited for.
                "token_time": .number(["hang", "silent", "comments"].contains(mode) ? 0.3 : 60),
                "silence_time": .number(mode == "stall" ? 0.3 : 60),
                "longest_answer": .integer(5000),
            ])
        for item in 1...2 {
            run.say("Hello", item: UInt64(item))
            run.play(1.5)
            #expect(run.failures.count == item, "\(run.everything)")
        }
        let failure = try #require(run.failures.first)
        #expect(failure.string("kind") == kind)
        #expect(failure.string("reason")?.hasPrefix(reason) == true, "\(failure)")
        #expect(failure.string("reason")?.isEmpty == false)
        #expect(run.state?.string("state") == "error")
        #expect(run.node.instance.askIdle())
        // What was said before the fault was said.
        if ["stall", "cut", "short"].contains(mode) { #expect(texts(run).first == "One sentence.") }
        try run.node.perform("forget")
        #expect(run.state?.string("state") == "idle")
    }

    @Test("An endpoint that takes no connection is given up after its time")
    func unreachable() throws {
        // A queue of connections that nobody takes and that is full.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        func with(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
            withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
        }
        #expect(with { bind(listener, $0, size) } == 0 && listen(listener, 0) == 0)
        #expect(with { getsockname(listener, $0, &size) } == 0)
        var others: [Int32] = []
        for _ in 0..<8 {
            let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = with { connect(other, $0, size) }
            others.append(other)
        }
        defer { for other in others { close(other) } }
        let port = Int(UInt16(bigEndian: address.sin_port))
        let run = try endpoint.agent(
            "good", ["url": .string("http://127.0.0.1:\(port)/v1"), "connect_time": .number(0.3)])
        run.say("Hello", item: 1)
        #expect(run.failures.first?.string("reason") == "cannot connect to the endpoint within 0.3 s")
    }

    @Test("A certificate that nobody trusts is refused, and nothing is sent to it")
    func certificate() throws {
        let secure = try ChatEndpoint(certificateFor: "localhost")
        let run = try secure.agent("good")
        run.say("Hello", item: 1)
        #expect(run.failures.first?.string("kind") == "connection")
        #expect(secure.requests.isEmpty)
    }
}
