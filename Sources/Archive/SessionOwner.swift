// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A process, in a text by which another can tell whether it still runs: the machine's start, its id, its own start.
enum SessionOwner {
    /// This process.
    static var own: String { "\(boot) \(getpid()) \(start(of: getpid()) ?? "?")" }

    /// Whether the process that a text tells of runs. [any]
    static func isAlive(_ owner: String) -> Bool {
        let parts = owner.split(separator: " ").map(String.init)
        guard parts.count == 3, parts[0] == boot, let process = pid_t(parts[1]) else { return false }
        return start(of: process) == parts[2]
    }

    private static let boot = text("/proc/sys/kernel/random/boot_id").filter { !$0.isWhitespace }

    /// When a process began, in the kernel's ticks since the machine's start (proc(5), field 22); nil: there is none, or it
    /// has ended and waits for its parent.
    private static func start(of process: pid_t) -> String? {
        // The name, in parentheses, may hold anything.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, !["Z", "X"].contains(fields[0]) else { return nil }
        return String(fields[19])
    }

    private static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
