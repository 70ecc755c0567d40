// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `--ssh`: a run on another machine, which a real sshd on this one stands for. It has a runtime directory of its own, so
/// that nothing is found without ssh.
@Suite(
    .serialized, .timeLimit(.minutes(5)), .enabled(if: Machine.isPossible, "needs openssh-server and openssh-client"))
struct SSHTests {
    @Test("Calls, events and the list of hosts come through ssh, and no ssh is left behind") func calls() async throws {
        let machine = try await Machine()
        let none = try await machine.call("status", "--ssh", "far")
        #expect(none.code == 1)
        #expect(
            none.errors == "voicegraph: no host is running on far (start one with `voicegraph run FILE`)\n")
        let run = try await machine.run("endless")
        let list = try await machine.call("ctl", "list", "--ssh", "far")
        #expect(list.output == "endless\n" && list.code == 0, "\(list)")
        #expect(try await machine.call("ctl", "list").output == "")
        let status = try await machine.call("status", "--ssh", "far")
        #expect(status.code == 0 && status.output.hasPrefix("graph    endless\n"), "\(status)")
        #expect(try await machine.call("ctl", "--ssh", "far", "set", "gain", "gain_db", "-6.5").code == 0)
        #expect(try await machine.call("ctl", "get", "gain", "gain_db", "--ssh", "far").output == "-6.5\n")
        let top = try await machine.call("top", "--ssh", "far")
        #expect(top.code == 0 && top.output.contains("meter"), "\(top)")
        let refused = try await machine.call("ctl", "mute", "nobody", "--ssh", "far")
        #expect(refused.code == 1 && refused.errors.contains("nobody"), "\(refused)")
        let path = try await machine.call("ctl", "reload", "elsewhere.conf", "--ssh", "far")
        #expect(path.code == 1 && path.errors.contains("elsewhere.conf"), "\(path)")
        #expect(try await machine.call("graph", "--live", "--ssh", "far", "--format", "dot").output.contains("gain"))

        let events = try machine.start("ctl", "events", "--ssh", "far")
        try await events.wait("events come") { $0.lines.count > 5 }
        #expect(events.lines.allSatisfy { $0.hasPrefix("{\"event\":") })
        let children = events.children()
        #expect(children.count == 1)
        events.signal(SIGKILL)
        _ = try await events.end()
        try await eventually("its ssh ends, though nobody told it") { children.allSatisfy(isGone) }
        #expect(machine.folders == [])

        let last = try machine.start("ctl", "events", "series", "--ssh", "far")
        try await last.wait("events come") { $0.lines.count > 5 }
        try await machine.end(run)
        #expect(try await last.end() == 0, "\(last.errors)")
        #expect(machine.folders == [])
    }

    @Test("Of several hosts one is chosen by name, and one that was killed is none") func several() async throws {
        let machine = try await Machine()
        let first = try await machine.run("first")
        // ssh has a meaning of its own for some of these.
        let other = "wet/dry 50%d"
        let second = try await machine.run(other)
        let two = try await machine.call("status", "--ssh", "far")
        #expect(
            two.code == 1
                && two.errors.contains("2 hosts are running on far: first, \(other) (choose one with --client NAME)"),
            "\(two)")
        let wrong = try await machine.call("status", "--ssh", "far", "--client", "nobody")
        #expect(
            wrong.code == 1
                && wrong.errors.contains("no host 'nobody' is running on far (running: first, \(other))"),
            "\(wrong)")
        let named = try await machine.call("ctl", "--ssh", "far", "--client", other, "status")
        #expect(named.output.hasPrefix("graph    \(other)\n"), "\(named)")
        first.signal(SIGKILL)
        _ = try await first.end()
        let left = try await machine.call("ctl", "--ssh", "far", "list")
        #expect(left.output == "\(other)\n", "\(left)")
        try await machine.end(second)
    }

    @Test("What ssh cannot do is told, with exit code 1") func failures() async throws {
        let machine = try await Machine()
        let unknown = try await machine.call("status", "--ssh", "voicegraph.invalid")
        #expect(unknown.code == 1)
        #expect(unknown.errors.contains("Could not resolve hostname voicegraph.invalid"), "\(unknown)")
        #expect(unknown.errors.hasSuffix("voicegraph: ssh does not reach voicegraph.invalid\n"), "\(unknown)")
        let stranger = try await machine.call("ctl", "list", "--ssh", "stranger")
        #expect(stranger.code == 1 && stranger.errors.contains("Permission denied (publickey)"), "\(stranger)")
        let other = try await machine.call("ctl", "nodes", "--ssh", "other-key")
        #expect(other.code == 1 && other.errors.contains("Host key verification failed"), "\(other)")
        let bare = try await machine.call("status", "--ssh", "far", path: machine.scratch.file("empty"))
        #expect(bare.code == 1)
        #expect(bare.errors == "voicegraph: ssh is not installed (apt install openssh-client)\n")
        let option = try await machine.call("status", "--ssh=-oProxyCommand=true")
        #expect(option.code == 64 && option.errors.contains("--ssh takes"), "\(option)")
        #expect(machine.folders == [])
    }
}

