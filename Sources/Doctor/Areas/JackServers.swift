// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import System

/// The JACK servers of this machine, as libjack's list and the kernel tell of them, and as they answered.
struct JackServers: Sendable {
    /// One of the list.
    struct Server: Sendable {
        var name: String
        /// Whether this user may use it.
        var isOwn = true
        /// Whether it was killed and still has its name.
        var isDead = false
        var process: pid_t = 0
        /// The kernel's letter for what its process does: "S", "R", "T" where it was stopped; empty: not known.
        var state = ""
        /// What it was started with.
        var command: [String] = []
        /// The highest priority of its realtime threads; nil: it has none.
        var priority: Int?
        /// nil: it was not asked.
        var answer: ServerAnswer?

        /// Whether it does not answer, though it is there.
        var hangs: Bool { state == "T" || answer == .silent }
        /// Whether it can be used now.
        var isUsable: Bool { if case .answered = answer { true } else { false } }
        var look: ServerLook? { if case .answered(let look) = answer { look } else { nil } }
        var isDummy: Bool { backend?.driver == "dummy" }

        /// Which driver it was started with, and for which device; nil: its command does not tell, as that of jackdbus.
        var backend: (driver: String, device: String?)? {
            var words = command.dropFirst()[...]
            var driver: String?
            var device: String?
            while let word = words.popFirst() {
                let isLong = word.hasPrefix("--")
                if driver == nil {
                    if word == "-d" || word == "--driver" { driver = words.popFirst() }
                    if word.hasPrefix("-d"), !isLong, word.count > 2 { driver = String(word.dropFirst(2)) }
                    if word.hasPrefix("--driver=") { driver = String(word.dropFirst(9)) }
                } else {
                    if ["-d", "--device", "-P", "--playback"].contains(word), let next = words.first,
                        !next.hasPrefix("-")
                    {
                        device = words.popFirst()
                    }
                    if word.hasPrefix("-d"), !isLong, word.count > 2 { device = String(word.dropFirst(2)) }
                }
            }
            return driver.map { ($0, device) }
        }

        /// "jackd -d alsa -d hw:0, process 812"
        var origin: String {
            let run = OwnServer.names.contains(name) ? " of a voicegraph run" : ""
            let played = backend.map { "driver \($0.driver)" + ($0.device.map { " \($0)" } ?? "") + ", " } ?? ""
            return "\(played)process \(process)\(run)"
        }
    }

    var servers: [Server] = []
    /// How many names libjack keeps, of eight.
    var keptNames = 0
    /// The name that is meant where none is given.
    var standard = "default"
    /// Whether there is a jackd to start.
    var isInstalled = true

    /// The server of a name that this user can use, or could.
    func server(_ name: String?) -> Server? {
        servers.first { $0.name == name ?? standard && $0.isOwn && !$0.isDead }
    }

    /// What there is to say of each. Whether one that hangs keeps everything silent is told elsewhere.
    func findings() -> [Finding] {
        let area = DoctorArea.servers
        var findings = servers.map { server -> [Finding] in
            let name = "the server '\(server.name)'"
            if server.isDead {
                return [area.fine("\(name) was killed; its name is free again when a server of that name starts")]
            }
            guard server.isOwn else {
                return [area.fine("\(name) is another user's: it cannot be used from here (process \(server.process))")]
            }
            if server.state == "T" {
                return [
                    area.warning(
                        "\(name) was stopped, as by Ctrl-Z (process \(server.process))",
                        do: "let it go on: kill -CONT \(server.process)")
                ]
            }
            switch server.answer {
            case .answered(let look): return live(server, look)
            case .silent:
                return [
                    area.warning(
                        "\(name) hangs: it does not answer (process \(server.process))",
                        do: "end it and start it again: kill -KILL \(server.process)")
                ]
            case .refused(let reason):
                return [
                    area.warning(
                        "\(name) lets nobody in (process \(server.process)): \(reason)",
                        do: "start it again; what it printed tells more")
                ]
            case nil: return [area.fine("\(name) runs (process \(server.process))")]
            }
        }.flatMap(\.self)
        if servers.isEmpty {
            findings.append(
                isInstalled
                    ? area.fine("no server is running; jackd is installed")
                    : area.fine("no server is running, and jackd is not installed (apt install jackd2)"))
        }
        if keptNames >= ServerNames.most {
            findings.append(
                area.warning(
                    "all eight names that libjack keeps for servers are taken, so that no other server can start",
                    do: "end a server, or, when none is running, remove \(ServerNames.registry)"))
        } else if keptNames > 0 {
            findings.append(
                area.fine(
                    "of the eight names that libjack has for servers "
                        + (keptNames == 1 ? "one is taken" : "\(keptNames) are taken")))
        }
        return findings
    }

    private func live(_ server: Server, _ look: ServerLook) -> [Finding] {
        let area = DoctorArea.servers
        let thread = server.priority.map { "realtime \($0)" } ?? "not realtime"
        let text = "the server '\(server.name)' runs at \(look.format), \(thread) (\(server.origin))"
        return server.priority == nil
            ? [
                area.warning(
                    text, do: "start it with realtime scheduling (jackd -R -P 70); others hold it up as it is now")
            ] : [area.fine(text)]
    }
}

extension JackServers {
    /// Looks at all of them; see `ServerAnswer.ask` for how long each has to answer. [control]
    static func read(within seconds: Double, most: Double) -> JackServers {
        let entries = ServerNames.entries()
        let servers = entries.map { entry in
            var server = Server(name: entry.name, isOwn: entry.user == geteuid(), isDead: entry.isDead)
            server.process = entry.process
            if entry.isDead { return server }
            let folder = "/proc/\(entry.process)"
            server.state = processState(textOfFile(folder + "/stat"))
            server.command = textOfFile(folder + "/cmdline").split(separator: "\0").map(String.init)
            server.priority = names(in: folder + "/task").compactMap(pid_t.init).compactMap { thread in
                let facts = Scheduling(thread: thread)
                return facts.isRealtime ? facts.priority : nil
            }.max()
            return server
        }
        // All at a time.
        let asked = servers.map { server -> Reading<ServerAnswer>? in
            guard server.isOwn, !server.isDead, server.state != "T" else { return nil }
            return Reading {
                ServerAnswer.ask(server: server.name, process: server.process, within: seconds, most: most)
            }
        }
        let deadline = monotonicSeconds() + most + seconds
        let answered = zip(servers, asked).map { server, reading in
            var server = server
            server.answer = reading.map { $0.value(by: deadline) ?? .silent }
            return server
        }
        return JackServers(
            servers: answered, keptNames: entries.count, standard: JackLibrary.defaultServer,
            isInstalled: ServerProcess.executable != nil)
    }

    /// The letter of what a process does, from its `stat`: behind the name, which may hold anything.
    static func processState(_ stat: String) -> String {
        guard let end = stat.lastIndex(of: ")") else { return "" }
        return stat[end...].dropFirst().split(separator: " ").first.map(String.init) ?? ""
    }
}
