// SPDX-License-Identifier: Apache-2.0
import CJack
import CRealtime
import Glibc
import Synchronization

/// A JACK server with the dummy driver, 128 frames at 48 kHz unless told otherwise.
final class Server {
    let name: String
    private let child: Child

    /// nil: jackd is not installed.
    init?(_ effort: Effort, block: Int = 128) throws {
        guard let jackd = program("jackd") else { return nil }
        name = effort.server
        child = try Child([jackd, "-n", name, "-R", "-P", "70", "-d", "dummy", "-r", "48000", "-p", "\(block)"])
    }

    /// Ends and reaps it.
    func stop() { child.stop() }

    /// The same without giving it time for anything.
    func kill() {
        Glibc.kill(child.id, SIGKILL)
        child.stop()
    }

    /// When it was started.
    var started: UInt64 { child.started }
}

/// Has calls go to jackd's libjack, those of the peers in C too.
func loadJack() throws {
    if let fault = vg_jack_load("libjack.so.0", false) { throw BenchmarkError(String(cString: fault)) }
}

/// A JACK client that plays a constant and listens for anything that is not silence.
final class Probe {
    fileprivate struct State: ~Copyable {
        var output: OpaquePointer?
        var input: OpaquePointer?
        let level = Atomic<UInt32>(0)
        let cycles = Atomic<UInt64>(0)
        /// When something was heard first since `listen`; 0: nothing yet.
        let heard = Atomic<UInt64>(0)
        /// When something was heard last.
        let last = Atomic<UInt64>(0)
        /// When what is heard changed first since `listen`, and when it changed last; 0: not yet.
        let changed = Atomic<UInt64>(0)
        let settled = Atomic<UInt64>(0)
        /// The sample before. Only the audio thread's.
        var before: Float = 0
    }

    let client: OpaquePointer
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    let name: String

