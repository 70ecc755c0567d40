// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import TestSupport
import Testing

@testable import Host

@Suite("Actions called by nodes", .timeLimit(.minutes(2))) struct CallTests {
    private let graph = """
        [graph]
        [node.agent]
        type = "agent"
        [node.caller]
        type = "caller"
        allow = ["agent.speak", "agent.remember", "agent.promise", "agent.refuse", "agent.none", "gone.say", "caller.ask"]
        [node.other]
        type = "caller"

        """

    private func ask(
        _ run: OfflineRun, _ node: String, _ action: String, text: String? = nil, of caller: String = "caller"
    ) throws(NodeError) -> [String: SettingValue] {
        var arguments: [String: SettingValue] = ["node": .string(node), "action": .string(action)]
        if let text { arguments["text"] = .string(text) }
        if action == "promise" { arguments["seconds"] = .number(0.05) }
        let instance: NodeInstance
        do { instance = try run.graph.instance(caller) } catch { throw NodeError("\(error)") }
        guard case .table(let results)? = try instance.performAndWait("ask", arguments)["results"] else { return [:] }
        return results
    }

    @Test("A node does what the file allows to another one, and has the results") func allowed() throws {
        let run = try OfflineRun(graph)
        #expect(try ask(run, "agent", "speak", text: "hello") == [:])
        #expect(try ask(run, "agent", "remember") == ["words": .string("hello")])
        let looked = try run.graph.instance("caller").performAndWait("look", ["node": .string("agent")])
        #expect(looked["actions"] == .list(["remember", "forget", "speak", "promise", "refuse"].map { .string($0) }))
    }

    @Test("What the file does not allow is refused, and nothing is done") func refused() throws {
        let run = try OfflineRun(graph)
        let error = #expect(throws: NodeError.self) { try ask(run, "agent", "speak", text: "no", of: "other") }
        #expect(error?.message == "the file does not allow 'other' to call agent.speak")
        #expect(error?.hint == "allow = [\"agent.speak\"] allows it")
        #expect(throws: NodeError.self) { try ask(run, "agent", "forget") }
        #expect(try ask(run, "agent", "remember") == ["words": .string("")])
    }

    @Test(
        "What cannot be done is told with the reason",
        arguments: [
            ("agent", "refuse", "it will not"), ("agent", "none", "nodes of type agent have no action 'none'"),
            ("agent", "speak", "'speak' needs 'text'"), ("gone", "say", "there is no other node 'gone'"),
            ("caller", "ask", "there is no other node 'caller'"),
        ])
    func faults(node: String, action: String, message: String) throws {
        let run = try OfflineRun(graph)
        let error = #expect(throws: NodeError.self) { try ask(run, node, action) }
        #expect(error?.message == message)
    }

    @Test("An action that does not end is given up, and so many at once are refused") func bounded() throws {
        let run = try OfflineRun(graph)
        let caller = try run.graph.instance("caller")
        let failures = Lock<[String]>([])
        let promise: [String: SettingValue] = ["node": .string("agent"), "action": .string("promise")]
        for _ in 0..<Int(VG_MOST_CALLS) + 1 {
            caller.perform("ask", promise) { result in
                if case .failure(let error) = result { failures.withLock { $0.append(error.message) } }
            }
            run.graph.pump()
        }
        #expect(failures.withLock { $0 } == ["'caller' waits for 16 actions already"])
        // Those are ended with the graph, and others may be asked then.
        run.graph.stop()
    }

    @Test("After an edit the new file decides what is allowed") func edited() throws {
        let run = try OfflineRun(graph)
        try run.edit { description in
            let index = description.nodes.firstIndex { $0.name == "other" }!
            description.nodes[index].entries["allow"] = Entry(.string("agent.speak"))
            description.nodes[index].keys = ["allow"]
        }
        #expect(try ask(run, "agent", "speak", text: "now", of: "other") == [:])
        #expect(try ask(run, "agent", "remember") == ["words": .string("now")])
    }

    @Test("Where a node runs without others it is told that there is nothing to call") func alone() throws {
        let type = makeNodeType(Caller.self)
        let node = try NodeInstance(type: type, name: "caller", settings: Settings())
        try node.prepare(Preparation(rate: 48000, maxBlock: 64))
        let error = #expect(throws: NodeError.self) {
            try node.performAndWait("ask", ["node": .string("agent"), "action": .string("speak")])
        }
        #expect(error?.message == "actions of other nodes are not available here")
        #expect(throws: NodeError.self) { try node.performAndWait("look", ["node": .string("agent")]) }
    }
}
