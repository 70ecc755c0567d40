// SPDX-License-Identifier: Apache-2.0
import CJack
import Glibc
import Realtime
import System

/// What libjack shares among all clients of a process: its error output, and the fact that it can talk to one server
/// at a time only, whose clients must all be closed before a new one is opened after the server's death. Which libjack
/// it is can change while there is no client.
package enum JackLibrary {
    /// Whose libjack.
    package enum Provider: Sendable, Hashable {
        /// What the system's linker finds, with `pw-jack` PipeWire's.
        case any
        /// jackd's.
        case jackd
        /// PipeWire's.
        case pipewire

        /// Where it may be, best first; the linker knows what $LIB is here.
        fileprivate var paths: [String] {
            switch self {
            case .any: ["libjack.so.0"]
            case .jackd: ["libjack.so.0", "/usr/$LIB/libjack.so.0"]
            case .pipewire: ["/usr/$LIB/pipewire-0.3/jack/libjack.so.0", "libjack.so.0"]
            }
        }
    }

    /// Why a client could not be opened.
    package enum OpenError: Error {
        /// There is no such libjack; the reason in the linker's words.
        case noLibrary(Provider, reason: String)
        /// Nothing answers under this name.
        case noServer
        /// A client of this process still belongs to another server, named here.
        case otherServer(String)
        /// A client of this process still belongs to a server that died.
        case notYetClosed
        /// The server answered and refused.
        case refused(status: UInt32)
    }

    private struct State {
        /// Open clients by address: the server they belong to.
        var servers: [UInt: String] = [:]
        /// Those whose server is gone.
        var lost: Set<UInt> = []
        var lines: [String] = []
        /// What was loaded last, and for whom.
        var library: (wanted: Provider, isPipeWire: Bool)?
        /// The server that is asked for a client, and since when.
        var asked: (server: String, since: Double)?
    }

    /// Also serialises opening and closing: the library's own globals are set up and torn down in them.
    private static let library = Lock(())
    private static let state = Lock(State())
    private static let keptLines = 64

    /// The name of the server that a client without a server name gets.
    package static var defaultServer: String {
        guard let name = getenv("JACK_DEFAULT_SERVER"), name.pointee != 0 else { return "default" }
        return String(cString: name)
    }

    /// Whether the libjack in use is PipeWire's. [any]
    package static var isPipeWire: Bool { state.withLock { $0.library?.isPipeWire ?? false } }

    /// Whether it is that of jackd 2, which keeps a list of the servers that run. [any]
    private static var isJackd2: Bool { String(cString: jack_get_version_string()).hasPrefix("1.9") }

    /// The server that is asked for a client just now, and for how many seconds; nil: none is. [any]
    static var unanswered: (server: String, seconds: Double)? {
        state.withLock(\.asked).map { ($0.server, monotonicSeconds() - $0.since) }
    }

    /// Opens a client; never starts a server. Blocks while the server hangs. [control]
    package static func open(
        name: String, server: String?, library provider: Provider = .any, exactName: Bool = false
    ) throws(OpenError) -> OpaquePointer {
        let serverName = server ?? defaultServer
        let result: Result<OpaquePointer, OpenError> = library.withLock { _ in
            let obstacle: OpenError? = state.withLock { state in
                if !state.lost.isEmpty { return .notYetClosed }
                return state.servers.values.first { $0 != serverName }.map { .otherServer($0) }
            }
            if let obstacle = obstacle ?? load(provider) { return .failure(obstacle) }
            var status = JackStatus(rawValue: 0)
            let linesBefore = recentLines
            let isPipeWire = vg_jack_is_pipewire()
            // Asking libjack costs more.
            if !isPipeWire, isJackd2, !ServerNames.mayRun(serverName) { return .failure(.noServer) }
            let opening = JackOpening()
            defer { opening.end() }
            JackMetadata.repair()
            state.withLock { $0.asked = (isPipeWire ? PipeWireSocket.name : serverName, monotonicSeconds()) }
            defer { state.withLock { $0.asked = nil } }
            let allowed = ClientName.allowed(name)
            let name = isPipeWire ? allowed : ClientName.beside(ServerNames.running, allowed)
            if exactName && name != allowed { return .failure(.refused(status: JackNameNotUnique.rawValue)) }
            var opened = vg_jack_open(name, server, exactName, &status)
            // Another program opens a client of the same name elsewhere.
            var tries = 0
            while opened == nil, status.rawValue & JackServerError.rawValue != 0,
                status.rawValue & JackServerFailed.rawValue == 0, !isPipeWire, tries < 5
            {
                tries += 1
                usleep(40_000)
                opened = vg_jack_open(name, server, exactName, &status)
            }
            guard let client = opened else {
                let unreachable = JackServerFailed.rawValue | JackServerError.rawValue
                guard status.rawValue & unreachable != 0 else { return .failure(.refused(status: status.rawValue)) }
                // Looking for a server again and again must not push out what was said before.
                state.withLock { $0.lines = linesBefore }
                return .failure(.noServer)
            }
            state.withLock { $0.servers[UInt(bitPattern: client)] = serverName }
            return .success(client)
        }
        return try result.get()
    }

    /// Closes a client; its pointer is invalid afterwards. Never from a callback. [control]
    package static func close(_ client: OpaquePointer) {
        library.withLock { _ in
            _ = jack_client_close(client)
            state.withLock {
                $0.servers[UInt(bitPattern: client)] = nil
                $0.lost.remove(UInt(bitPattern: client))
            }
        }
    }

    /// Notes that a client's server is gone: until it is closed no other is opened. [any]
    package static func markLost(_ client: OpaquePointer) {
        state.withLock { state in
            if state.servers[UInt(bitPattern: client)] != nil { state.lost.insert(UInt(bitPattern: client)) }
        }
    }

    /// Gives this process's other clients of a dead server a moment to notice it too: a client opened while one of them
    /// is still there would share its dead state. [control]
    static func waitForOthers() {
        let deadline = monotonicSeconds() + 0.3
        while monotonicSeconds() < deadline {
            if state.withLock({ $0.servers.isEmpty }) { return }
            usleep(2_000)
        }
    }

    /// Whether this process has an open client. [any]
    package static var hasClients: Bool { state.withLock { !$0.servers.isEmpty } }

    /// The newest lines that libjack would have printed, oldest first. [any]
    package static var recentLines: [String] { state.withLock { $0.lines } }

    /// Has this libjack be called from now on, unless it is already; its messages are kept from the terminal and go to
    /// `recentLines`.
    private static func load(_ provider: Provider) -> OpenError? {
        let (current, other) = state.withLock { ($0.library, $0.servers.values.first) }
        if let current, current.wanted == provider || provider == (current.isPipeWire ? .pipewire : .jackd) {
            return nil
        }
        if let other { return .otherServer(other) }
        var reason = ""
        for path in provider.paths {
            if let fault = vg_jack_load(path, provider == .any) {
                reason = reason.isEmpty ? String(cString: fault) : reason
                continue
            }
            let isPipeWire = vg_jack_is_pipewire()
            state.withLock { $0.library = (provider, isPipeWire) }
            jack_set_error_function { @Sendable in JackLibrary.keep($0) }
            jack_set_info_function { @Sendable in JackLibrary.keep($0) }
            if provider == .any || isPipeWire == (provider == .pipewire) { return nil }
            state.withLock { $0.library = nil }
        }
        return .noLibrary(provider, reason: reason.isEmpty ? "the only libjack is another's" : reason)
    }

    private static func keep(_ text: UnsafePointer<CChar>?) {
        let stay = vg_jack_stay()
        defer { vg_jack_unstay(stay) }
        guard let text else { return }
        let line = String(cString: text)
        // What it says of the database that it is kept from (CJack).
        if line.hasPrefix("cannot initialize DB environment") { return }
        state.withLock { state in
            if state.lines.count >= keptLines { state.lines.removeFirst() }
            state.lines.append(line)
        }
    }
}

