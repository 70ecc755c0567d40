// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

/// What a model writes, and what is spoken of it.
@Suite("What the agent says", .timeLimit(.minutes(5))) struct AgentTextTests {
    private let endpoint: ChatEndpoint

    init() throws { endpoint = try ChatEndpoint() }

    /// An agent that was answered with these pieces.
    private func answered(_ pieces: [Any], offline: Bool = true) throws -> AgentRun {
        let run = try endpoint.agent("pieces", offline: offline)
        run.say(String(decoding: try JSONSerialization.data(withJSONObject: pieces), as: UTF8.self), item: 1)
        return run
    }

    @Test(
        "Marks for the eye are not spoken, however the answer is cut, and stay in what is shown",
        arguments: [1, 3, 1000])
    func marks(size: Int) throws {
        let text = """
            # Plan
            **All done. Next *one*.** Run `ls -l` and see [the page](https://example.com/a).

            * milk
            - [ ] bread

            | Name | Age |
            |------|-----|
            | Anna | 3   |

            ```swift
            let a = b * c
            ```
            Then 2 * 3 is 6, in snake_case, at https://www.example.org/x?y=1.
            """
        let letters = Array(text)
        let run = try answered(
            stride(from: 0, to: letters.count, by: size).map { String(letters[$0..<min($0 + size, letters.count)]) })
        run.play(2)
        #expect(
            run.sent.map(\.text) == [
                "Plan", "All done.", "Next one.", "Run ls -l and see the page.", "milk", "bread", "Name, Age",
                "Anna, 3",
                "Then 2 * 3 is 6, in snake_case, at example.org.",
            ])
        #expect(run.finals.first?.string("text") == text)
        #expect(run.capture.events("agent.partial").last?.string("text") == text)
    }

    @Test("What was heard of a marked reply is remembered as it was written, cut at the word")
    func cut() throws {
        let run = try answered(["**All is done.** Now *the", " next* one. And [a link](https://example.com)."])
        let item = run.sent[0].item
        run.hear("All is done.", item: item, more: true)
        run.hear("Now the next", item: item, more: true)
        run.hear("", item: item)
        run.play(2)
        #expect(run.finals.first?.string("text") == "**All is done.** Now *the next")
        run.say("Go on", item: 2)
        #expect(endpoint.requests.last?.contains(#""**All is done.** Now *the next""#) == true)
    }

    @Test("Thoughts are neither said nor shown, whatever marks they have")
    func thoughts() throws {
        let pieces: [Any] = [
            ["reasoning_content": "Hm."], "<thi", "nk>The user. Wants", " this.</th", "ink>\n\nHello. ",
            "<reasoning>No. ",
            "</reasoning>", "1 < 2, and `<think>` is a tag. [THINK]Yes.[/THINK]",
        ]
        let run = try answered(pieces)
        run.play(2)
        #expect(run.sent.map(\.text) == ["Hello.", "1 < 2, and <think> is a tag."])
        #expect(run.finals.first?.string("text") == "Hello. 1 < 2, and `<think>` is a tag.")
        #expect(run.capture.events("agent.partial").allSatisfy { $0.string("text")?.contains("Wants") == false })
        let only = try answered(["<think>Nothing else"])
        only.play(2)
        #expect(only.failures.first?.string("reason") == "the answer was empty")
    }

    @Test("A reply that is for the eye alone ends without a sound, and is shown")
    func code() throws {
        let run = try answered(["```\nlet a = 1\n", "```\n"])
        run.play(2)
        #expect(run.sent.isEmpty && run.failures.isEmpty)
        #expect(run.finals.first?.string("text") == "```\nlet a = 1\n```")
        #expect(run.state?.string("state") == "idle")
    }

    @Test(
        "A sentence is spoken before the next one comes, in every script",
        arguments: [
            "Hello there. ", "元気です。", "नमस्ते, मैं ठीक हूँ। ", "هل أنت بخير؟ ", "میں ٹھیک ہوں۔ ", "Բարև ձեզ։ ", "ሰላም ነው። ",
            "မင်္ဂလာပါ။ ", "សួស្តី។ ", "བཀྲ་ཤིས། ", "**All done.** ", "(It is.) ", "\u{201C}Yes!\u{201D} ", "- **One.** ",
        ])
    func scripts(first: String) async throws {
        // The rest never comes.
        let run = try endpoint.agent("waits", ["silence_time": .number(60)], offline: false)
        run.say(first, item: 1)
        try await run.until("the first sentence is sent") { !$0.messages.isEmpty }
        try run.node.perform("interrupt")
    }

    @Test("What begins no sentence stays with what it belongs to")
    func shortForms() throws {
        let run = try answered([
            "Take room No. 5, approx. two vs. three. ", "Am 3. ", "Mai kommt Dr. ", "No. It is 3. ",
            "You are e.g. this.",
        ])
        run.play(2)
        #expect(
            run.sent.map(\.text) == [
                "Take room No. 5, approx. two vs. three.", "Am 3. Mai kommt Dr. No.", "It is 3.", "You are e.g. this.",
            ])
    }
}
