// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Servers that are joined by NetJACK: one end dies, then the cable is pulled, then the other end dies. Row 13.
@Suite("Faults of a network", .serialized, .timeLimit(.minutes(10)))
struct NetworkTests {
    private static let names = ["vgt-net-1", "vgt-net-2"]

    /// The server whose clock both ends follow.
    private func master(_ network: Network) async throws -> Program {
        let server = try network.start(0, "jackd", "-n", Self.names[0], "-r", "-d", "dummy", "-r", "48000", "-p", "256")
        try await eventually("the master serves the network") {
            let environment = ["JACK_DEFAULT_SERVER": Self.names[0], "JACK_NO_START_SERVER": "1"]
            return try await runTool(["jack_load", "netmanager"], environment: environment).status == 0
        }
        return server
    }

    private func slave(_ network: Network) throws -> Program {
        try network.start(1, "jackd", "-n", Self.names[1], "-r", "-d", "net", "-l", "2", "-n", "far")
    }

    private func die(_ server: Program) async throws {
        server.signal(SIGKILL)
        try await server.end()
    }

    /// What the master's jack_lsp says.
    private func list(_ arguments: String...) async throws -> ToolResult {
        try await runTool(
            ["jack_lsp"] + arguments,
            environment: ["JACK_DEFAULT_SERVER": Self.names[0], "JACK_NO_START_SERVER": "1"])
    }

    private func isJoined() async throws -> Bool {
        let output = try await list("-c", "near").output
        return ["near:out_1\n   far", "near:out_2\n   far", "near:mic_1\n   far"].allSatisfy(output.contains)
    }

    /// Whether the server at this end has the ports of the one at the other end: NetJACK's doing, not ours.
    private func isAttached() async throws -> Bool {
        try await list("far").output.contains("to_slave_2")
    }

    /// Waits until the servers are joined and the runs at both ends hear each other. NetJACK does not always manage to
    /// join them by itself, or parts them again: then its user starts the slave again, and the master where that takes no
    /// clients any more (jackd 1.9.21 can keep a slave of which half is gone). What is ours is what follows once it has
    /// joined them. Returns how often the master was started again.
    @discardableResult
    private func healed(
        _ what: String, _ near: inout Program, _ far: inout Program, _ network: Network, _ sessions: [Session]
    ) async throws -> Int {
        /// Since when they are joined.
        var start: ContinuousClock.Instant?
        var failures = 0
        var masters = 0
        while true {
            if (try? await eventually("the slave is attached", seconds: 25) { try await isAttached() }) != nil {
                start = start ?? .now
                if (try? await eventually("they hear each other", seconds: 20) { try await isJoined() }) != nil {
                    break
                }
            }
            failures += 1
            if failures == 4 {
                let all = try await list("-c").output
                throw NeverHappened(description: "\(what): connections are back; there are:\n\(all)")
            }
            // Attached, and still nobody hears anything: another try is for us alone.
            if try await isAttached() { continue }
            start = nil
            if try await list("far").status != 0 {
                print("figure: the master takes no clients any more; it is started again")
                try await die(near)
                near = try await master(network)
                masters += 1
            }
            print("figure: NetJACK did not join the servers; the slave is started again")
            try await die(far)
            far = try slave(network)
        }
        for session in sessions {
            let blocks = try await session.status().blocks
            try await session.until("\(what): cycles come") { $0.state == "running" && $0.blocks > blocks }
        }
        within(3, (start ?? .now).duration(to: .now), what)
        return masters
    }

    private func goesOn(_ session: Session) async throws {
        let blocks = try await session.status().blocks
        try await session.until("local audio goes on") { $0.blocks > blocks + 100 && $0.state == "running" }
    }

    @Test(
        "13: a slave, the link and a master come back, and so do all connections; local audio goes on meanwhile",
        .enabled(
            if: Network.isPossible, "needs root, the command ip and a kernel that lets it make network namespaces"))
    func heals() async throws {
        let network = try Network()
        var near = try await master(network)
        var far = try slave(network)
        let local = try Session(
            toneGraph("local", to: "system:playback_*", from: "system:capture_1"), server: Self.names[0])
        let joined = try Session(
            toneGraph("near", to: "far*:to_slave_*", from: "far*:from_slave_1"), server: Self.names[0])
        try await eventually("the slave is attached", seconds: 60) { try await isJoined() }
        let remote = try Session(
            toneGraph("remote", to: "system:playback_*", from: "system:capture_1"), server: Self.names[1])
        for session in [local, joined, remote] { try await session.plays() }

        try await die(far)
        try await remote.run.wait("the loss is told") { _ in remote.count("server.lost") == 1 }
        try await goesOn(local)
        far = try slave(network)
        var masters = try await healed("attached after a slave's return", &near, &far, network, [joined, remote])

        try network.unplug(1)
        try await eventually("the other end is away") { try await !isJoined() }
        try await remote.run.wait("it has noticed") { _ in remote.count("stalled") > 0 }
        try await goesOn(local)
        try network.plug(1)
        masters += try await healed("attached after the link's return", &near, &far, network, [joined, remote])
        // Whoever waits for a network that is away stands still for seconds, as the joined one does.
        #expect(local.count("stalled") == 0 && local.count("server.lost") == masters)

        let losses = [local, joined].map { ($0, $0.count("server.lost")) }
        try await die(near)
        for (session, losses) in losses {
            try await session.run.wait("the loss is told") { _ in session.count("server.lost") == losses + 1 }
        }
        near = try await master(network)
        try await healed("attached after a master's return", &near, &far, network, [local, joined, remote])
        for session in [local, joined, remote] { try await session.end() }
        try await die(far)
        try await die(near)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
        where Self.names.contains(where: { name.contains("_\($0)_") }) {
            try FileManager.default.removeItem(atPath: "/dev/shm/" + name)
        }
    }
}
