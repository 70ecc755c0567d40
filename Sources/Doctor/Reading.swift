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
