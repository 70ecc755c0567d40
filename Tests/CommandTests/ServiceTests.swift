// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A run that a service manager has started: the test is the manager.
@Suite("Services", .serialized, .timeLimit(.minutes(5)))
struct ServiceTests {
    private func start(
        _ socket: NotifySocket, _ graph: String, watchdog microseconds: Int? = nil, driver: [String]
    ) throws -> Program {
        var environment = ["NOTIFY_SOCKET": socket.name]
        environment["WATCHDOG_USEC"] = microseconds.map(String.init)
        return try Program(
            [Program.voicegraph, "run", graph, "--json"] + driver, environment: environment)
    }

    private let dummy = ["--driver", "dummy"]

    @Test("A run is ready when it plays, says how it is, and that it ends", arguments: [false, true])
    func life(abstract: Bool) async throws {
        let scratch = try Scratch()
        let socket = try NotifySocket(abstract: abstract)
        let run = try start(socket, scratch.write("graph.conf", endless), driver: dummy)
        try await eventually("it is ready") { socket.count("READY=1") == 1 }
        // The first thing that is said, and said when it plays.
        #expect(socket.received.first?.first == "READY=1")
        #expect(run.output.contains("\"event\":\"running\""))
        #expect(socket.status.hasPrefix("endless: "), "\(socket.status)")
        #expect(socket.status.contains("48 kHz") && !socket.status.contains("not well"), "\(socket.status)")
        // Nobody waits for it.
        #expect(socket.count("WATCHDOG=1") == 0)
        for child in run.children() {
            let environment = contents("/proc/\(child)/environ")
            #expect(!environment.isEmpty && !environment.contains("NOTIFY_SOCKET="))
        }
        #expect(socket.count("STOPPING=1") == 0)
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
        #expect(socket.received.last?.first == "STOPPING=1" && run.errors.isEmpty, "\(run.errors)")
    }

    @Test("A graph that is refused is never ready") func refused() async throws {
        let scratch = try Scratch()
        let socket = try NotifySocket()
        let run = try start(socket, scratch.write("graph.conf", "[graph"), driver: dummy)
        #expect(try await run.end() == 1)
        #expect(socket.received.isEmpty)
    }

    @Test("The watchdog is fed while the run turns, not while it is stopped, and again when it goes on")
    func watchdog() async throws {
        let scratch = try Scratch()
        let socket = try NotifySocket()
        let run = try start(socket, scratch.write("graph.conf", endless), watchdog: 400_000, driver: dummy)
        try await eventually("it is fed") { socket.count("WATCHDOG=1") >= 4 }
        run.signal(SIGSTOP)
        try await run.wait("it is stopped") { run in
            let stat = try String(contentsOfFile: "/proc/\(run.processID)/stat", encoding: .utf8)
            return stat.contains(") T ")
        }
        let before = socket.count("WATCHDOG=1")
        try await Task.sleep(for: .milliseconds(800))
        #expect(socket.count("WATCHDOG=1") == before)
        run.signal(SIGCONT)
        try await eventually("it is fed again") { socket.count("WATCHDOG=1") > before + 1 }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("A server that hangs is no reason to end the run: the watchdog is fed, and the status tells it")
    func hungServer() async throws {
        let scratch = try Scratch()
        let server = try await Jackd.start()
        defer { server.stop() }
        let socket = try NotifySocket()
        let run = try start(
            socket, scratch.write("graph.conf", endless), watchdog: 400_000,
            driver: ["--driver", "jack", "--server", server.name])
        try await eventually("it is ready") { socket.count("READY=1") == 1 }
        server.hang()
        try await eventually("the status tells it") { socket.status.contains("the server does not call") }
        let before = socket.count("WATCHDOG=1")
        try await eventually("it is fed all the same") { socket.count("WATCHDOG=1") >= before + 5 }
        #expect(socket.status.contains("the server does not call"))
        server.unhang()
        try await eventually("the status is as it was") { !socket.status.contains("the server does not call") }
        server.crash()
        try await eventually("its end is told, too") { socket.status.contains("the server is gone") }
        let later = socket.count("WATCHDOG=1")
        try await eventually("it is fed without a server") { socket.count("WATCHDOG=1") >= later + 3 }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("A file that is read again is told, with its moment, and why it was not taken") func reload() async throws {
        let scratch = try Scratch()
        let graph = try scratch.write("graph.conf", endless)
        let socket = try NotifySocket()
        let run = try start(socket, graph, watchdog: 1_000_000, driver: dummy)
        try await eventually("it is ready") { socket.count("READY=1") == 1 }
        run.signal(SIGHUP)
        try await eventually("it is ready again") { socket.count("READY=1") == 2 }
        let told = try #require(socket.received.first { $0.first == "RELOADING=1" })
        let moment = try #require(told.last?.wholeMatch(of: /MONOTONIC_USEC=(\d+)/).flatMap { UInt64($0.1) })
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        #expect(moment <= microseconds && moment > microseconds - 60_000_000)
        #expect(!socket.status.contains("the file was not taken"))
        try scratch.write("graph.conf", endless.replacing("type = \"gain\"", with: "type = \"gian\""))
        run.signal(SIGHUP)
        try await eventually("the status says why") {
            socket.count("READY=1") == 3 && socket.status.contains("the file was not taken: unknown node type 'gian'")
        }
        try scratch.write("graph.conf", endless)
        run.signal(SIGHUP)
        try await eventually("all is well again") {
            socket.count("READY=1") == 4 && !socket.status.contains("the file was not taken")
        }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("A manager that cannot be told is named once, and the run goes on") func unreachable() async throws {
        let scratch = try Scratch()
        let run = try Program(
            [Program.voicegraph, "run", scratch.write("graph.conf", endless), "--driver", "dummy", "--json"],
            environment: ["NOTIFY_SOCKET": scratch.file("nobody"), "WATCHDOG_USEC": "200000"])
        try await run.plays()
        try await run.wait("it is said") { $0.errors.contains("cannot tell the service manager") }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0)
        #expect(run.errors == "voicegraph: cannot tell the service manager READY=1: No such file or directory\n")
    }

    private static let hasSystemd = FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")

    @Test("The unit for systemd is one that systemd takes", .enabled(if: hasSystemd, "needs systemd-analyze"))
    func unit() async throws {
        let scratch = try Scratch()
        let text = try String(contentsOfFile: packageRoot + "/packaging/voicegraph@.service", encoding: .utf8)
        let folder = URL(fileURLWithPath: Program.voicegraph).deletingLastPathComponent().path
        let unit = try scratch.write("voicegraph@.service", text.replacing("@BINDIR@", with: folder))
        let instance = scratch.file("voicegraph@voice.service")
        try FileManager.default.createSymbolicLink(atPath: instance, withDestinationPath: unit)
        let checked = try await runTool(
            ["systemd-analyze", "verify", "--user", "--man=no", "--recursive-errors=yes", instance],
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        // Of other units of this machine it says things, too.
        let found = checked.output.split(separator: "\n").filter { $0.contains("voicegraph") }
        #expect(found.isEmpty, "\(checked.output)")
    }
}
