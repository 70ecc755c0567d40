// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import TestSupport
import Testing

@Suite("The agent's states and items") struct AgentStateTests {
    private let scratch: Scratch
    private let rules = "hello\n  One two three. Four five six. Seven.\nshort\n  Yes.\n*\n  Other.\n"

    init() throws { scratch = try Scratch() }

    private func start(_ settings: [String: SettingValue] = [:]) throws -> AgentRun {
        try AgentRun(rules: rules, settings, in: scratch)
    }

    @Test("A reply is sent sentence by sentence, all with its item, and the last is known")
    func sentences() throws {
        let run = try start()
        run.say("Hello.", item: 9)
        let messages = run.capture.messages.map(\.message)
        #expect(messages.map(\.plainText) == ["One two three.", "Four five six.", "Seven."])
        #expect(messages.map(\.isPartial) == [true, true, false])
        #expect(Set(messages.map(\.item)).count == 1)
        #expect(run.capture.events("agent.user").first?.integer("item") == 9)
    }

    @Test("T2: The end of a session clears it and leaves it idle")
    func end() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.play(0.1, speaking: true)
        #expect(run.state?.string("state") == "waiting")
        try run.node.perform("forget")
        #expect(run.sent.last?.text == "")
        run.play(0.1)
        #expect(run.state?.string("state") == "idle")
        // The same item is no duplicate in a new session, and replies begin at the first.
        run.say("hello", item: 1)
        #expect(run.ignored.isEmpty)
        #expect(run.sent.last?.text == "Seven.")
    }

    @Test("T3: The states are idle, thinking, and waiting while it can be interrupted, with their labels")
    func states() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.play(0.2, speaking: true)
        for text in ["One two three.", "Four five six.", "Seven."] { run.hear(text, item: run.sent[0].item) }
        run.play(0.2)
        #expect(run.states.first == "idle" && run.states.last == "idle")
        #expect(run.states.filter { $0 != "idle" } == ["thinking", "waiting"])
        let labels = run.capture.events("agent.state").compactMap { $0.string("label") }
        #expect(labels == ["Idle", "Thinking...", "Speak to interrupt", "Idle"])
        let own = try start(["label_thinking": .string("Hm"), "label_waiting": .string("Go on")])
        own.say("hello")
        own.play(0.2)
        #expect(own.capture.events("agent.state").compactMap { $0.string("label") }.contains("Hm"))
        #expect(own.state?.string("label") == "Go on")
    }

    @Test("T9: Items of the user replace by id, duplicates and blanks are no turns, and replies grow under one id")
    func items() throws {
        let run = try start()
        run.say("hel", item: 1, partial: true)
        #expect(run.capture.events("agent.user").isEmpty)
        run.say("hello", item: 1)
        run.say("hello", item: 1)
        run.say("  \n", item: 2)
        #expect(run.ignored == ["duplicate", "blank"])
        let partials = run.capture.events("agent.partial")
        #expect(Set(partials.compactMap { $0.integer("item") }).count == 1)
        #expect(partials.compactMap { $0.string("delta") }.joined() == partials.last?.string("text"))
        #expect(partials.last?.string("text") == "One two three. Four five six. Seven.")
        run.play(2)
        run.say("short", item: 1)
        run.play(2)
        let users = run.capture.events("agent.user")
        #expect(users.map { $0.bool("replaced") } == [false, true])
        #expect(run.finals.compactMap { $0.string("text") }.last == "Yes.")
        // An older one is corrected, and not answered again.
        run.say("short", item: 3)
        run.play(2)
        run.say("hello", item: 1)
        #expect(run.ignored.last == "it corrects an older item")
    }

    @Test("T10: A typed message is trimmed, not empty, echoed and answered")
    func typed() throws {
        let run = try start()
        let item = try run.node.perform("send", ["text": .string("  short \n")])["item"]
        let echo = try #require(run.capture.events("agent.user").first)
        #expect(echo.string("text") == "short" && echo.bool("typed") == true)
        // Whoever keeps what was said keeps it as the user's.
        let typed = try #require(run.capture.events("agent.typed").first)
        #expect(typed.string("text") == "short" && typed.string("speaker") == "you")
        #expect(typed.integer("item") == echo.integer("item"))
        #expect(run.sent.map(\.text) == ["Yes."])
        #expect(item == .integer(Int64(run.sent[0].item)))
        #expect(throws: NodeError.self) { try run.node.perform("send", ["text": .string(" \t")]) }
    }

    @Test("An interruption stops the reply, and what was heard of it, to the word, is what was said")
    func interrupted() throws {
        let run = try start()
        run.say("hello", item: 1)
        let reply = try #require(run.sent.first?.item)
        run.play(0.2, speaking: true)
        run.hear("One two three.", item: reply, more: true)
        run.say("short", item: 2)
        #expect(run.sent.last?.item == reply && run.sent.last?.text == "")
        #expect(run.capture.messages.last?.message.isUrgent == true)
        #expect(run.finals.isEmpty)  // What was heard is not told yet.
        run.hear("Four", item: reply)
        run.node.instance.wait(frames: 64)
        #expect(run.finals.first?.string("text") == "One two three. Four")
        #expect(run.finals.first?.bool("interrupted") == true)
        #expect(run.sent.last?.text == "Yes.")
    }

    @Test("Without a word of what was heard, all that was sent counts as said")
    func unheard() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.play(0.2, speaking: true)
        run.say("short", item: 2)
        // It may be told yet; the next time nobody waits for that.
        #expect(run.sent.last?.text == "")
        run.play(0.6)
        #expect(run.finals.first?.string("text") == "One two three. Four five six. Seven.")
        #expect(run.sent.last?.text == "Yes.")
        run.say("hello", item: 3)
        run.play(0.2, speaking: true)
        run.say("short", item: 4)
        #expect(run.sent.last?.text == "Yes.")
    }

    @Test("A node whose audio begins again answers again")
    func again() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.node.instance.finish()
        #expect(run.finals.count == 1)
        try run.node.prepare(Preparation(rate: 44100, maxBlock: 512, offline: true))
        run.say("short", item: 2)
        #expect(run.sent.last?.text == "Yes.")
    }

    @Test("Whoever speaks may fail to tell what was heard: the next item is answered after half a second")
    func settling() throws {
        let run = try start()
        run.say("short", item: 1)
        run.hear("Yes.", item: run.sent[0].item)
        run.say("hello", item: 2)
        run.play(0.1, speaking: true)
        run.say("short", item: 3)
        #expect(run.sent.last?.text == "")
        run.play(0.3)
        #expect(run.sent.last?.text == "")
        run.play(0.3)
        #expect(run.sent.last?.text == "Yes.")
    }

    @Test("An item that says only that somebody listens interrupts no speech; else it is a turn")
    func backchannel() throws {
        let run = try start()
        run.say("hello", item: 1)
        run.play(0.2, speaking: true)
        run.say("Uh-huh.", item: 2)
        run.say("OK", item: 3)
        #expect(run.ignored == ["backchannel", "backchannel"])
        #expect(!run.sent.contains { $0.text.isEmpty })
        for _ in 0..<3 { run.hear("x", item: run.sent[0].item) }
        run.play(0.2)
        run.say("OK", item: 4)
        #expect(run.sent.last?.text == "Other.")
        let own = try start(["backchannel": .list([.string("hello")])])
        own.say("hello", item: 1)
        own.play(0.1, speaking: true)
        own.say("hello", item: 2)
        own.say("ok", item: 3)
        own.play(0.6)
        #expect(own.ignored == ["backchannel"])
        #expect(own.sent.last?.text == "Other.")
    }

    @Test("Speech that is never told to have ended is given up by the watchdog")
    func watchdog() throws {
        let run = try start(["watchdog": .number(3)])
        run.say("hello", item: 1)
        run.play(0.5, speaking: true)
        run.hear("One two three.", item: run.sent[0].item, more: true)
        run.play(2)
        #expect(run.state?.string("state") == "waiting")
        run.play(1.2)
        #expect(run.state?.string("state") == "idle")
        #expect(run.finals.first?.string("text") == "One two three.")
        #expect(run.capture.counts["unheard"] == 2)
        #expect(run.node.instance.askIdle())
    }

    @Test("The control speech is told as listening")
    func listening() throws {
        let run = try start()
        run.play(0.1, speech: true)
        #expect(run.state?.bool("listening") == true)
        run.play(0.1)
        #expect(run.state?.bool("listening") == false)
    }

    @Test("Every item of the user is answered, interrupted, or refused, also when they come at once and at the end")
    func everyItem() throws {
        let run = try start()
        for item in 1...20 { run.say(item % 3 == 0 ? "short" : "hello", item: UInt64(item)) }
        run.node.instance.finish()
        #expect(run.finals.compactMap { $0.integer("user") } == Array(1...20))
        run.say("hello", item: 99)
        #expect(run.ignored.last == "the graph has ended")
    }

    @Test("A full inbox behind it loses a sentence, which is counted and logged")
    func full() throws {
        let run = try start()
        run.capture.acceptsMessages = false
        run.say("hello", item: 1)
        run.play(0.1)
        #expect(run.capture.counts["refused"] == 3)
        #expect(run.failures.first?.string("kind") == "other")
        #expect(run.state?.string("state") == "error")
    }

    @Test("A node of a type that it does not know is refused with the types that there are")
    func backend() throws {
        let type = try pluginType("agent")
        let declared = NodeDeclarations(type)
        #expect(declared.settings.first { $0.key == "backend" }?.choices.first == "rules")
        #expect(declared.events.first { $0.name == "agent.state" }?.isRetained == true)
    }
}