extension JackLibrary.OpenError {
    /// What a user should know of it.
    func asDriverError(server: String?, _ provider: JackLibrary.Provider = .any) -> DriverError {
        let name = server ?? JackLibrary.defaultServer
        switch self {
        case .noLibrary(.pipewire, let reason):
            return DriverError(
                "PipeWire's libjack is not installed", hint: "install the package pipewire-jack", details: [reason])
        case .noLibrary(_, let reason):
            return DriverError(
                "libjack is not installed", hint: "install the package libjack-jackd2-0 or pipewire-jack",
                details: [reason])
        case .noServer where provider == .pipewire:
            let socket = server ?? PipeWireSocket.name
            return DriverError(
                "PipeWire does not answer at '\(socket)'",
                hint: PipeWireSocket.path(server) == nil
                    ? "start it (systemctl --user start pipewire), as the user whose session it is in: "
                        + "$XDG_RUNTIME_DIR tells where its socket is"
                    : "its socket is there, but nobody listens: start it again (systemctl --user restart pipewire)")
        case .noServer:
            return DriverError(
                "no JACK server named '\(name)' is running",
                hint: "start one (for example: jackd -d dummy), name another with --server, or use --driver dummy")
        case .otherServer(let other):
            return DriverError(
                "this process is connected to the JACK server '\(other)' and cannot use '\(name)' as well",
                hint: "libjack serves one server per process: run the second graph in a process of its own")
        case .notYetClosed:
            return DriverError("a JACK server died and its clients are still being closed", hint: "try again")
        case .refused(let status):
            return DriverError(
                "the JACK server '\(name)' refused the client (status \(status))",
                hint: status & JackNameNotUnique.rawValue != 0 ? "choose another name in [graph]" : "",
                details: Array(JackLibrary.recentLines.suffix(4)))
        }
    }
}
