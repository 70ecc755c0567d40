// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

/// Why an endpoint does not answer, and where what it is told goes.
@Suite("The agent's endpoint refuses", .timeLimit(.minutes(5))) struct AgentRefusalTests {
    @Test(
        "The reason is told in all the forms in which endpoints give it",
        arguments: [
            (#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
            (#"{"error":"no such model"}"#, "no such model"),
            (#"{"object":"error","message":"no such model","code":404}"#, "no such model"),
            (#"{"detail":"no such model"}"#, "no such model"),
            (
                #"{"detail":[{"loc":["body","messages"],"msg":"field required","type":"x"},{"loc":["body","n"],"msg":"too big"}]}"#,
                "body.messages: field required; body.n: too big"
            ),
            (#"[{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}]"#, "no such model"),
            (#"{"errors":[{"message":"no such model"}]}"#, "no such model"),
            (#"{"detail":{"error":"no such model"}}"#, "no such model"),
            ("no such\nmodel", "no such model"),
            ("<!DOCTYPE html><html><head><TITLE>Bad &#8211; <b>Gate</b>way</TITLE></head>", "Bad &#8211; Gateway"),
            ("<html><body><h1 class=x>Not here</h1></body>", "Not here"), (#""no such model""#, "no such model"),
        ])
    func reasons(body: String, reason: String) throws {
        let endpoint = try ChatEndpoint()
        let run = try endpoint.agent("refuse")
        run.say(body, item: 1)
        #expect(run.failures.first?.string("reason") == "the endpoint answers 404: \(reason)")
    }

    @Test(
        "A body that says nothing is told by its number",
        arguments: ["{}", "{\"error\":{\"mess", "<html></html>", "[]"])
    func nothing(body: String) throws {
        let endpoint = try ChatEndpoint()
        let run = try endpoint.agent("refuse")
        run.say(body, item: 1)
        #expect(run.failures.first?.string("reason")?.hasPrefix("the endpoint answers 404") == true)
    }

    @Test("A key is struck out in small and large letters, and in every form of an error", arguments: [true, false])
    func key(isLarge: Bool) throws {
        let key = "sk-Nobody-May-See-This-1234567890"
        let endpoint = try ChatEndpoint()
        chmod(try endpoint.scratch.write("the.key", key), 0o600)
        let run = try endpoint.agent("refuse", ["key_file": .string("the.key")])
        run.say("{\"detail\":\"wrong: Bearer \(isLarge ? key.uppercased() : key)%20\"}", item: 1)
        #expect(run.failures.first?.string("reason") == "the endpoint answers 404: wrong: Bearer [key]%20")
    }

    @Test("A request is sent on within the same server, and no other gets it")
    func redirections() throws {
        let endpoint = try ChatEndpoint()
        let run = try endpoint.agent("elsewhere")
        run.say("Hello", item: 1)
        run.play(2)
        #expect(run.finals.first?.string("text") == "Hello there. How are you?")
        #expect(endpoint.requests.count == 2)
        // It is tried again as after other failures, and the next item is asked.
        let away = try endpoint.agent("away", ["retries": .integer(1)])
        away.say("Hello", item: 1)
        #expect(away.failures.first?.string("reason")?.contains("gets nothing") == true)
        #expect(away.capture.counts["retries"] == 1)
        try away.node.perform("send", ["text": .string("Again")])
        #expect(away.failures.count == 2)
        #expect(endpoint.requests.count == 6)
        #expect(endpoint.requests.suffix(4).allSatisfy { $0.contains("/away/") })
    }

    @Test(
        "A key that leaves this machine without encryption is warned of, by whatever name it leaves",
        arguments: [
            ("localhost", false), ("LOCALHOST:8080", false), ("127.0.0.1", false), ("127.1.2.3:1", false),
            ("[::1]:8080", false),
            ("[::ffff:127.0.0.1]", false), ("localhost.example.com", true), ("127.evil.example", true),
            ("10.evil.example", true), ("10.0.0.5", true), ("[::1].x", true), ("127.0.0.1.example", true),
            ("localhostx", true), ("[::2]", true), ("127.1", true), ("localhost%2eexample.com", true),
        ])
    func warning(host: String, isWarned: Bool) throws {
        let scratch = try Scratch()
        chmod(try scratch.write("the.key", "sk-1234567890"), 0o600)
        let run = try AgentRun(
            [
                "backend": .string("openai"), "url": .string("http://\(host)/v1"), "model": .string("small"),
                "key_file": .string("the.key"),
            ], folder: scratch.path)
        #expect(run.capture.logs.contains { $0.text.contains("without encryption") } == isWarned)
    }

    @Test(
        "A key that stands where the name of its variable should is not told",
        arguments: [
            "sk-0123456789-TOP", "sk_live_0123456789abcdef", "ABCDEF0123456789ABCD", "abcdefghijklmnopqrstuvwx",
            "two words",
        ])
    func misplaced(key: String) throws {
        let error = try #require(throws: NodeError.self) {
            _ = try AgentRun([
                "backend": .string("openai"), "url": .string("http://localhost/v1"), "model": .string("small"),
                "key_env": .string(key),
            ])
        }
        #expect(error.key == "key_env" && !"\(error.message) \(error.hint)".contains(key))
    }
}
