// SPDX-License-Identifier: Apache-2.0
import System

/// A connection that threads take turns with.
final class Database: @unchecked Sendable {
    // Sendable: the connection is reached only while the lock is held.
    private let lock = Monitor()
    private let connection: Connection

    /// Opens a file, and makes it if it is not there. [control]
    init(_ path: String, patience: Double = 5) throws(ArchiveError) {
        connection = try Connection(path, patience: patience)
    }

    /// Looks at it as it is at one moment. [control]
    func read<Result>(_ body: (Connection) throws(ArchiveError) -> Result) throws(ArchiveError) -> Result {
        try use { db throws(ArchiveError) in
            try db.transaction(writing: false) { () throws(ArchiveError) in try body(db) }
        }
    }

    /// Changes it: all that `body` does is done, or nothing. [control]
    func write<Result>(_ body: (Connection) throws(ArchiveError) -> Result) throws(ArchiveError) -> Result {
        try use { db throws(ArchiveError) in
            try db.transaction(writing: true) { () throws(ArchiveError) in try body(db) }
        }
    }

    /// Does something with it outside of a transaction. [control]
    func use<Result>(_ body: (Connection) throws(ArchiveError) -> Result) throws(ArchiveError) -> Result {
        try lock.locked { () throws(ArchiveError) in try body(connection) }
    }
}
