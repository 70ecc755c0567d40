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
        let before = try await session.plays()
        let start = clock.cycles
        session.run.signal(SIGSTOP)
        try await eventually("a second and a half has passed") { clock.cycles > start + 280 }
        session.run.signal(SIGCONT)
        try await session.until("it is told") { $0.dropouts["stopped"] ?? 0 > 0 }
        let told = clock.cycles
        try await eventually("all that is reported has been reported") { clock.cycles > told + 200 }
        let after = try await session.until("it plays on") { $0.state == "running" && $0.blocks > before.blocks + 100 }
        let dropouts = session.run.lines.filter { $0.hasPrefix("{\"event\":\"dropout\"") }
        let stops = dropouts.filter { $0.contains("\"cause\":\"stopped\"") }
        #expect(stops.count == 1 && stops[0].contains(/"text":"the program was stopped for \d\.\d\d s"/), "\(stops)")
        // Nothing else explains a second and a half; what this machine does besides takes some blocks.
        let others = dropouts.filter { !$0.contains("\"cause\":\"stopped\"") }
        #expect(others.allSatisfy { !$0.contains(/"took":[1-9][\d.]*[,}]/) }, "\(others)")
        // jackd reports each of some dozens that fit into its socket.
        #expect(after.xruns - before.xruns < 20, "\(after.xruns) xruns, \(before.xruns) before")
        #expect(session.count("stalled") == 0 && session.count("server.lost") == 0)
        try await session.end()
        clock.close()
        server.stop()
    }
}
