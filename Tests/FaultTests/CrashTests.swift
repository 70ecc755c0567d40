// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A run that crashes is for whoever started it to start again: it has to end for that.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CrashTests {
    @Test(
        "A crash ends the run at once, by its signal and with a line, and its server with it",
        arguments: [
            (SIGSEGV, "SIGSEGV"), (SIGABRT, "SIGABRT"), (SIGBUS, "SIGBUS"), (SIGILL, "SIGILL"), (SIGFPE, "SIGFPE"),
            (SIGTRAP, "SIGTRAP"), (SIGQUIT, "SIGQUIT"),
        ])
    func crash(_ number: Int32, _ name: String) async throws {
        let turn = try await JackTurn.wait()
        let session = try Session(toneGraph, ["--driver", "dummy"], environment: ["SWIFT_BACKTRACE": ""])
        let status = try await session.plays()
        let server = session.run.children()
        #expect(status.ownServer && !server.isEmpty)
        let start = ContinuousClock.now
        session.run.signal(number)
        #expect(try await session.run.end() == -number, "\(session.run.errors)")
        within(1, start.duration(to: .now), "the end after \(name)")
        #expect(session.run.errors.contains("voicegraph: ended by \(name) in the thread '"), "\(session.run.errors)")
        try await eventually("the server is gone") { server.allSatisfy(isGone) }
        // Nothing of it is in the way of the next run.
        let next = try Session(toneGraph, ["--driver", "dummy"])
        #expect(try await next.plays().ownServer)
        try await next.end()
        turn.end()
    }

    /// Gone, or waiting for whoever adopts the orphans to look at its end.
    private func isGone(_ process: pid_t) -> Bool {
        let line = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return line.isEmpty || line.contains(") Z ")
    }

    @Test("A server that hangs when its host is killed is ended by the next run, and one whose host lives is not")
    func orphan() async throws {
        let turn = try await JackTurn.wait()
        let first = try Session(toneGraph, ["--driver", "dummy"])
        try await first.plays()
        let server = try #require(first.run.children().first)
        // As one that waits for a lock for ever.
        kill(server, SIGSTOP)
        first.run.signal(SIGKILL)
        try await first.run.end()
        let second = try Session(toneGraph, ["--driver", "dummy"])
        try await second.plays()
        #expect(isGone(server))
        let third = try Session(toneGraph, ["--driver", "dummy"])
        try await third.plays()
        #expect(try await second.status().state == "running")
        try await second.end()
        try await third.end()
        turn.end()
    }

    @Test("A reader that takes nothing of what is said keeps no dead run")
    func deaf() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let pipe = scratch.file("errors")
        #expect(mkfifo(pipe, 0o600) == 0)
        let end = open(pipe, O_RDWR | O_NONBLOCK)
        defer { close(end) }
        let full = [UInt8](repeating: 32, count: 1 << 16)
        while write(end, full, full.count) > 0 {}
        let session = try Session(
            toneGraph, ["--driver", "dummy"], through: ["bash", "-c", "exec \"$@\" 2> '\(pipe)'", "bash"],
            environment: ["SWIFT_BACKTRACE": ""], in: scratch)
        try await session.plays()
        session.run.signal(SIGSEGV)
        #expect(try await session.run.end() == -SIGSEGV)
        turn.end()
    }
}
