// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile
import NodeKit
import TestSupport

@testable import Host

/// What nodes declare, and what the host makes of it.
@Suite(.timeLimit(.minutes(2))) struct ContractTests {
    private let graph = """
        [graph]
        links = ["tone -> slow -> meter", "agent.reply -> other.text"]
        [node.tone]
        type = "tone"
        [node.slow]
        type = "slow"
        [node.meter]
        type = "meter"
        [node.agent]
        type = "agent"
        [node.other]
        type = "relay"

        """

    private func perform(
        _ run: OfflineRun, _ action: String, on node: String = "agent", _ arguments: [String: SettingValue] = [:],
        patience: Double = 5
    ) throws -> [String: SettingValue] {
        try run.graph.instance(node).performAndWait(action, arguments, patience: patience)
    }

    @Test("A node of messages only keeps what it remembers when something else is edited") func remembers() throws {
        let run = try OfflineRun(graph)
        try run.graph.send(.text("hello"), to: "agent", port: "text")
        run.graph.pump()
        try run.edit { $0.nodes[0].mute = true }
        try run.graph.send(.text("again"), to: "agent", port: "text")
        run.graph.pump()
        #expect(try perform(run, "remember") == ["words": .string("hello again")])
    }

    @Test("A live setting is changed while the node goes on; a fixed one makes it anew") func liveSettings() throws {
        let run = try OfflineRun(graph)
        try run.graph.send(.text("hello"), to: "agent", port: "text")
        run.graph.pump()
        let agent = try run.graph.instance("agent")
        _ = run.events("mood")
        func set(_ key: String, _ value: SettingValue?) throws {
            try run.edit { description in
                let index = description.nodes.firstIndex { $0.name == "agent" }!
                description.nodes[index].entries[key] = value.map { Entry($0) }
                description.nodes[index].keys = Array(description.nodes[index].entries.keys)
            }
        }
        try set("mood", .string("curt"))
        #expect(try run.graph.instance("agent") === agent)
        #expect(run.events("mood").map { $0.text("mood") } == ["curt"])
        // Left out again, it has its default.
        try set("mood", nil)
        #expect(run.events("mood").map { $0.text("mood") } == ["calm"])
        #expect(try perform(run, "remember") == ["words": .string("hello")])
        try set("seed", .integer(3))
        #expect(try run.graph.instance("agent") !== agent)
    }

    @Test("An action is refused with the reason, before the node hears of it or by the node") func refusals() throws {
        let run = try OfflineRun(graph)
        func error(
            _ action: String, on node: String = "agent", _ arguments: [String: SettingValue] = [:]
        ) -> NodeError? {
            #expect(throws: NodeError.self) { try perform(run, action, on: node, arguments) }
        }
        #expect(error("speek")?.message == "nodes of type agent have no action 'speek'")
        #expect(error("speek")?.hint == "did you mean 'speak'?")
        #expect(error("speak", on: "tone")?.hint == "they have no actions")
        #expect(error("speak")?.message == "'speak' needs 'text'")
        #expect(
            error("speak", ["text": .number(1)])?.message
                == "the argument 'text' must be a string, not a number with a fraction")
        #expect(
            error("speak", ["text": .string("x"), "rate": .integer(9)])?.message
                == "the argument 'rate' is 9, outside its range")
        #expect(error("speak", ["text": .string("x"), "rat": .integer(1)])?.message == "'speak' takes no 'rat'")
        #expect(error("speak", ["text": .string("x"), "rat": .integer(1)])?.hint == "did you mean 'rate'?")
        #expect(error("forget", ["all": .bool(true)])?.hint == "it takes nothing")
        #expect(error("speak", ["text": .string("a\0b")])?.message == "the argument 'text' holds a NUL character")
        #expect(error("refuse") == nil ? false : error("refuse")?.message == "it will not")
        #expect(try perform(run, "remember") == ["words": .string("")])
    }

    @Test("A text of ten megabytes arrives whole") func longText() throws {
        let run = try OfflineRun(graph)
        let text = String(repeating: "0123456789", count: 1_000_000)
        _ = try perform(run, "speak", ["text": .string(text)])
        #expect(try perform(run, "remember")["words"] == .string(text))
    }

    @Test("An action that is never ended is given up, and one that comes back too late does no harm") func neverEnds()
        throws
    {
        let run = try OfflineRun(graph)
        let error = #expect(throws: NodeError.self) { try perform(run, "promise", patience: 0.05) }
        #expect(error?.message == "it does not answer 'promise' in time")
        #expect(try perform(run, "remember") == ["words": .string("")])
    }

    @Test("A message of a kind that an input does not take is refused") func wrongKind() throws {
        let run = try OfflineRun(graph)
        #expect(throws: Fault("'agent.text' takes a text, not a number")) {
            try run.graph.send(.number(1), to: "agent", port: "text")
        }
    }

    @Test("A node says how it is, which status and a retained event tell, whatever its events are called") func health()
        throws
    {
        let run = try OfflineRun(graph)
        try run.graph.send(.text("tired"), to: "agent", port: "text")
        run.graph.pump()
        #expect(run.graph.status.degraded == ["agent": "tired"])
        let late = run.graph.bus.subscribe(.lossless) {
            if case .event(let event) = $0 { event.name == "health" } else { false }
        }
        let told = late.drain().compactMap { if case .event(let event) = $0 { event } else { nil } }
        #expect(
            told.map(\.node) == ["agent"] && told[0].text("state") == "degraded" && told[0].text("reason") == "tired")
        try run.graph.send(.text("rested"), to: "agent", port: "text")
        run.graph.pump()
        #expect(run.graph.status.degraded.isEmpty)
        #expect(late.drain().count == 1)
    }

    @Test("What a node counts, and notes that were lost, are in the status") func counters() throws {
        let run = try OfflineRun(graph)
        for _ in 0..<2 { try run.graph.send(.text("count"), to: "agent", port: "text") }
        run.graph.pump()
        #expect(run.graph.status.counters == ["agent": ["counted": 6]])
        let fields = Dictionary(uniqueKeysWithValues: run.graph.status.fields.map { ($0.key, $0.value) })
        #expect(fields["counters"] == .table(["agent": .table(["counted": .integer(6)])]))
        #expect(fields["lost_notes"] == .integer(0) && fields["lost_midi"] == .integer(0))
    }

    @Test("An event that its type does not declare is left out, and told once") func undeclared() throws {
        let run = try OfflineRun(graph)
        for _ in 0..<2 { try run.graph.send(.text("undeclared"), to: "agent", port: "text") }
        run.graph.pump()
        let events = run.published.drain().compactMap { if case .event(let event) = $0 { event } else { nil } }
        #expect(!events.contains { $0.name == "made.up" })
        #expect(events.count { $0.name == "log" && $0.text("text")?.contains("'made.up'") == true } == 1)
    }

    @Test("States are given to whoever comes late, once, before anything new; frames too") func retained() throws {
        let run = try OfflineRun(graph)
        run.play(4800)
        let late = run.graph.bus.subscribe(.lossless)
        let first = late.drain()
        #expect(first.count { if case .event(let event) = $0 { event.name == "mood" } else { false } } == 1)
        #expect(first.count { if case .frame(let frame) = $0 { frame.node == "meter" } else { false } } == 1)
        #expect(!first.contains { if case .event(let event) = $0 { event.name == "said" } else { false } })
        // What is gone is not told any more.
        try run.edit {
            $0.nodes.removeAll { $0.name == "agent" }; $0.links.removeAll { $0.from.node == "agent" }
        }
        let later = run.graph.bus.subscribe(.lossless).drain()
        #expect(!later.contains { if case .event(let event) = $0 { event.node == "agent" } else { false } })
    }

    @Test("A field of a node's own that is called like one of every event is kept") func ownTime() throws {
        let run = try OfflineRun(graph)
        _ = try perform(run, "speak", ["text": .string("x")])
        let said = try #require(run.events("said").first)
        let line = EventJSON.encode(said)
        #expect(line.contains(#""time_":"noon""#) && line.hasPrefix(#"{"event":"said","time":0.000000,"utc":"20"#))
    }

    @Test("Whole numbers are asked for in live changes as in files") func wholeNumbers() throws {
        let run = try OfflineRun(graph)
        #expect(throws: Fault("slow.steps must be a whole number, not 1.5")) {
            try run.graph.set("slow", "steps", to: 1.5)
        }
        try run.graph.set("slow", "steps", to: 2)
        #expect(try run.graph.value("slow", "steps") == 2)
    }

    @Test("Nodes finish what they hold when the graph ends, and when they are removed") func finish() throws {
        let run = try OfflineRun(graph)
        try run.edit { description in
            description.nodes.removeAll { $0.name == "slow" }
            description.links.removeAll { $0.from.node == "slow" || $0.to.node == "slow" }
        }
        run.play(4800)
        #expect(run.events("finishing").map(\.node) == ["slow"])
        let other = try OfflineRun(graph)
        other.graph.stop()
        #expect(other.events("finishing").map(\.node) == ["slow"])
    }
}

/// The graph's time over several formats.
@Suite struct GraphTimeTests {
    @Test("The time goes on from where it was when the rate changes") func rates() {
        let time = GraphTime()
        time.begin(rate: 44_100, at: 0)
        let hour: UInt64 = 3600 * 44_100
        time.position.store(hour, ordering: .relaxed)
        #expect(time.now == 3600)
        time.begin(rate: 48_000, at: hour)
        #expect(time.now == 3600)
        #expect(time.seconds(at: hour + 48_000) == 3601)
        // What was before keeps its time.
        #expect(time.seconds(at: hour - 44_100) == 3599)
        #expect(time.position(at: 3601) == hour + 48_000 && time.position(at: 1) == 44_100)
    }

    @Test("Times are right however often the rate changes") func many() {
        let time = GraphTime()
        var position: UInt64 = 0
        for round in 0..<1000 {
            let rate = round % 2 == 0 ? 44_100.0 : 48_000
            time.begin(rate: rate, at: position)
            position += UInt64(rate)
            #expect(abs(time.seconds(at: position) - Double(round + 1)) < 1e-6)
        }
    }
}
