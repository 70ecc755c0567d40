// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// A server of our own whose host is gone. It was told to end. One that waits for a lock which a killed server left in
/// jackd's database (see `JackMetadata`) never does: it keeps its name, and every server that is started hangs like it.
enum OrphanedServer {
    /// Seconds that one has to end.
    private static let patience = 2.0

    /// Ends those of these names that do not end by themselves. [control]
    static func end(_ names: [String]) {
        let deadline = monotonicSeconds() + patience
        while !orphans(names).isEmpty, monotonicSeconds() < deadline { usleep(20_000) }
        let left = orphans(names)
        for process in left { kill(process, SIGKILL) }
        while !left.isEmpty, !orphans(names).isEmpty, monotonicSeconds() < deadline + patience { usleep(2000) }
    }

    /// Servers that hold the lock of their name, which the process that started them does not.
    private static func orphans(_ names: [String]) -> [pid_t] {
        let locks = names.compactMap { identity(ServerNameLock.path($0)) }
        return System.names(in: "/proc").compactMap { pid_t($0) }.filter { process in
            guard textOfFile("/proc/\(process)/comm").hasPrefix("jackd") else { return false }
            return locks.contains { isHeld($0, by: process) && !isHeld($0, by: parent(of: process)) }
        }
    }

    /// A file's device and inode.
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t
    }

    private static func identity(_ path: String) -> Identity? {
        var file = stat()
        return stat(path, &file) == 0 ? Identity(device: file.st_dev, inode: file.st_ino) : nil
    }

    private static func isHeld(_ lock: Identity, by process: pid_t) -> Bool {
        let folder = "/proc/\(process)/fd"
        return System.names(in: folder).contains { identity("\(folder)/\($0)") == lock }
    }

    /// 0: it is gone.
    private static func parent(of process: pid_t) -> pid_t {
        // The name before it may have blanks and brackets.
        let fields = textOfFile("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 1 ? pid_t(fields[1]) ?? 0 : 0
    }
}
