// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

/// What somebody says while a reply is heard: a sign that he listens, an interruption, or a word that stops it.
@Suite(.serialized) struct AgentInterruptionTests {
    /// What became of something that was said while a reply was heard.
    private struct Outcome: CustomStringConvertible {
        /// Whether the reply was stopped, and before the item was whole.
        var isStopped = false
        var isStoppedEarly = false
        /// Whether the voice was held before the item was whole.
        var isHeld = false
        var isAnswered = false
        var reason: String?
        var description: String {
            "stopped \(isStopped), held \(isHeld), answered \(isAnswered), \(reason ?? "no reason")"
        }
    }

    private func start(_ settings: [String: SettingValue] = [:]) throws -> AgentRun {
        let scratch = try Scratch()
        return try AgentRun(rules: "hello\n    One two three. Four five six.\n*\n    Other.\n", settings, in: scratch)
    }

    /// Says a text, word by word as a recognizer tells it, while a reply is heard.
    private func say(_ text: String, _ settings: [String: SettingValue] = [:]) throws -> Outcome {
        let run = try start(settings)
        run.say("hello", item: 1)
        run.play(0.3, speaking: true)
        let before = run.sent.count
        func isStopped() -> Bool { run.sent.dropFirst(before).contains { $0.text.isEmpty } }
        func isHeld() -> Bool { run.node.controlOutputs.suffix(5).contains { $0[0] == 1 } }
        var outcome = Outcome()
        let words = text.split(separator: " ")
        for count in 1...words.count {
            run.say(words.prefix(count).joined(separator: " "), item: 2, partial: true)
            run.play(0.1, speaking: true, speech: true)
            outcome.isHeld = outcome.isHeld || isHeld()
        }
        outcome.isStoppedEarly = isStopped()
        run.say(text, item: 2)
        outcome.isStopped = isStopped()
        // What was said is answered when it is known what was heard.
        run.play(0.7)
        outcome.isAnswered = run.sent.last?.text == "Other."
        outcome.reason = run.ignored.first
        return outcome
    }

    /// The texts of a kind.
    private static func texts(_ kind: String) throws -> [String] {
        let file = try String(contentsOfFile: "\(packageRoot)/Tests/Fixtures/agent/interruptions.txt", encoding: .utf8)
        let texts = file.split(separator: "\n").filter { $0.hasPrefix(kind + ": ") }.map {
            String($0.dropFirst(kind.count + 2))
        }
        #expect(texts.count == 20)
        return texts
    }

    @Test("Sixty things that are said into a reply are taken for what they are") func sixty() throws {
        for text in try Self.texts("attention") {
            let outcome = try say(text)
            #expect(!outcome.isStopped && !outcome.isHeld && outcome.reason == "backchannel", "\(text): \(outcome)")
        }
        for text in try Self.texts("interruptions") {
            let outcome = try say(text)
            #expect(outcome.isHeld && outcome.isStopped && outcome.isAnswered, "\(text): \(outcome)")
        }
        for text in try Self.texts("stops") {
            let outcome = try say(text)
            #expect(outcome.isStoppedEarly && !outcome.isAnswered && outcome.reason == "stop", "\(text): \(outcome)")
        }
    }

    @Test("With interrupt = never only stop words do, with any everything does") func modes() throws {
        let never: [String: SettingValue] = ["interrupt": .string("never")]
        for text in ["what time is it", "mhm"] {
            let outcome = try say(text, never)
            #expect(!outcome.isStopped && !outcome.isHeld && !outcome.isAnswered, "\(text): \(outcome)")
        }
        #expect(try say("please stop", never).isStoppedEarly)
        let any = try say("mhm", ["interrupt": .string("any")])
        #expect(any.isHeld && any.isStopped && any.isAnswered, "\(any)")
        let own = try say("halt ein", ["stop_words": .list([.string("halt ein")])])
        #expect(own.isStoppedEarly && own.reason == "stop", "\(own)")
        let none = try say("stop", ["stop_words": .list([])])
        #expect(none.isStopped && none.isAnswered, "\(none)")
    }

    @Test("Speech without a text holds the voice when it is longer than a sign of attention") func duration() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.play(0.2, speaking: true)
        func held() -> Float { run.node.controlOutputs.last?[0] ?? -1 }
        run.play(1, speaking: true, speech: true)
        #expect(held() == 0)
        run.play(0.4, speaking: true, speech: true)
        #expect(held() == 1)
        run.play(0.1, speaking: true)
        #expect(held() == 0)
        // A text of which no more comes holds nothing for long, and none that is taken back.
        run.say("what about", item: 2, partial: true)
        run.play(0.1, speaking: true)
        #expect(held() == 1)
        run.play(3.1, speaking: true)
        #expect(held() == 0)
        run.say("what about", item: 3, partial: true)
        run.play(0.1, speaking: true, speech: true)
        run.say("", item: 3)
        run.play(0.1, speaking: true, speech: true)
        #expect(held() == 0)
    }

    @Test("A sign of attention that ends after the reply did is none to be answered") func late() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.play(0.3, speaking: true)
        run.say("mhm", item: 2, partial: true)
        for sentence in ["One two three.", "Four five six."] { run.hear(sentence, item: run.sent[0].item) }
        run.play(1)
        run.say("mhm", item: 2)
        #expect(run.ignored == ["backchannel"])
        // Where nothing is heard it is an answer, and so is a stop word.
        run.say("okay", item: 3)
        run.play(0.1)
        #expect(run.sent.last?.text == "Other.")
    }
}
