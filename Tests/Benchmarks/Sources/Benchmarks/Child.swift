// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import Synchronization
import System

/// A process that was started to be measured: its lines with the time at which each came. It is ended and reaped by
/// `stop`, or by the end of this process.
final class Child: @unchecked Sendable {
    // Sendable: the lines have a mutex; the rest is used by the thread that made it.
    let id: pid_t
    /// When it was started.
    let started: UInt64
    private let lines = Lines()
    private var reader: SystemThread?
    private var reaped = false

    init(_ arguments: [String], environment more: [String: String] = [:]) throws {
        var variables = currentEnvironment()
        variables["JACK_NO_START_SERVER"] = "1"
        for (key, value) in more { variables[key] = value }
        var launcher = ChildLauncher(arguments)
        launcher.environment = variables.map { "\($0.key)=\($0.value)" }
        // The main thread, which lives as long as the process: the kernel ends the child with it.
        launcher.endSignal = SIGKILL
        started = vg_nanoseconds()
        let child = try launcher.start()
        id = child.process
        reader = try SystemThread(name: "reader") { [lines] in collect(child.output, lines) }
    }

    deinit { stop() }

    /// Nanoseconds from the start to the first line that contains `text`; nil: it did not come.
    func wait(for text: String, seconds: Double) -> Double? {
        let deadline = vg_nanoseconds() + UInt64(seconds * 1e9)
        while vg_nanoseconds() < deadline {
            if let line = lines.first(with: text) { return Double(line.time - started) }
            if hasEnded, lines.isClosed, lines.first(with: text) == nil { return nil }
            usleep(500)
        }
        return nil
    }

    /// Waits for the end; its exit code, or nil when it was not in time.
    func waitForEnd(seconds: Double) -> Int32? {
        let deadline = vg_nanoseconds() + UInt64(seconds * 1e9)
        while !hasEnded {
            guard vg_nanoseconds() < deadline else { return nil }
            usleep(200)
        }
        return exitCode
    }

    private(set) var exitCode: Int32?
    /// Seconds that it used, with its threads; known at its end.
    private(set) var processorTime = 0.0
    /// The most memory that it had at a time in MiB, with what it shares; known at its end.
    private(set) var peakMemory = 0.0

    /// Whether it has ended; reaps it then.
    var hasEnded: Bool {
        var status: Int32 = 0
        var usage = rusage()
        if !reaped, wait4(id, &status, WNOHANG, &usage) == id {
            reaped = true
            processorTime = [usage.ru_utime, usage.ru_stime].reduce(0) {
                $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
            }
            peakMemory = Double(usage.ru_maxrss) / 1024
            exitCode = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
        }
        return reaped
    }

    /// Ends and reaps it: asks, and after three seconds forces.
    func stop() {
        if !hasEnded {
            kill(id, SIGTERM)
            let deadline = vg_nanoseconds() + 3_000_000_000
            while !hasEnded, vg_nanoseconds() < deadline { usleep(2000) }
            if !hasEnded {
                kill(id, SIGKILL)
                while !hasEnded { usleep(1000) }
            }
        }
        reader?.join()
        reader = nil
    }

    /// What it has printed; all of it after `stop`.
    var allLines: [(time: UInt64, text: String)] { lines.all }

    /// The last of what it printed.
    var lastLines: String { lines.last }

    /// A figure of /proc/ID/status in KiB.
    func memory(_ key: String) -> Double {
        guard let text = readFile("/proc/\(id)/status") else { return .nan }
        let line = text.split(separator: "\n").first { $0.hasPrefix(key + ":") }
        return line.flatMap { Double($0.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]) } ?? .nan
    }
}

/// What a child has printed so far.
private final class Lines: Sendable {
    private struct State {
        var lines: [(time: UInt64, text: String)] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    func add(_ time: UInt64, _ text: String) { state.withLock { $0.lines.append((time, text)) } }
    func close() { state.withLock { $0.isClosed = true } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    func first(with text: String) -> (time: UInt64, text: String)? {
        state.withLock { $0.lines.first { $0.text.contains(text) } }
    }
    var all: [(time: UInt64, text: String)] { state.withLock { $0.lines } }
    var last: String { state.withLock { $0.lines.suffix(5).map(\.text).joined(separator: "\n") } }
}

/// Reads lines until the other end is closed. One that is a prompt, without an end, is not waited for.
private func collect(_ descriptor: Int32, _ lines: Lines) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    var rest: [UInt8] = []
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { break }
        let time = vg_nanoseconds()
        rest += buffer[..<count]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.add(time, String(decoding: rest[..<end], as: UTF8.self))
            rest.removeSubrange(...end)
        }
    }
    close(descriptor)
    lines.close()
}
