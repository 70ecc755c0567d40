// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// The same promises with PipeWire in the place of jackd. Row 14: rows 1 to 3 and 6.
@Suite(
    "Faults under PipeWire", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: PipeWire.isInstalled, "needs pipewire and pw-jack: apt install pipewire-jack"))
struct PipeWireTests {
    private func session(_ graph: String, _ server: PipeWire, _ options: [String] = []) throws -> Session {
        try Session(
            graph, ["--driver", "jack"] + options, through: ["pw-jack"], environment: server.environment)
    }

    private func isConnected(_ server: PipeWire) async throws -> Bool {
        let list = try await runTool(["pw-jack", "jack_lsp", "-c", "faulted"], environment: server.environment)
        return list.output.contains("faulted:out_1\n   room:playback_FL")
            && list.output.contains("faulted:out_2\n   room:playback_FR")
    }

    @Test("14: 1 and 3 under PipeWire: it dies and is back at another rate and block; its block changes meanwhile")
    func deaths() async throws {
        let server = PipeWire(try Scratch())
        try await server.start()
        let session = try session(toneGraph, server)
        try await session.plays()
        try await eventually("all is connected") { try await isConnected(server) }
        try await session.done("ctl", "set", "gain", "gain_db", "-3")
        for (number, (signal, rate, block)) in [(SIGKILL, 44100, 128), (SIGTERM, 48000, 256)].enumerated() {
            try await server.end(signal)
            try await session.run.wait("the loss is told") { _ in session.count("server.lost") == number + 1 }
            let before = try await session.status()
            #expect(before.state == "lost")
            let start = ContinuousClock.now
            try await server.start(rate: rate, block: block)
            let status = try await session.until("audio flows") { $0.state == "running" && $0.blocks > before.blocks }
            within(1, start.duration(to: .now), "audio after a new PipeWire's start, which is waited for too")
            #expect(status.rate == Double(rate) && status.block == block)
            try await eventually("all is connected again") { try await isConnected(server) }
        }
        for block in [64, 100, 8192, 256] {
            try await server.setBlock(block)
            let status = try await session.until("blocks of \(block)") { $0.block == block && $0.state == "running" }
            try await session.until("cycles come") { $0.blocks > status.blocks }
        }
        #expect(try await session.call("ctl", "get", "gain", "gain_db").output == "-3\n")
        try await session.end()
        try await server.end()
    }

    @Test("14: 2 under PipeWire: it hangs, which is told, and goes on, while all calls are answered")
    func hang() async throws {
        let server = PipeWire(try Scratch())
        try await server.start()
        let session = try session(toneGraph, server)
        try await session.plays()
        server.signal(SIGSTOP)
        let start = ContinuousClock.now
        try await session.until("the hang is noticed") { $0.state == "stalled" }
        within(0.5, start.duration(to: .now), "stalled after PipeWire's stop")
        try await session.done("ctl", "set", "gain", "gain_db", "-7")
        server.signal(SIGCONT)
        try await session.until("cycles come again") { $0.state == "running" }
        try await eventually("all is connected") { try await isConnected(server) }
        #expect(try await session.call("ctl", "get", "gain", "gain_db").output == "-7\n")
        try await session.end()
        try await server.end()
    }

    @Test("14: 6 under PipeWire, which tells of no dropouts: a slow node is named, a slow program before us is blamed")
    func causes() async throws {
        let server = PipeWire(try Scratch())
        try await server.start()
        let plugins = try Scratch()
        _ = try await compile("plugins/slow", in: plugins, as: "libvg-slow.so")
        func graph(_ name: String, _ connect: String) -> String {
            """
            [graph]
            name = "\(name)"
            links = ["mic -> slow -> out"]
            [node.mic]
            type = "input"
            channels = 1
            [node.slow]
            type = "slow"
            [node.out]
            type = "output"
            channels = 1
            connect = ["\(connect)"]

            """
        }
        let session = try session(graph("faulted", "room:playback_FL"), server, ["--plugin-path", plugins.path])
        try await session.plays()
        let before = try self.session(graph("before", "faulted:mic_1"), server, ["--plugin-path", plugins.path])
        try await before.plays()
        try await before.run.wait("it comes before ours") { _ in before.count("connected") > 0 }
        try await eventually("the slow node is named") {
            try await session.done("ctl", "set", "slow", "blocks", "\(Int.random(in: 30...50))")
            return session.run.lines.contains {
                $0.contains("\"event\":\"dropout\"") && $0.contains("\"cause\":\"node\"")
                    && $0.contains("\"nodes\":[\"slow\"]")
            }
        }
        try await eventually("the slow program before us is blamed") {
            try await before.done("ctl", "set", "slow", "blocks", "\(Int.random(in: 60...90))")
            return (try await session.status().dropouts["upstream"] ?? 0) > 0
        }
        try await before.end()
        try await session.end()
        try await server.end()
    }
}
