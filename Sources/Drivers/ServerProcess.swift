// SPDX-License-Identifier: Apache-2.0
import Glibc
import GraphFile
import Realtime
import System

/// A JACK server of our own: `jackd -n NAME -d dummy` or `-d alsa` as a child in its own process group, which
/// ends when this process does, however that ends. What it prints is kept for the message of a failure.
package final class ServerProcess: @unchecked Sendable {
    // Sendable: `lock` guards the child's state; the thread that starts it is its only reaper.

    /// The server's name.
    package let name: String
    /// As which driver it counts.
    let kind: DriverInfo.Kind
    private let arguments: [String]
    private let nameLock: ServerNameLock?
    private let lock = Monitor()
    private var child: pid_t = 0
    private var supervisor: SystemThread?
    private var printed = OutputTail()
    private var failure: SystemError?
    private var launched = 0.0
    private var looked = 0.0
    /// Seconds after which one that has no socket yet may hang.
    private var longestStart = 5.0

    /// What the server plays to.
    package enum Backend: Sendable, Equatable {
        /// Nothing.
        case dummy
        /// A sound card, or one to record from and one to play to; nil: "hw:0", in two blocks.
        case alsa(device: String?, capture: String?, playback: String?, periods: Int?)
    }

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
        /// What it plays to.
        package var backend: Backend

        /// Describes a format.
        package init(
            rate: Int = 48000, block: Int = 256, realtime: Bool? = nil, synchronous: Bool = false,
            backend: Backend = .dummy
        ) {
            self.rate = rate
            self.block = block
            self.realtime = realtime
            self.synchronous = synchronous
            self.backend = backend
        }
    }

    /// Seconds within which it must answer: a machine that is busy, as when it starts, takes many.
    private static let patience = 30.0

    /// Twice as many as of old (jackd(1) had 256; JACK 2 has 2048): the server and each of its clients keep the buffers of
    /// all that there could be locked in memory.
    private static let mostPorts = 512

    /// Where jackd is; nil: not installed. [control]
    package static var executable: String? { programPath("jackd") }

    /// Starts a server; it answers a little later (see `isRunning`, `JackLibrary.open`). nil `nameLock`: the caller
    /// takes care that the name is free. [control]
    package init(name: String, format: Format, nameLock: ServerNameLock? = nil) throws(DriverError) {
        guard let program = Self.executable else {
            throw DriverError("jackd is not installed", hint: "install the package jackd2")
        }
        let realtime = format.realtime ?? Scheduling.isPermitted(priority: 70)
        arguments =
            [program, "-n", name, "-p", "\(Self.mostPorts)"] + (realtime ? ["-R", "-P", "70"] : ["-r"])
            + (format.synchronous ? ["-S", "-t", "5000"] : [])
            + format.backend.arguments + ["-r", "\(format.rate)", "-p", "\(format.block)"]
        kind = format.backend.kind
        self.name = name
        self.nameLock = nameLock
        launch()
        if let failure { throw DriverError("\(failure)", hint: "check the installation of jackd2") }
    }

    deinit { stop() }

    /// The child's process id; 0: it has ended. [any]
    package var processID: pid_t { lock.locked { child } }

    /// Whether the child has not ended. [any]
    package var isRunning: Bool { processID != 0 }

    /// What it printed, the newest lines of it without those with which every jackd begins. [any]
    package var recentOutput: [String] {
        lock.locked { printed.lines }.filter { line in
            !["jackdmp", "Copyright ", "This is free software", "under certain conditions", "self-connect-mode"]
                .contains(where: line.hasPrefix)
        }
    }

    /// Starts it again if it has ended, at most twice a second, or if it never begins. [control]
    package func restartIfDead() {
        startAgainIfHeldUp()
        let ended: SystemThread? = lock.locked {
            guard child == 0, monotonicSeconds() - launched > 0.5 else { return nil }
            defer { supervisor = nil }
            return supervisor
        }
        if let ended {
            ended.join()
            launch()
        }
    }

    /// Starts it again if it has had no socket for so long that it seems to wait for a lock that the dead left in jackd's
    /// database, which goes with it; looks once a second.
    private func startAgainIfHeldUp() {
        let now = monotonicSeconds()
        let held: pid_t = lock.locked {
            guard child != 0, now - launched > longestStart, now - looked > 1 else { return 0 }
            looked = now
            return child
        }
        guard held != 0, access(socket, F_OK) != 0, JackMetadata.isMade, !JackMetadata.isUsed(apartFrom: held)
        else { return }
        // A slow machine has more time the next time.
        lock.locked { longestStart *= 2 }
        stop()
        launch()
    }

    private var socket: String { "/dev/shm/jack_\(name)_\(getuid())_0" }

    /// Ends and reaps it: asks, and after a second forces. [control]
    package func stop() {
        let running: SystemThread? = lock.locked {
            defer { supervisor = nil }
            if child != 0 {
                // A stopped process handles no other signal.
                kill(child, SIGCONT)
                kill(child, SIGTERM)
            }
            return supervisor
        }
        guard let running else { return }
        let deadline = monotonicSeconds() + 1
        while isRunning, monotonicSeconds() < deadline { usleep(2_000) }
        lock.locked { if child != 0 { kill(child, SIGKILL) } }
        running.join()
    }

    /// Starts the child from a thread that lives as long as it does, and waits until it runs.
    private func launch() {
        // They have the database that is removed where nobody has it.
        OrphanedServer.end(OwnServer.names + [name])
        let opening = JackOpening()
        defer { opening.end() }
        JackMetadata.repair()
        JackMetadata.removeUnused()
        let started = Wakeup()
        do throws(SystemError) {
            // Unowned: `stop` and `deinit` wait for the thread's end.
            let thread = try SystemThread(name: "vg-jackd") { [unowned self] in self.keep(started) }
            lock.locked {
                supervisor = thread
                launched = monotonicSeconds()
            }
            started.wait(milliseconds: -1)
            // jackd opens the database before its socket, or makes it.
            let deadline = monotonicSeconds() + 1
            while isRunning, !JackMetadata.isMade, access(socket, F_OK) != 0, monotonicSeconds() < deadline {
                usleep(500)
            }
        } catch {
            lock.locked { failure = error }
        }
    }

    private func keep(_ started: Wakeup) {
        var launcher = ChildLauncher(arguments)
        launcher.environment = Self.environment()
        launcher.endSignal = SIGTERM
        launcher.channel = nameLock?.descriptor
        let server: StartedChild
        do throws(SystemError) { server = try launcher.start() } catch {
            lock.locked { (child, failure) = (0, error) }
            return started.signal()
        }
        lock.locked { (child, failure) = (server.process, nil) }
        started.signal()
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = read(server.output, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            lock.locked { printed.append(buffer[..<count]) }
        }
        close(server.output)
        // Not reaped yet, so its id cannot be another's when `stop` sends a signal.
        var information = siginfo_t()
        while waitid(P_PID, id_t(server.process), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        lock.locked {
            _ = server.wait()
            child = 0
        }
    }

    /// This process's environment, but without PipeWire's library path: under `pw-jack` jackd would take PipeWire's
    /// libraries for its own.
    private static func environment() -> [String] {
        var result: [String] = []
        var next = environ
        while let text = next.pointee.map({ String(cString: $0) }) {
            next += 1
            guard text.hasPrefix("LD_LIBRARY_PATH=") else {
                result.append(text)
                continue
            }
            let folders = text.dropFirst(16).split(separator: ":").filter { !$0.contains("/pipewire-") }
            if !folders.isEmpty { result.append("LD_LIBRARY_PATH=" + folders.joined(separator: ":")) }
        }
        return result
    }
}

