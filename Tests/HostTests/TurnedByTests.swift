// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit
import System
import TestSupport

@testable import Host

/// Who has turned, switched and set what, as a host that plays tells it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct TurnedByTests {
    private static let graph = """
        [graph]
        name = "turned-by"
        links = ["tone -> gain -> silence"]
        [node.tone]
        type = "tone"
        [node.gain]
        type = "gain"
        [node.silence]
        type = "mute"
        [node.agent]
        type = "agent"
        """

    private func play(_ body: (Host, Subscription) async throws -> Void) async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host(registry: testRegistry)
        let told = host.subscribe(.lossless) { if case .event(let event) = $0 { event.turned != nil } else { false } }
        try await host.load(try scratch.write("graph.conf", Self.graph))
        try await host.run(DriverRequest(kind: .dummy, client: "turned-by"))
        try await body(host, told)
        await host.close()
        turn.end()
    }

    @Test("Undo, redo and the file tell what they turn, as those who call with a name do") func authors() async throws {
        try await play { host, told in
            try await host.turn("gain", "gain_db", to: .number(-6))
            #expect(await told.turned(next: 1) == ["gain.gain_db -6 by program"])
            try await host.undo()
            #expect(await told.turned(next: 1) == ["gain.gain_db 0 by undo"])
            try await host.redo()
            #expect(await told.turned(next: 1) == ["gain.gain_db -6 by redo"])
            try await host.reload()
            #expect(await told.turned(next: 1) == ["gain.gain_db 0 by file"])
            try await Author.$current.withValue("surface") { try await host.set("gain", "gain_db", to: -3) }
            #expect(await told.turned(next: 1) == ["gain.gain_db -3 by surface"])
        }
    }

    @Test("Mute and bypass are told as both stand, and to whoever comes later") func switches() async throws {
        try await play { host, told in
            try await host.bypass("gain")
            #expect(await told.turned(next: 1) == ["gain bypassed by program"])
            try await host.mute("gain")
            #expect(await told.turned(next: 1) == ["gain muted bypassed by program"])
            try await host.undo()
            #expect(await told.turned(next: 1) == ["gain bypassed by undo"])
            // It has a switch of its own.
            try await host.mute("silence")
            #expect(await told.turned(next: 1) == ["silence.muted 1 by program"])
            #expect(host.subscribe(.lossless).turned() == ["gain bypassed by undo", "silence.muted 1 by program"])
            try await host.reload()
            #expect(await Set(told.turned(next: 2)) == ["gain by file", "silence.muted 0 by file"])
            // A link is not a switch.
            try await host.unlink("gain -> silence")
            try await host.remove("gain")
            #expect(told.turned() == [])
            #expect(host.subscribe(.lossless).turned() == ["silence.muted 0 by file"])
        }
    }

    @Test("A live setting is told when its node has taken it, and not when it refuses") func settings() async throws {
        try await play { host, told in
            try await host.change("agent", "mood", to: .string("curt"))
            #expect(await told.turned(next: 1) == ["agent.mood is curt by program"])
            await #expect(throws: Fault.self) { try await host.change("agent", "mood", to: .string("gloomy")) }
            try await host.undo()
            #expect(await told.turned(next: 1) == ["agent.mood is calm by undo"])
            #expect(host.subscribe(.lossless).turned() == ["agent.mood is calm by undo"])
        }
    }

    @Test("A file that turns more than the audio thread takes at once is taken whole") func whole() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host(registry: testRegistry)
        func graph(_ decibels: Int) -> String {
            let nodes = (1...40).map { node in
                "[node.mix\(node)]\ntype = \"mix\"\ninputs = 64\n"
                    + (1...64).map { "gain_\($0)_db = \(decibels)\n" }.joined()
            }
            let links = (1...40).map { "\"tone -> mix\($0)\"" }.joined(separator: ", ")
            return "[graph]\nname = \"many\"\nlinks = [\(links)]\n[node.tone]\ntype = \"tone\"\n" + nodes.joined()
        }
        let file = try scratch.write("graph.conf", graph(-20))
        try await host.load(file)
        try await host.run(DriverRequest(kind: .dummy, client: "many"))
        _ = try scratch.write("graph.conf", graph(-30))
        try await host.reload()
        for node in 1...40 {
            for input in 1...64 { #expect(try await host.value("mix\(node)", "gain_\(input)_db") == -30) }
        }
        await host.close()
        turn.end()
    }

    @Test("Of a thousand turns one after another few are told, the last among them") func many() async throws {
        try await play { host, told in
            let start = monotonicSeconds()
            for number in 1...1000 { try await host.set("gain", "gain_db", to: -Float(number) / 10) }
            var moved: [String] = []
            while moved.last != "gain.gain_db -100 by program" { moved += await told.turned(next: 1) }
            // On a busy machine it takes longer, and more may be told.
            let most = 2 + Int((monotonicSeconds() - start) / TurnedValues.pause)
            #expect(moved.count <= most, "\(moved.count) events, at most \(most)")
            #expect(told.turned() == [])
        }
    }
}
