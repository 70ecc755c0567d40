// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit
import TestSupport

@testable import Host

/// Settings that are changed while their nodes play, as a host is asked for it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct LiveSettingTests {
    private static func graph(mood: String) -> String {
        """
        [graph]
        name = "live-settings"
        links = ["tone -> slow"]
        [node.tone]
        type = "tone"
        [node.slow]
        type = "slow"
        [node.agent]
        type = "agent"
        mood = "\(mood)"
        """
    }

    private func mood(_ host: Host) async -> SettingValue? {
        await host.description?.nodes.first { $0.name == "agent" }?.entries["mood"]?.value
    }

    private func play(_ body: (Host, Scratch, String) async throws -> Void) async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", Self.graph(mood: "calm"))
        let host = Host(registry: testRegistry)
        try await host.load(file)
        try await host.run(DriverRequest(kind: .dummy, client: "live-settings"))
        try await body(host, scratch, file)
        await host.close()
        turn.end()
    }

    @Test("What a node refuses is told to whoever asks for it, and nothing has changed") func refused() async throws {
        try await play { host, _, _ in
            let events = host.subscribe(.lossless) {
                if case .event(let event) = $0 { ["mood", "graph.changed"].contains(event.name) } else { false }
            }
            try await eventually("its mood is told") { events.poll() != nil }
            let error = await #expect(throws: Fault.self) {
                try await host.change("agent", "mood", to: .string("gloomy"))
            }
            #expect(error == Fault("node 'agent': is never gloomy", hint: "try curt"))
            #expect(await mood(host) == .string("calm"))
            #expect(events.poll() == nil)
            #expect(try await host.change("agent", "mood", to: .string("curt")).settings == 1)
            #expect(await mood(host) == .string("curt"))
            let told = events.drain().compactMap { if case .event(let event) = $0 { event.name } else { nil } }
            #expect(told == ["mood", "graph.changed"])
        }
    }

    @Test("What a node refuses of a file that is read again is a warning at its place, and the rest is taken")
    func reloaded() async throws {
        try await play { host, scratch, file in
            let text = Self.graph(mood: "gloomy") + "\n[node.more]\ntype = \"slow\"\n"
            _ = try scratch.write("graph.conf", text)
            for count in [1, 0] {
                let done = try await host.reload()
                let warning = try #require(done.warnings.first { $0.message.contains("gloomy") })
                #expect(warning.severity == .warning && warning.location.file == file && warning.location.line == 10)
                #expect(warning.message == "node 'agent': 'mood' stays as it was: is never gloomy")
                #expect(done.settings == 0 && done.added.count == count)
                #expect(await mood(host) == .string("calm"))
            }
        }
    }

    @Test("A busy node keeps whoever sets it waiting, and nobody else") func busy() async throws {
        try await play { host, _, _ in
            async let slept: [String: SettingValue] = host.perform("sleep", on: "slow", ["seconds": .number(5)])
            try await eventually("it sleeps") { try await host.isBusy("slow") }
            let isSet = Lock(false)
            async let set: GraphDifference = {
                defer { isSet.withLock { $0 = true } }
                return try await host.change("slow", "pace", to: .number(2))
            }()
            try await host.mute("tone")
            try await host.change("agent", "mood", to: .string("curt"))
            #expect(!isSet.withLock { $0 })
            #expect(try await host.isBusy("slow"))
            _ = try await slept
            #expect(try await set.settings == 1)
        }
    }
}
