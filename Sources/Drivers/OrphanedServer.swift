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
        // A name that is free has no server of ours.
        let taken = names.filter { ServerNameLock($0) == nil }
        guard taken.contains(where: { server($0) != nil }) else { return }
        let deadline = monotonicSeconds() + patience
        while taken.contains(where: { server($0) != nil }), monotonicSeconds() < deadline { usleep(20_000) }
        for process in taken.compactMap(server) {
            kill(process, SIGKILL)
            let deadline = monotonicSeconds() + patience
            while taken.contains(where: { server($0) == process }), monotonicSeconds() < deadline { usleep(2000) }
        }
    }

    /// The server of a name, where nobody else has the right to it; nil: there is none, or its host lives.
    private static func server(_ name: String) -> pid_t? {
        var lock = stat()
        guard stat(ServerNameLock.path(name), &lock) == 0 else { return nil }
        let holders = System.names(in: "/proc").compactMap { pid_t($0) }.filter { process in
            System.names(in: "/proc/\(process)/fd").contains { number in
                var file = stat()
                return stat("/proc/\(process)/fd/\(number)", &file) == 0
                    && (file.st_dev, file.st_ino) == (lock.st_dev, lock.st_ino)
            }
        }
        guard holders.count == 1, textOfFile("/proc/\(holders[0])/comm").hasPrefix("jackd") else { return nil }
        return holders[0]
    }
}
