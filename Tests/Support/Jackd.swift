// SPDX-License-Identifier: Apache-2.0
import CJack
import Drivers
import Glibc
import Synchronization

/// The right to use JACK in this process. libjack talks to one server per process, and test targets share one: whoever
/// opens a JACK client, starts a `Jackd` or lets a driver choose a server holds a turn meanwhile.
public final class JackTurn: Sendable {
    private static let taken = Atomic(false)
    private let over = Atomic(false)

    private init() {}

    /// Waits for the turn, at most `seconds`.
    public static func wait(seconds: Double = 600) async throws -> JackTurn {
        try await eventually("another test is done with JACK", seconds: seconds) {
            taken.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        }
        return JackTurn()
    }

    /// Gives it to the next.
    public func end() {
        if !over.exchange(true, ordering: .acquiringAndReleasing) { Self.taken.store(false, ordering: .releasing) }
    }

    deinit { end() }
}

/// A real jackd with its dummy driver, under a name from a small pool, for one test. It waits for late clients instead
/// of dropping samples, unless it is told not to. Ends and is reaped with `stop` or the last reference.
public final class Jackd: @unchecked Sendable {
    // Sendable: a test uses it from one task at a time.

    /// Its name, for `--server` or $JACK_DEFAULT_SERVER.
    public let name: String
    private var process: ServerProcess?
    private let nameLock: ServerNameLock
    private let turn: JackTurn
    private var synchronous = true
    private var realtime: Bool? = false
    private static let pool = ["vgt-1", "vgt-2", "vgt-3"]

    private init(name: String, nameLock: ServerNameLock, turn: JackTurn) {
        self.name = name
        self.nameLock = nameLock
        self.turn = turn
    }

    deinit { stop() }

    /// Starts a server and waits until it answers. nil `realtime`: it is if it may be.
    public static func start(
        rate: Int = 48000, block: Int = 256, synchronous: Bool = true, realtime: Bool? = false
    ) async throws -> Jackd {
        let turn = try await JackTurn.wait()
        let found = Mutex<Jackd?>(nil)
        try await eventually("a server name of \(pool) is free", seconds: 300) {
            for name in pool {
                guard let lock = ServerNameLock(name) else { continue }
                found.withLock { $0 = Jackd(name: name, nameLock: lock, turn: turn) }
                return true
            }
            return false
        }
        let server = found.withLock { $0 }!
        server.synchronous = synchronous
        server.realtime = realtime
        try server.launch(rate: rate, block: block)
        return server
    }

    /// Its process id.
    public var processID: pid_t { process?.processID ?? 0 }

    /// Kills it as a crash would, reaps it.
    public func crash() { end(SIGKILL) }

    /// Ends it with a signal of one's choice and reaps it; `restart` starts it again.
    public func end(_ signal: Int32) {
        kill(processID, signal)
        process?.stop()
        process = nil
    }

    /// Starts it again after `crash`, without waiting for an answer.
    public func restart(rate: Int = 48000, block: Int = 256) throws {
        process = try ServerProcess(
            name: name, format: .init(rate: rate, block: block, realtime: realtime, synchronous: synchronous))
    }

    /// Stops its time, as a hang would.
    public func hang() { kill(processID, SIGSTOP) }

    /// Ends `hang`.
    public func unhang() { kill(processID, SIGCONT) }

    /// Ends and reaps it, and lets the next test in.
    public func stop() {
        process?.stop()
        process = nil
        turn.end()
    }

    /// Whether it lives, and what it printed, for the message of a failure.
    public var report: String {
        guard let process else { return "\(name) was ended" }
        return "\(name) \(process.isRunning ? "runs as \(processID)" : "has died"); it printed: \(process.recentOutput)"
    }

    /// Runs one of JACK's command-line tools against it and returns what it prints.
    @discardableResult
    public func tool(_ arguments: String..., seconds: Double = 60) async throws -> String {
        try await runTool(arguments, environment: ["JACK_DEFAULT_SERVER": name], seconds: seconds).output
    }

    private func launch(rate: Int, block: Int) throws {
        try restart(rate: rate, block: block)
        guard let process else { return }
        JackLibrary.close(try process.client(named: "vgt-probe"))
    }
}
