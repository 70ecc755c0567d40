// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@Suite("The agent's rules") struct AgentRulesTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func answers(_ rules: String, to texts: [String]) throws -> [String] {
        let run = try AgentRun(rules: rules, in: scratch)
        return texts.map { text in
            run.capture.clear()
            run.say(text)
            run.play(3)
            return run.sent.filter { !$0.text.isEmpty }.map(\.text).joined(separator: " ")
        }
    }

    @Test(
        "A pattern has words, alternatives, optional words, captured parts and any words",
        arguments: [
            ("good (morning|evening)", "Good evening!", ""), ("[please] stop", "stop", ""),
            ("[please] stop", "Please, stop.", ""), ("my name is <x>", "My name is Ada Lovelace.", "Ada Lovelace"),
            ("turn it <x:on|off>", "turn it off", "off"), ("* lamp *", "is the LAMP on?", ""),
            ("* lamp *", "lamp", ""), ("say <x> to <y>", "say good bye to him", "good bye"),
            ("don't", "don\u{2019}t", ""), ("(a b|a) c", "a c", ""), ("[very [very]] good", "very very good", ""),
        ])
    func patterns(pattern: String, text: String, captured: String) throws {
        let hasName = pattern.contains("<x")
        #expect(
            try answers("\(pattern)\n  yes\(hasName ? " {x}" : "")\n", to: [text]) == [
                captured.isEmpty ? "yes" : "yes \(captured)"
            ])
    }

    @Test(
        "What a pattern does not say is no match",
        arguments: [
            ("good (morning|evening)", "good night"), ("stop", "please stop"), ("turn it <x:on|off>", "turn it over"),
            ("say <x>", "say"), ("hello", "hello there"),
        ])
    func misses(pattern: String, text: String) throws {
        #expect(try answers("\(pattern)\n  yes\n*\n  no\n", to: [text]) == ["no"])
    }

    @Test("Several replies are given in turn, the same in every run")
    func turns() throws {
        let rules = "# A comment.\nhello\nhi\n  One.\n  Two.\n\n*\n  Other.\n"
        for _ in 0..<2 {
            #expect(try answers(rules, to: ["hello", "hi", "what", "hello"]) == ["One.", "Two.", "Other.", "One."])
        }
    }

    @Test("The rules that are built in converse without a file")
    func builtIn() throws {
        let run = try AgentRun()
        for (number, text) in ["Hello!", "What can you do?", "Say one two.", "Purple monkeys."].enumerated() {
            run.say(text, item: UInt64(number + 1))
            run.play(3)
        }
        #expect(run.finals.count == 4)
        #expect(run.finals[2].string("text") == "one two.")
        #expect(run.finals.allSatisfy { $0.string("text")?.isEmpty == false })
    }

    @Test("What no rule matches is refused and told")
    func refused() throws {
        let run = try AgentRun(rules: "hello\n  Hello.\n", in: scratch)
        run.say("goodbye", item: 4)
        run.play(0.1)
        #expect(run.ignored == ["no rule matches"])
        #expect(run.capture.events("agent.ignored").first?.integer("item") == 4)
        #expect(run.state?.string("state") == "idle")
    }

    @Test(
        "A mistake in the file is told with its line and column",
        arguments: [
            ("hello\n  Hi {x}.\n", "2:6: the patterns capture no 'x'"),
            ("hello (a|b\n  Hi.\n", "1:7: '(' is never closed"),
            ("# no\n  Hi.\n", "2:3: a reply needs a pattern above it, at the margin"),
            ("a ) b\n  Hi.\n", "1:3: ')' closes nothing"), ("a\n  Hi.\nb\n", "3:1: this pattern has no reply below it"),
            ("a <>\n  Hi.\n", "1:3: a name must follow '<'"),
            ("a (b|)\n  Hi.\n", "1:4: one of the alternatives is empty"),
            ("<x> | b\n  Hi.\nb\n  Ho {\n", "4:6: '{' is never closed"),
            ("a\n  Hi. -> lamp\n", "2:9: NODE.ACTION must follow '->'"),
            ("a\n  Hi. -> lamp.set on\n", "2:19: an argument is KEY=VALUE"),
            ("...\n  Hi.\n", "1:1: '...' is no word that can be said"),
        ])
    func mistakes(rules: String, message: String) throws {
        let error = try #require(throws: NodeError.self) { _ = try AgentRun(rules: rules, in: scratch) }
        #expect(error.message.hasSuffix("talk.rules:" + message) && error.key == "rules", "\(error)")
    }

    @Test("A file that is empty, no UTF-8, or not there is told")
    func files() throws {
        #expect(throws: NodeError.self) { _ = try AgentRun(rules: "# nothing\n", in: scratch) }
        try Data([0x61, 0x0A, 0x20, 0xFF, 0x0A]).write(to: URL(fileURLWithPath: scratch.file("talk.rules")))
        let bad = try #require(throws: NodeError.self) {
            _ = try AgentRun(["rules": .string("talk.rules")], folder: scratch.path)
        }
        #expect(bad.message.hasSuffix("talk.rules:2:1: this is not UTF-8"))
        let missing = try #require(throws: NodeError.self) {
            _ = try AgentRun(["rules": .string("none.rules")], folder: scratch.path)
        }
        #expect(missing.message.contains("cannot read"))
    }

    @Test("A pattern that could be tried in very many ways takes no time")
    func explosion() throws {
        let pattern = String(repeating: "* a ", count: 12) + "* z"
        let text = String(repeating: "a ", count: 400)
        #expect(try answers("\(pattern)\n  yes\n*\n  no\n", to: [text]) == ["no"])
    }
}
