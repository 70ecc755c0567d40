// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The database in which jackd's clients keep what they say of their ports, shared by all of a user. A client that is
/// killed while it makes the database leaves an empty file in it, after which every other client, of any program, ends
/// with a bus error (libjack of jackd 1.9.21, Berkeley DB 5.3).
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