extension ServerProcess {
    /// Opens a client as soon as the server answers, within 30 seconds. [control]
    package func client(named client: String) throws(DriverError) -> OpaquePointer {
        let deadline = monotonicSeconds() + Self.patience
        while isRunning {
            do throws(JackLibrary.OpenError) {
                return try JackLibrary.open(name: client, server: name, library: .jackd)
            } catch {
                if case .noServer = error, monotonicSeconds() < deadline {
                    usleep(5_000)
                    startAgainIfHeldUp()
                    continue
                }
                guard case .noServer = error else { throw error.asDriverError(server: name) }
                throw DriverError(
                    "the JACK server '\(name)', which was started, does not answer within \(Int(Self.patience)) s",
                    hint: "is the machine too busy?", details: recentOutput)
            }
        }
        throw DriverError(
            "the JACK server '\(name)' ended while it started",
            hint: SharedMemory.hasForeignRegistry()
                ? "\(ServerNames.registry) is not JACK's list of servers: when no JACK server is running, remove it"
                : kind == .alsa ? SoundCards.hint : "run \(arguments.joined(separator: " ")) to see why",
            details: recentOutput)
    }
}

extension ServerProcess.Backend {
    /// As jackd wants it said.
    var arguments: [String] {
        switch self {
        case .dummy: return ["-d", "dummy"]
        case .alsa(let device, let capture, let playback, let periods):
            let card = device ?? "hw:0"
            let isOne = capture == nil && playback == nil
            let cards = isOne ? ["-d", card] : ["-C", capture ?? card, "-P", playback ?? card]
            return ["-d", "alsa"] + cards + ["-n", "\(periods ?? 2)"]
        }
    }

    /// The sound cards that it names.
    var cards: [String] {
        guard case .alsa(let device, let capture, let playback, _) = self else { return [] }
        var wanted = DriverDescription()
        (wanted.device, wanted.capture, wanted.playback) = (device, capture, playback)
        return wanted.cards
    }

    fileprivate var kind: DriverInfo.Kind {
        switch self {
        case .dummy: .dummy
        case .alsa: .alsa
        }
    }
}
