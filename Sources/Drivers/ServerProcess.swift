// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import Synchronization

/// A JACK server of our own with the dummy driver: `jackd -n NAME -d dummy` as a child in its own process group, which
/// ends when this process does, however that ends. What it prints is kept for the message of a failure.
package final class ServerProcess: @unchecked Sendable {
    // Sendable: `lock` guards the child's state; the thread that starts it is its only reaper.

    /// The server's name.
    package let name: String
    private let arguments: [String]
    private let nameLock: ServerNameLock?
    private let lock = PlainLock()
    private var child: pid_t = 0
    private var supervisor: DriverThread?
    private var printed = BoundedText(limit: 8192)
    private var failure: Int32 = 0
    private var launched = 0.0

    /// How a server runs.
    package struct Format: Sendable {
        /// Hz.
        package var rate: Int
        /// Frames of a block.
        package var block: Int
        /// Whether to ask for realtime scheduling; nil: if this process may.
        package var realtime: Bool?
        /// Whether the server waits for its clients rather than drop what is late: no sample is lost, whatever the load.
        package var synchronous: Bool

        /// Describes a format.
        package init(rate: Int = 48000, block: Int = 256, realtime: Bool? = nil, synchronous: Bool = false) {
            self.rate = rate
            self.block = block
            self.realtime = realtime
            self.synchronous = synchronous
        }
    }

    /// Where jackd is; nil: not installed. [control]
    package static var executable: String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin:/usr/local/bin"
        return folders.split(separator: ":").map { "\($0)/jackd" }.first { access($0, X_OK) == 0 }
    }

    /// Starts a server; it answers a little later (see `isRunning`, `JackLibrary.open`). nil `nameLock`: the caller
    /// takes care that the name is free. [control]
    package init(name: String, format: Format, nameLock: ServerNameLock? = nil) throws(DriverError) {
        guard let program = Self.executable else {
            throw DriverError("jackd is not installed", hint: "install the package jackd2")
        }
        let realtime = format.realtime ?? Scheduling.isPermitted(priority: 70)
        arguments =
            [program, "-n", name] + (realtime ? ["-R", "-P", "70"] : ["-r"])
            + (format.synchronous ? ["-S", "-t", "5000"] : [])
            + ["-d", "dummy", "-r", "\(format.rate)", "-p", "\(format.block)"]
        self.name = name
        self.nameLock = nameLock
        launch()
        if failure != 0 {
            throw DriverError(
                "\(program) could not be started: \(String(cString: strerror(failure)))",
                hint: "check the installation of jackd2")
        }
    }

    deinit { stop() }

    /// The child's process id; 0: it has ended. [any]
    package var processID: pid_t { lock.around { child } }

    /// Whether the child has not ended. [any]
    package var isRunning: Bool { processID != 0 }

    /// What it printed, the newest lines of it. [any]
    package var recentOutput: [String] { lock.around { printed.lines } }

    /// Starts it again if it has ended, at most twice a second. [control]
    package func restartIfDead() {
        let ended: DriverThread? = lock.around {
            guard child == 0, secondsNow() - launched > 0.5 else { return nil }
            defer { supervisor = nil }
            return supervisor
        }
        if let ended {
            ended.join()
            launch()
        }
    }

    /// Ends and reaps it: asks, and after a second forces. [control]
    package func stop() {
        let running: DriverThread? = lock.around {
            defer { supervisor = nil }
            if child != 0 {
                // A stopped process handles no other signal.
                kill(child, SIGCONT)
                kill(child, SIGTERM)
            }
            return supervisor
        }
        guard let running else { return }
        let deadline = secondsNow() + 1
        while isRunning, secondsNow() < deadline { usleep(2_000) }
        lock.around { if child != 0 { kill(child, SIGKILL) } }
        running.join()
    }

    /// Starts the child from a thread that lives as long as it does, and waits until it runs.
    private func launch() {
        let started = Wakeup()
        // Unowned: `stop` and `deinit` wait for the thread's end.
        let thread = DriverThread(name: "vg-jackd") { [unowned self] in self.keep(started) }
        lock.around {
            supervisor = thread
            launched = secondsNow()
        }
        started.wait(milliseconds: -1)
    }

    private func keep(_ started: Wakeup) {
        var output: Int32 = -1
        let result = start(&output)
        lock.around {
            failure = result < 0 ? -result : 0
            child = max(result, 0)
        }
        started.signal()
        guard result > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            lock.around { printed.append(buffer[..<count]) }
        }
        close(output)
        // Not reaped yet, so its id cannot be another's when `stop` sends a signal.
        var information = siginfo_t()
        while waitid(P_PID, id_t(result), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        lock.around {
            var status: Int32 = 0
            while waitpid(result, &status, 0) < 0 && errno == EINTR {}
            child = 0
        }
    }

    private func start(_ output: inout Int32) -> pid_t {
        var strings = arguments.map { strdup($0) }
        strings.append(nil)
        defer { for string in strings { free(string) } }
        return vg_child_start(strings, environ, &output, SIGTERM)
    }
}

extension ServerProcess {
    /// Opens a client as soon as the server answers, within five seconds. [control]
    package func client(named client: String) throws(DriverError) -> OpaquePointer {
        let deadline = secondsNow() + 5
        while isRunning {
            do throws(JackLibrary.OpenError) { return try JackLibrary.open(name: client, server: name) } catch {
                if case .noServer = error, secondsNow() < deadline {
                    usleep(5_000)
                    continue
                }
                throw error.asDriverError(server: name)
            }
        }
        throw DriverError(
            "the JACK server '\(name)' ended while it started", hint: "run the same jackd command by hand to see why",
            details: recentOutput)
    }
}

/// The end of a text, at most `limit` bytes of it.
struct BoundedText {
    let limit: Int
    private var bytes: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    mutating func append(_ more: ArraySlice<UInt8>) {
        bytes += more
        if bytes.count > limit { bytes.removeFirst(bytes.count - limit) }
    }

    /// Its lines without the empty ones, the newest twelve.
    var lines: [String] {
        bytes.split(separator: UInt8(ascii: "\n")).suffix(12).map { String(decoding: $0, as: UTF8.self) }
    }
}
