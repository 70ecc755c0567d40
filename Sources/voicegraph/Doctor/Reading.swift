// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import System

/// Something that is read on a thread of its own, since it may hang: a server, a folder on another machine, a plugin. Who
/// hangs is left behind; the process ends all the same.
final class Reading<Value: Sendable>: Sendable {
    private let result = Lock<Value?>(nil)
    private let done = Wakeup()

    /// Begins to read. [control]
    init(_ read: @escaping @Sendable () -> Value) {
        let thread = try? SystemThread(name: "vg-doctor") { [result, done] in
            let value = read()
            result.withLock { $0 = value }
            done.signal()
        }
        thread?.detach()
    }

    /// What was read, if that is done by a time of `monotonicSeconds`; else nil. Once. [control]
    func value(by deadline: Double) -> Value? {
        done.wait(milliseconds: max(0, Int((deadline - monotonicSeconds()) * 1000)))
        return result.withLock { $0 }
    }
}

/// What a program prints on standard output and error, and its exit code; nil: it could not be started, or did not end in
/// time and was ended. When the time is over `mayGoOn` is asked whether that process may have as much again, until `most`
/// seconds are over. [control]
func outputOf(
    _ command: [String], within seconds: Double, most: Double = 0, mayGoOn: (pid_t) -> Bool = { _ in false }
) -> (code: Int32, text: String)? {
    var launcher = ChildLauncher(command)
    launcher.endSignal = SIGKILL
    guard let child = try? launcher.start() else { return nil }
    defer { close(child.output) }
    let start = monotonicSeconds()
    var deadline = start + seconds
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        var end = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
        let rest = deadline - monotonicSeconds()
        let ready = rest > 0 ? poll(&end, 1, Int32(rest * 1000) + 1) : 0
        if ready < 0, errno == EINTR { continue }
        if ready == 0, deadline - start < most, mayGoOn(child.process) {
            deadline += seconds
            continue
        }
        guard ready > 0 else {
            child.kill()
            _ = child.wait()
            return nil
        }
        let count = read(child.output, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        bytes += buffer[..<count]
    }
    // It may have closed its output and live on.
    var status: Int32 = 0
    while waitpid(child.process, &status, WNOHANG) == 0 {
        if monotonicSeconds() > deadline {
            child.kill()
            _ = child.wait()
            return nil
        }
        usleep(1000)
    }
    let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    return (code, String(decoding: bytes, as: UTF8.self))
}

/// Seconds that the threads of a process ran, or were ready to while others had the processors. Where it stays the same the
/// process does nothing at all. [control]
func activity(of process: pid_t) -> Double {
    let folder = "/proc/\(process)/task"
    return names(in: folder).reduce(0) { sum, thread in
        let times = textOfFile("\(folder)/\(thread)/schedstat").split(separator: " ").prefix(2).compactMap {
            Double($0)
        }
        return sum + times.reduce(0, +) * 1e-9
    }
}

/// The value of a variable of the environment; nil: there is none, or it is empty. [any]
func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}

extension String {
    /// Without blanks and ends of lines around it.
    var trimmed: String {
        let text = drop { $0.isWhitespace }
        return String(text.reversed().drop { $0.isWhitespace }.reversed())
    }
}
