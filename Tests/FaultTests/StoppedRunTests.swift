// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Whoever presses Ctrl-Z stops the run, and nothing else is at fault. Row 16.
@Suite("Faults of a run that is stopped", .serialized, .timeLimit(.minutes(3)))
struct StoppedRunTests {
    @Test(
        "16: a run that was stopped and goes on tells that once, and nothing of what the server reported meanwhile",
        arguments: [true, false])
    func stopped(onOwnServer: Bool) async throws {
        let server = try await Jackd.start(synchronous: false)
        // Counts the time for which it is stopped, whatever this machine does meanwhile.
        let clock = try JackPeer("clock", server: server, inputs: 1)
        let session =
            onOwnServer
            ? try Session(toneGraph, ["--driver", "dummy"]) : try Session(server: server.name)
        try await session.plays()
        // Reports that have nothing to do with a stop, of which a busy machine has many.
        func usual() async throws -> Int {
            let (start, before) = (clock.cycles, try await session.status().xruns)
            try await eventually("two and a half seconds have passed") { clock.cycles > start + 480 }
            return try await session.status().xruns - before
        }
        let earlier = try await usual()
        let before = try await session.status()
        let start = clock.cycles
        session.run.signal(SIGSTOP)
        try await eventually("a second and a half has passed") { clock.cycles > start + 280 }
        session.run.signal(SIGCONT)
        try await session.until("it is told") { $0.dropouts["stopped"] ?? 0 > 0 }
        let told = clock.cycles
        try await eventually("all that is reported has been reported") { clock.cycles > told + 200 }
        let after = try await session.until("it plays on") { $0.state == "running" && $0.blocks > before.blocks + 100 }
        let later = try await usual()
        let dropouts = try session.run.lines.filter { $0.hasPrefix("{\"event\":\"dropout\"") }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
        let stops = dropouts.filter { $0["cause"] as? String == "stopped" }
        let text = stops.first?["text"] as? String ?? ""
        #expect(stops.count == 1 && text.contains(/^the program was stopped for \d+\.\d\d s$/), "\(stops)")
        // Nothing else took as long; what this machine does besides takes some blocks.
        let stop = stops.first?["took"] as? Double ?? 0
        let others = dropouts.filter { $0["cause"] as? String != "stopped" }.map { $0["took"] as? Double ?? .infinity }
        #expect(others.allSatisfy { $0 < 0.9 * stop }, "\(others), and \(stop)")
        // jackd reports each of some dozens that fit into its socket.
        let xruns = after.xruns - before.xruns
        #expect(xruns < 20 + 2 * (earlier + later), "\(xruns) xruns, \(earlier) before and \(later) after that")
        #expect(session.count("stalled") == 0 && session.count("server.lost") == 0)
        try await session.end()
        clock.close()
        server.stop()
    }
}
