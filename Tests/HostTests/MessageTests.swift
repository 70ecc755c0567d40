// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import Host

@Suite(.timeLimit(.minutes(2))) struct MessageTests {
    /// What each relay received, as "node.port text", in order.
    private func received(_ run: OfflineRun) -> [String] {
        run.events("received").map { "\($0.node ?? "").\($0.integer("port") ?? -1) \($0.text("text") ?? "")" }
    }

    /// a -> b -> c, and a -> c.other
    private let chain = """
        [graph]
        links = ["a.answer -> b.text", "b.answer -> c.text", "a.answer -> c.other"]
        [node.a]
        type = "relay"
        [node.b]
        type = "relay"
        [node.c]
        type = "relay"

        """

    @Test("Messages follow their links to the right ports") func routes() throws {
        let run = try OfflineRun(chain)
        try run.graph.send(.text("x"), to: "a", port: "text")
        #expect(!run.graph.isIdle)
        run.graph.pump()
        #expect(received(run) == ["a.0 x", "b.0 x>a", "c.1 x>a", "c.0 x>a>b"])
        #expect(run.graph.isIdle)
    }

    @Test("Messages keep their order") func order() throws {
        let run = try OfflineRun(chain)
        for number in 0..<300 { try run.graph.send(.text("\(number)"), to: "b", port: "text") }
        run.graph.pump()
        let all = received(run)
        #expect(all.filter { $0.hasPrefix("b.0") } == (0..<300).map { "b.0 \($0)" })
        #expect(all.filter { $0.hasPrefix("c.0") } == (0..<300).map { "c.0 \($0)>b" })
    }

    @Test("What does not fit into a node's inbox is refused, counted and told, and no other node's refuses")
    func unfit()
        throws
    {
        let run = try OfflineRun(chain)
        for _ in 0..<1024 { try run.graph.send(.text("x"), to: "c", port: "text") }
        for _ in 0..<3 {
            let error = #expect(throws: Fault.self) { try run.graph.send(.text("x"), to: "c", port: "text") }
            #expect(error?.message == "too many messages wait for 'c'")
        }
        // What it sends on to the full one is refused, too.
        try run.graph.send(.text("x"), to: "b", port: "text")
        run.graph.pump()
        let refusals = run.events("messages.refused")
        #expect(refusals.map { $0.integer("count") } == [4] && refusals.map(\.node) == ["c"])
        #expect(run.graph.status.counters["c"] == ["refused messages": 4])
        try run.graph.send(.text("x"), to: "c", port: "text")
        run.graph.pump()
        run.graph.pump()
        // Told once, not at every pump.
        #expect(run.events("messages.refused").isEmpty)
    }

    @Test("A node learns that it sends too much, and every refusal counts") func tooMany() throws {
        // Each message goes to two inputs of one node and one of another.
        let run = try OfflineRun(
            chain.replacingOccurrences(
                of: "[node.a]\ntype = \"relay\"", with: "[node.a]\ntype = \"relay\"\nburst = 1100"))
        let events = run.published.drain()
        let taken = events.compactMap { if case .event(let event) = $0 { event.integer("taken") } else { nil } }
        #expect(taken == [1024])
        run.graph.pump()
        #expect(run.events("messages.refused").map { $0.integer("count") } == [76, 76 + 1024])
    }

    /// A loop of messages has no end; a pump has.
    @Test("A loop of messages does not hold up the rest", arguments: ["b", "a"]) func messageLoop(other: String) throws
    {
        let run = try OfflineRun(
            """
            [graph]
            links = ["a.answer -> \(other).text", "\(other).answer -> a.text"]
            [node.a]
            type = "relay"
            [node.b]
            type = "relay"
            """)
        try run.graph.send(.text(""), to: "a", port: "text")
        run.graph.pump()
        #expect(received(run).count > 10)
        #expect(!run.graph.isIdle)
    }

    @Test("Wrong addresses are errors that name the right ones") func wrongAddresses() throws {
        let run = try OfflineRun(chain + "[node.g]\ntype = \"tone\"\n")
        func error(_ node: String, _ port: String) -> Fault? {
            #expect(throws: Fault.self) { try run.graph.send(.text("x"), to: node, port: port) }
        }
        #expect(error("z", "text") == Fault("there is no node 'z'", hint: "nodes: a, b, c, g"))
        #expect(
            error("a", "answer") == Fault("node 'a' has no message input 'answer'", hint: "it has: text, other"))
        #expect(error("g", "text") == Fault("node 'g' has no message input 'text'", hint: "it takes no messages"))
    }
}
