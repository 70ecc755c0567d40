// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The database in which jackd's clients keep what they say of their ports, shared by all servers and clients of a user. A
/// client that is killed while it makes the database leaves an empty file in it, after which every other client, of any
/// program, ends with a bus error. A server that is killed while it looks into the database leaves a lock in it, for which
/// every other server waits for ever as soon as a client leaves it (jackd 1.9.21, Berkeley DB 5.3).
enum JackMetadata {
    /// Where jackd keeps it.
    static var folder: String { "/dev/shm/jack_db-\(getuid())" }

    /// Whether the database is there, and whole. [control]
    static var isMade: Bool { !regions(folder).isEmpty && !hasEmptyRegion(folder) }

    /// Removes the database's shared regions where one of them is empty, and stays so: they are made anew then. Returns
    /// whether it did. [control]
    @discardableResult
    static func repair(_ folder: String = folder) -> Bool {
        guard hasEmptyRegion(folder) else { return false }
        // Whoever makes it just now fills it at once.
        usleep(100_000)
        guard hasEmptyRegion(folder) else { return false }
        for region in regions(folder) { unlink(region) }
        return true
    }

    /// Removes the database's shared regions where no program of this user has them any more: locks of the dead are in
    /// them. For who starts a server. Returns whether it did. [control]
    @discardableResult
    static func removeUnused(_ folder: String = folder) -> Bool {
        let files = regions(folder)
        // Somebody may be about to open what he has just made.
        guard !files.isEmpty, files.allSatisfy({ isOlder($0, seconds: 1) }), !isUsed(folder) else { return false }
        for region in files { unlink(region) }
        return true
    }

    private static func isOlder(_ path: String, seconds: Double) -> Bool {
        var (facts, now) = (stat(), timespec())
        guard stat(path, &facts) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
        return Double(now.tv_sec - facts.st_mtim.tv_sec) + Double(now.tv_nsec - facts.st_mtim.tv_nsec) / 1e9 >= seconds
    }

    /// Whether a process other than `exception` has mapped a region of those that are there now; a server of this user's
    /// that does not let itself be looked at, as one with capabilities of its own, counts as if it had. Those of others
    /// have a database of theirs, as have those of this user in a container. [control]
    static func isUsed(_ folder: String = folder, apartFrom exception: pid_t = 0) -> Bool {
        let mark = folder + "/__db."
        return names(in: "/proc").contains { process in
            guard let id = pid_t(process), id != exception else { return false }
            let maps = textOfFile("/proc/\(process)/maps")
            if !maps.isEmpty {
                return maps.contains(mark)
                    && maps.split(separator: "\n").contains { $0.contains(mark) && !$0.hasSuffix(" (deleted)") }
                    && isSame(folder, inSightOf: process)
            }
            // One that has ended and is not yet reaped has no command line.
            return textOfFile("/proc/\(process)/comm").hasPrefix("jack")
                && textOfFile("/proc/\(process)/status").contains("\nUid:\t\(getuid())\t")
                && !textOfFile("/proc/\(process)/cmdline").isEmpty
        }
    }

    /// Whether the path leads the process where it leads this one; so it is where that cannot be told.
    private static func isSame(_ path: String, inSightOf process: String) -> Bool {
        var (here, there) = (stat(), stat())
        guard stat(path, &here) == 0 else { return false }
        let root = ["/proc", process, "root"].joined(separator: "/")
        guard stat(root + path, &there) == 0 else { return errno != ENOENT }
        return here.st_dev == there.st_dev && here.st_ino == there.st_ino
    }

    private static func hasEmptyRegion(_ folder: String) -> Bool {
        regions(folder).contains { path in
            var facts = stat()
            return stat(path, &facts) == 0 && facts.st_size == 0
        }
    }

    private static func regions(_ folder: String) -> [String] {
        names(in: folder).filter { $0.hasPrefix("__db.") }.map { folder + "/" + $0 }
    }
}
