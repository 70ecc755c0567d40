// SPDX-License-Identifier: Apache-2.0
import Drivers
import Foundation
import GraphFile
import NodeKit
import TestSupport
import Testing

@testable import Host

/// What other programs are told of our latency, on a real server.
@Suite("Latency that JACK is told", .serialized, .timeLimit(.minutes(5)))
struct LatencyTests {
    private static let text = """
        [graph]
        name = "latency-test"
        links = ["mic -> late -> out", "mic -> dry", "tone -> alone"]
        [node.mic]
        type = "input"
        [node.late]
        type = "late"
        [node.out]
        type = "output"
        channels = 1
        [node.dry]
        type = "output"
        channels = 1
        [node.tone]
        type = "tone"
        [node.alone]
        type = "output"
        channels = 1
        """

    /// The latencies of a port, as `jack_lsp -l` prints them: "playback", "capture" -> "min max".
    private func latencies(_ port: String, _ server: Jackd) async throws -> [String: String] {
        var result: [String: String] = [:]
        for line in try await server.tool("jack_lsp", "-l", port).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 6, words[2] == "latency" else { continue }
            result[words[1]] = words[5] + " " + words[6]
        }
        return result
    }

    private func shows(_ port: String, _ kind: String, _ range: String, _ server: Jackd, _ graph: RunningGraph)
        async throws
    {
        try await eventually("\(port) has \(kind) latency \(range)") {
            graph.pump()
            return try await latencies("latency-test:\(port)", server)[kind] == range
        }
    }

    @Test("Ports report what is between them, both ways, and follow changes; jack_iodelay measures it")
    func reported() async throws {
        let server = try await Jackd.start()
        defer { server.stop() }
        let driver = try DriverChooser.open(DriverRequest(kind: .jack, client: "latency-test", server: server.name))
        let graph = try RunningGraph.start(try prepared(Self.text, in: Scratch()), on: driver)
        defer { graph.stop() }
        try await shows("out_1", "capture", "1000 1000", server, graph)
        try await shows("mic_1", "playback", "0 1000", server, graph)
        try await shows("dry_1", "capture", "0 0", server, graph)
        try await shows("alone_1", "capture", "0 0", server, graph)

        let meter = try Program(["jack_iodelay"], environment: ["JACK_DEFAULT_SERVER": server.name])
        defer { meter.signal(SIGTERM) }
        try await eventually("the meter has its ports") {
            graph.pump()
            return try await server.tool("jack_lsp").contains("jack_delay:in")
        }
        try await server.tool("jack_connect", "jack_delay:out", "latency-test:mic_1")
        try await server.tool("jack_connect", "latency-test:out_1", "jack_delay:in")
        // Through the loop once: our latency, and one block for the loop.
        try await eventually("\(1000 + 256) frames are measured") {
            graph.pump()
            return meter.output.split(separator: "\n").contains { line in
                let words = line.split(separator: " ")
                return words.count > 1 && words[1] == "frames" && abs((Double(words[0]) ?? 0) - 1256) < 0.5
            }
        }

        try graph.begin { description in
            description.nodes.append(NodeDescription(name: "later", type: "late"))
            description.links.removeAll { $0.to.node == "out" }
            description.links += [("late", "later"), ("later", "out")].map {
                LinkDescription(from: Endpoint($0.0), to: Endpoint($0.1))
            }
        }
        try await shows("out_1", "capture", "2000 2000", server, graph)
        try await shows("mic_1", "playback", "0 2000", server, graph)
    }
}
