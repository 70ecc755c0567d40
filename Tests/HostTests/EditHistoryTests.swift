// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile
import NodeKit
import TestSupport

@testable import Host

/// Edits that are taken back and done again, as a host is asked for it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct EditHistoryTests {
    private static let graph = """
        [graph]
        name = "history"
        links = ["tone -> gain"]
        [node.tone]
        type = "tone"
        [node.gain]
        type = "gain"
        [node.agent]
        type = "agent"
        mood = "calm"
        """

    private func play(_ body: (Host) async throws -> Void) async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host(registry: testRegistry)
        try await host.load(try scratch.write("graph.conf", Self.graph))
        try await host.run(DriverRequest(kind: .dummy, client: "history"))
        try await body(host)
        await host.close()
        turn.end()
    }

    /// The graph as its file would be.
    private func text(_ host: Host) async throws -> String { try await host.text() }

    /// What calls at once did: the steps that they went, and how often there was none.
    private func atOnce(
        _ count: Int, _ call: @escaping @Sendable () async throws -> String
    ) async -> (steps: Set<String>, refused: Int) {
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<count { group.addTask { try? await call() } }
            var steps: [String?] = []
            for await step in group { steps.append(step) }
            return (Set(steps.compactMap { $0 }), steps.count { $0 == nil })
        }
    }

    @Test("Of calls at once each takes back a step of its own, and the rest is told that there is none")
    func atOnce() async throws {
        try await play { host in
            let first = try await text(host)
            try await host.add(NodeDescription(name: "low", type: "gain"))
            try await host.link("tone -> low")
            try await host.turn("gain", "gain_db", to: .number(-6))
            let last = try await text(host)
            for _ in 0..<4 {
                let back = await atOnce(6) { try await host.undo().step }
                #expect(back.steps == ["add low", "link tone -> low", "set gain.gain_db"] && back.refused == 3)
                #expect(try await text(host) == first)
                let again = await atOnce(6) { try await host.redo().step }
                #expect(again.steps == back.steps && again.refused == 3)
                #expect(try await text(host) == last)
            }
        }
    }

    @Test("Edits and calls that take them back may come at once; all that is done can be taken back")
    func mixed() async throws {
        try await play { host in
            let first = try await text(host)
            for number in 100..<108 { try await host.add(NodeDescription(name: "more\(number)", type: "gain")) }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        switch number % 5 {
                        case 0: _ = try? await host.undo()
                        case 1: _ = try? await host.redo()
                        case 2: _ = try? await host.turn("gain", "gain_db", to: .number(Double(-number)))
                        default:
                            _ = try? await host.add(NodeDescription(name: "more\(number)", type: "gain"))
                            _ = try? await host.link("tone -> more\(number)")
                        }
                    }
                }
            }
            while (try? await host.redo()) != nil {}
            let last = try await text(host)
            #expect(last != first)
            var steps = 0
            while let (step, difference) = try? await host.undo() {
                steps += 1
                // A step is its own change, and nothing of what was asked for at the same time.
                switch step.prefix(3) {
                case "add":
                    #expect(difference.removed == [String(step.dropFirst(4))] && difference.unlinked == 0, "\(step)")
                case "lin": #expect(difference.removed == [] && difference.unlinked == 1, "\(step)")
                default: #expect(difference.removed == [] && difference.parameters == 1, "\(step)")
                }
            }
            #expect(try await text(host) == first)
            for _ in 0..<steps { try await host.redo() }
            #expect(try await text(host) == last)
        }
    }

    @Test("A node that is put into a link is one step; a link that there is not is refused") func between() async throws
    {
        try await play { host in
            func links() async -> [String] {
                await host.description?.links.map { "\($0.from) -> \($0.to) \($0.gainDB)" } ?? []
            }
            let first = try await text(host)
            try await host.link("tone -> gain", gainDB: -6)
            let before = await links()
            try await host.add(NodeDescription(name: "low", type: "gain"), into: "tone -> gain")
            #expect(
                await links()
                    == before.flatMap { $0 == "tone -> gain -6.0" ? ["tone -> low -6.0", "low -> gain 0.0"] : [$0] })
            #expect(try await host.undo().step == "add low into tone -> gain")
            #expect(await links() == before)
            await #expect(throws: Fault.self) {
                try await host.add(NodeDescription(name: "low", type: "gain"), into: "gain -> tone")
            }
            try await host.undo()
            #expect(try await text(host) == first)
        }
    }

    @Test("What a node refuses is no step") func refused() async throws {
        try await play { host in
            await #expect(throws: Fault.self) { try await host.change("agent", "mood", to: .string("gloomy")) }
            await #expect(
                throws: Fault("there is nothing to take back", hint: "nothing was changed since the run began")
            ) {
                try await host.undo()
            }
            try await host.change("agent", "mood", to: .string("curt"))
            #expect(try await host.undo().step == "set agent.mood")
            #expect(
                await host.description?.nodes.first { $0.name == "agent" }?.entries["mood"]?.value == .string("calm"))
        }
    }

    @Test("A knob that is moved is one step; a hundred steps are kept") func kept() {
        var history = EditHistory()
        func turned(_ key: String, _ value: Float) -> EditHistory.Step {
            EditHistory.Step(title: "set a.\(key)", before: nil, values: [.init(node: "a", key: key): value])
        }
        let number = history.add(turned("gain", 1))
        #expect(history.add(turned("gain", 2)) == number, "within a second")
        var later = turned("gain", 3)
        later.time = .now + .seconds(2)
        #expect(history.add(later) != number)
        #expect(history.take(.back)?.values.values.first == 3)
        let first = history.take(.back)
        #expect(first?.values.values.first == 1, "what it was before it was moved")
        #expect(history.take(.back) == nil)
        for key in 0..<120 { history.add(turned("key\(key)", 0)) }
        var titles: [String] = []
        while let step = history.take(.back) { titles.append(step.title) }
        #expect(titles.count == EditHistory.limit && titles.first == "set a.key119" && titles.last == "set a.key20")
    }
}
