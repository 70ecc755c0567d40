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

    /// What the master's jack_lsp says. One that waits for the server for ever, as it does now and then while a slave
    /// joins, is killed: then nil, as when it fails.
    private func list(_ arguments: String...) async throws -> String? {
        let environment = ["JACK_DEFAULT_SERVER": Self.names[0], "JACK_NO_START_SERVER": "1"]
        do {
            let result = try await runTool(["jack_lsp"] + arguments, environment: environment, seconds: 60)
            return result.status == 0 ? result.output : nil
        } catch is NeverHappened {
            print("figure: the master left jack_lsp without an answer")
            return nil
        }
    }

    private func isJoined() async throws -> Bool {
        guard let output = try await list("-c", "near") else { return false }
        return ["near:out_1\n   far", "near:out_2\n   far", "near:mic_1\n   far"].allSatisfy(output.contains)
    }

    /// Whether the server at this end has the ports of the one at the other end: NetJACK's doing, not ours.
    private func isAttached() async throws -> Bool {
        try await list("far")?.contains("to_slave_2") == true
    }

    /// Waits until NetJACK has joined the servers, which it does not always manage.
    private func attach() async throws {
        do {
            try await eventually("the slave is attached", seconds: 60) { try await isAttached() }
        } catch is NeverHappened {
            throw NetJACKFailed(description: "it did not join the servers")
        }
    }

    /// Waits until the runs at both ends hear each other. What is ours is what follows once the servers are joined.
    private func healed(_ what: String, _ sessions: [Session]) async throws {
        try await attach()
        let start = ContinuousClock.now
        do {
            try await eventually("\(what): they hear each other", seconds: 60) { try await isJoined() }
        } catch is NeverHappened {
            guard try await isAttached() else { throw NetJACKFailed(description: "it parted the servers again") }
            let all = try await list("-c") ?? ""
            guard Connections(all).areMutual else { throw NetJACKFailed(description: "it mixed up ports:\n\(all)") }
            throw NeverHappened(description: "\(what): connections are back; there are:\n\(all)")
        }
        for session in sessions {
            let blocks = try await session.status().blocks
            try await session.until("\(what): cycles come") { $0.state == "running" && $0.blocks > blocks }
        }
        within(3, start.duration(to: .now), what)
    }

    /// Waits until a run at the unplugged end stands still. Where the server calls it on and on, that is not its doing.
    private func standsStill(_ session: Session) async throws {
        do {
            try await eventually("it has noticed") { session.count("stalled") > 0 }
        } catch is NeverHappened {
            let blocks = try await session.status().blocks
            try await eventually("a cycle came, or it was told that none does") {
                try await session.status().blocks > blocks
            }
            throw NetJACKFailed(description: "the slave's cycles went on without a link")
        }
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
        // jackd 1.9.21 fails at this by itself now and then: then all begins anew.
        for attempt in 1...5 {
            do {
                try await pass()
                return
            } catch let failure as NetJACKFailed where attempt < 5 {
                print("figure: NetJACK failed, all begins anew: \(failure)")
            }
        }
    }

    private func pass() async throws {
        let network = try Network()
        var (near, far) = (try await master(network), try slave(network))
        try await attach()
        let local = try Session(
            toneGraph("local", to: "system:playback_*", from: "system:capture_1"), server: Self.names[0])
        let joined = try Session(
            toneGraph("near", to: "far*:to_slave_*", from: "far*:from_slave_1"), server: Self.names[0])
        for session in [local, joined] { try await session.plays() }
        try await healed("attached at the start", [local, joined])
        let remote = try Session(
            toneGraph("remote", to: "system:playback_*", from: "system:capture_1"), server: Self.names[1])
        try await remote.plays()

        try await die(far)
        try await remote.run.wait("the loss is told") { _ in remote.count("server.lost") == 1 }
        try await goesOn(local)
        far = try slave(network)
        try await healed("attached after a slave's return", [joined, remote])

        try network.unplug(1)
        try await eventually("the other end is away", seconds: 60) { try await !isJoined() }
        try await standsStill(remote)
        try await goesOn(local)
        try network.plug(1)
        try await healed("attached after the link's return", [joined, remote])
        // Whoever waits for a network that is away stands still for seconds, as the joined one does.
        #expect(local.count("stalled") == 0 && local.count("server.lost") == 0)

        try await die(near)
        for session in [local, joined] {
            try await session.run.wait("the loss is told") { _ in session.count("server.lost") > 0 }
        }
        near = try await master(network)
        try await healed("attached after a master's return", [local, joined, remote])
        for session in [local, joined, remote] { try await session.end() }
        try await die(far)
        try await die(near)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
        where Self.names.contains(where: { name.contains("_\($0)_") }) {
            try FileManager.default.removeItem(atPath: "/dev/shm/" + name)
        }
    }
}

/// What jackd did, and no run of ours can mend.
struct NetJACKFailed: Error, CustomStringConvertible {
    let description: String
}

/// Who is connected to whom, as `jack_lsp -c` prints it: a port, and indented below it those at its other end.
private struct Connections {
    private var peers: [Substring: Set<Substring>] = [:]

    init(_ list: String) {
        var port: Substring = ""
        for line in list.split(separator: "\n") {
            if line.hasPrefix("   ") {
                peers[port, default: []].insert(line.dropFirst(3))
            } else {
                port = line
            }
        }
    }

    /// Whether each port that hears another is also named there.
    var areMutual: Bool {
        peers.allSatisfy { port, others in others.allSatisfy { peers[$0]?.contains(port) == true } }
    }
}