    /// Waits until the server answers, at most ten seconds.
    init(_ server: Server, name wanted: String = "vg-probe") throws {
        try loadJack()
        jack_set_error_function { @Sendable _ in }
        jack_set_info_function { @Sendable _ in }
        var opened: OpaquePointer?
        let deadline = vg_nanoseconds() + 10_000_000_000
        while opened == nil, vg_nanoseconds() < deadline {
            var status = JackStatus(rawValue: 0)
            opened = vg_jack_open(wanted, server.name, false, &status)
            if opened == nil { usleep(5000) }
        }
        guard let opened else { throw BenchmarkError("the JACK server '\(server.name)' does not answer") }
        client = opened
        name = String(cString: jack_get_client_name(opened))
        state.initialize(to: State())
        state.pointee.output = jack_port_register(
            opened, "out", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0)
        state.pointee.input = jack_port_register(
            opened, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
        jack_set_process_callback(opened, probeProcess, state)
        guard jack_activate(opened) == 0 else { throw BenchmarkError("the JACK server does not activate a client") }
    }

    func close() {
        jack_client_close(client)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Cycles so far.
    var cycles: UInt64 { state.pointee.cycles.load(ordering: .relaxed) }

    /// Plays a constant, linear; 0: silence.
    func play(_ level: Float) { state.pointee.level.store(level.bitPattern, ordering: .relaxed) }

    /// Forgets what was heard.
    func listen() {
        state.pointee.heard.store(0, ordering: .relaxed)
        state.pointee.changed.store(0, ordering: .relaxed)
        state.pointee.settled.store(0, ordering: .relaxed)
    }

    /// When what is heard began to change since `listen`, and when it had been steady for a tenth of a second, when that
    /// began; nil: not in time.
    func change(seconds: Double) -> (began: UInt64, ended: UInt64)? {
        func read() -> (UInt64, UInt64) {
            (state.pointee.changed.load(ordering: .acquiring), state.pointee.settled.load(ordering: .acquiring))
        }
        let settled = wait(seconds) {
            let (began, ended) = read()
            return began != 0 && Double(vg_nanoseconds()) - Double(ended) > 100_000_000
        }
        return settled ? read() : nil
    }

    /// When something was heard first since `listen`; nil: nothing in time.
    func firstSound(seconds: Double) -> UInt64? {
        wait(seconds) { self.state.pointee.heard.load(ordering: .acquiring) != 0 }
            ? state.pointee.heard.load(ordering: .acquiring) : nil
    }

    /// Waits until nothing was heard for so long.
    func waitForSilence(of silence: Double, seconds: Double) -> Bool {
        wait(seconds) {
            Double(vg_nanoseconds()) - Double(self.state.pointee.last.load(ordering: .acquiring)) > silence * 1e9
        }
    }

    /// Connects two ports as soon as both are there; false: they did not come in time, or `hopeless` says that they
    /// never will.
    func connect(_ from: String, _ to: String, seconds: Double, unless hopeless: () -> Bool = { false }) -> Bool {
        var connected = false
        _ = wait(seconds) {
            connected = tryToConnect(from, to)
            return connected || hopeless()
        }
        return connected
    }

    private func tryToConnect(_ from: String, _ to: String) -> Bool {
        guard jack_port_by_name(client, from) != nil, jack_port_by_name(client, to) != nil else { return false }
        let result = jack_connect(client, from, to)
        return result == 0 || result == EEXIST
    }

    /// The server's load in percent of a period, seen `count` times, 100 ms apart.
    func load(count: Int) -> [Double] {
        (0..<count).map { _ in
            usleep(100_000)
            return Double(jack_cpu_load(client))
        }
    }

    private func wait(_ seconds: Double, _ condition: () -> Bool) -> Bool {
        let deadline = vg_nanoseconds() + UInt64(seconds * 1e9)
        while !condition() {
            guard vg_nanoseconds() < deadline else { return false }
            usleep(500)
        }
        return true
    }
}

/// [audio]
private func probeProcess(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let state = argument?.assumingMemoryBound(to: Probe.State.self) else { return 0 }
    let level = Float(bitPattern: state.pointee.level.load(ordering: .relaxed))
    if let port = state.pointee.output, let buffer = jack_port_get_buffer(port, frames) {
        let samples = buffer.assumingMemoryBound(to: Float.self)
        for frame in 0..<Int(frames) { samples[frame] = level }
    }
    if let port = state.pointee.input, let buffer = jack_port_get_buffer(port, frames) {
        let samples = buffer.assumingMemoryBound(to: Float.self)
        noteChanges(state, samples, Int(frames))
        for frame in 0..<Int(frames) where samples[frame] != 0 {
            let now = vg_nanoseconds()
            if state.pointee.heard.load(ordering: .relaxed) == 0 {
                state.pointee.heard.store(now, ordering: .releasing)
            }
            state.pointee.last.store(now, ordering: .releasing)
            break
        }
    }
    state.pointee.cycles.store(state.pointee.cycles.load(ordering: .relaxed) + 1, ordering: .releasing)
    return 0
}

/// [audio]
private func noteChanges(
    _ state: UnsafeMutablePointer<Probe.State>, _ samples: UnsafeMutablePointer<Float>, _ frames: Int
) {
    var before = state.pointee.before
    var changes = false
    for frame in 0..<frames {
        if abs(samples[frame] - before) > 1e-7 { changes = true }
        before = samples[frame]
    }
    state.pointee.before = before
    guard changes else { return }
    let now = vg_nanoseconds()
    if state.pointee.changed.load(ordering: .relaxed) == 0 { state.pointee.changed.store(now, ordering: .releasing) }
    state.pointee.settled.store(now, ordering: .releasing)
}

/// One JACK server and one probe, ended together.
func withServer<Result>(_ effort: Effort, block: Int = 128, _ body: (Server, Probe) throws -> Result) throws -> Result?
{
    guard let server = try Server(effort, block: block) else { return nil }
    defer { server.stop() }
    let probe = try Probe(server)
    defer { probe.close() }
    return try body(server, probe)
}