/// An sshd of our own on this machine, and what logs in to it as "far".
private final class Machine: Sendable {
    static let isPossible = ["/usr/bin/ssh", "/usr/bin/ssh-keygen", sshd].allSatisfy { (path: String) in
        access(path, X_OK) == 0
    }
    private static let sshd = "/usr/sbin/sshd"

    let scratch: Scratch
    private let server: Program
    private let before = folders()

    init() async throws {
        let scratch = try Scratch()
        self.scratch = scratch
        for folder in ["here", "there", "bin", "far", "empty"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        for key in ["host", "user", "stranger"] {
            try await runTool(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", scratch.file(key)])
        }
        func text(_ name: String) throws -> String { try String(contentsOfFile: scratch.file(name), encoding: .utf8) }
        try scratch.write("authorized", text("user.pub"))
        if getuid() == 0 { mkdir("/run/sshd", 0o755) }
        // A port that is free now.
        let port = try freePort()
        let file = try scratch.write(
            "sshd_config",
            """
            ListenAddress 127.0.0.1
            Port \(port)
            HostKey \(scratch.file("host"))
            AuthorizedKeysFile \(scratch.file("authorized"))
            PidFile none
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin prohibit-password
            StrictModes no
            SetEnv XDG_RUNTIME_DIR=\(scratch.file("there"))
            ForceCommand '\(scratch.file("far/login"))'

            """)
        let known = try text("host.pub")
        try scratch.write("known", "[127.0.0.1]:\(port) \(known)")
        try scratch.write("known-other", "[127.0.0.1]:\(port) \(text("user.pub"))")
        func host(_ name: String, _ key: String, _ known: String) -> String {
            """
            Host \(name)
              HostName 127.0.0.1
              Port \(port)
              IdentityFile \(scratch.file(key))
              UserKnownHostsFile \(scratch.file(known))

            """
        }
        let config = try scratch.write(
            "ssh_config",
            host("far", "user", "known") + host("stranger", "stranger", "known")
                + host("other-key", "user", "known-other")
                + "Host *\n  IdentitiesOnly yes\n  GlobalKnownHostsFile none\n")
        // ssh reads its settings where the user's home is, whatever $HOME says.
        try scratch.write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F '\(config)' \"$@\"\n")
        chmod(scratch.file("bin/ssh"), 0o755)
        // Whoever is logged in finds no socket but those of the tests: this user may have hosts on this machine.
        let find = """
            #!/bin/sh
            case $1 in '\(scratch.path)'/*) exec /usr/bin/find "$@" ;; esac
            """
        let login = "#!/bin/sh\nPATH='\(scratch.file("far"))':$PATH\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
        for (name, text) in [("far/find", find), ("far/login", login)] {
            try scratch.write(name, text)
            chmod(scratch.file(name), 0o755)
        }
        server = try Program([Self.sshd, "-D", "-e", "-f", file])
        try await server.wait("sshd listens") { $0.errors.contains("Server listening") }
    }

    /// What this side has left among temporary files since the start: private folders of ssh.
    var folders: Set<String> { Self.folders().subtracting(before) }

    private static func folders() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: P_tmpdir)) ?? []
        return Set(names.filter { $0.hasPrefix("voicegraph-ssh-") })
    }

    /// Starts the command on this side.
    func start(_ arguments: String..., path: String? = nil) throws -> Program {
        try start(arguments, path: path)
    }

    private func start(_ arguments: [String], path: String? = nil) throws -> Program {
        let old = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return try Program(
            [Program.voicegraph] + arguments,
            environment: [
                "XDG_RUNTIME_DIR": scratch.file("here"), "PATH": path ?? "\(scratch.file("bin")):\(old)",
            ])
    }

    func call(
        _ arguments: String..., path: String? = nil
    ) async throws -> (code: Int32, output: String, errors: String) {
        let program = try start(arguments, path: path)
        return (try await program.end(), program.output, program.errors)
    }

    /// Starts a graph on the other side.
    func run(_ name: String) async throws -> Program {
        let graph = try scratch.write("there/graph.conf", endless.replacing("\"endless\"", with: "\"\(name)\""))
        let run = try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy", "--json"],
            environment: ["XDG_RUNTIME_DIR": scratch.file("there")])
        try await run.plays()
        return run
    }

    func end(_ run: Program) async throws {
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }
}

private func freePort() throws -> Int {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
        }
    }
    try #require(bound)
    return Int(UInt16(bigEndian: address.sin_port))
}
