// SPDX-License-Identifier: Apache-2.0
import GRDB
import Graph
import Host
import NodeKit

/// The rows of one session: what an event makes of them. All of a call is written, or nothing. Only for the writer's thread.
struct SessionStore {
    /// An item of a node.
    struct Key: Hashable {
        var node: String
        var number: Int64
    }

    /// What is under way, and so may be changed.
    struct Open {
        var session: Int64?
        /// Rows of items that grow.
        var items: [Key: Int64] = [:]
        /// Rows of takes that have not ended, oldest first.
        var takes: [String: [(path: String, row: Int64)]] = [:]
        var speakers: [String: Int64] = [:]
    }

    let file: ArchiveFile
    private let about: ArchiveWriter.Session
    private var queue: DatabaseQueue?
    private var opened: FileNumbers?
    private var open = Open()
    /// Why the last call failed.
    private(set) var fault: ArchiveError?

    init(_ file: ArchiveFile, _ session: ArchiveWriter.Session) {
        self.file = file
        about = session
    }

    /// Whether there is a file.
    var isOpen: Bool { queue != nil }
    /// The session's row; nil: nothing was kept.
    var session: Int64? { open.session }

    /// Writes events; returns an archive that had to be set aside first.
    mutating func write(_ events: [Event]) throws(ArchiveError) -> ArchiveFile.SetAside? {
        do throws(ArchiveError) {
            let setAside = try reopen()
            guard let queue else { return setAside }
            let (before, about) = (open, about)
            open = try translated {
                try queue.write { db in
                    var open = before
                    try open.adopt(about, db)
                    for event in events { try open.take(event, about, db) }
                    return open
                }
            }
            fault = nil
            return setAside
        } catch {
            fault = error
            // A connection that was refused once may be refused for ever.
            if error.kind == .refused { close() }
            throw error
        }
    }

    /// Gives the file another name, and returns that, unless another program has done so; the next call begins a new one.
    mutating func setAside() throws(ArchiveError) -> String? {
        let opened = opened
        close()
        return try file.setAside(opened)
    }

    /// Closes the session. What is growing stays as it is, marked.
    mutating func end() {
        if let queue, let session = open.session {
            let isThere = try? queue.write { db in
                try closeSession(session, end: calendarTime(), how: "ended", db)
                return try Int64.fetchOne(db, sql: "SELECT id FROM session WHERE id = ?", arguments: [session]) != nil
            }
            if isThere == false { open.session = nil }
            // The log is empty then, unless others write to it.
            _ = try? queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        }
        let session = open.session
        close()
        open.session = session
    }

    private mutating func close() {
        try? queue?.close()
        (queue, opened) = (nil, nil)
        open = Open()
    }

    /// Opens the file if it is not open, or another now.
    private mutating func reopen() throws(ArchiveError) -> ArchiveFile.SetAside? {
        if let queue {
            if let opened, file.identity == opened { return nil }
            // Somebody has renamed it: what is in its log goes into it, by the handle.
            try? queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
            close()
        }
        let (made, setAside) = try file.open()
        opened = file.identity
        try translated { try made.write { try closeOrphans($0) } }
        queue = made
        return setAside
    }
}

/// Closes the sessions whose process is gone: it cannot do so itself any more.
private func closeOrphans(_ db: Database) throws {
    let open = try Row.fetchAll(db, sql: "SELECT id, start, owner FROM session WHERE end IS NULL")
    for row in open where !SessionOwner.isAlive(row["owner"]) {
        let session: Int64 = row["id"]
        let last = try Double.fetchOne(
            db,
            sql: """
                SELECT max(told) FROM (SELECT told FROM item WHERE session = ?1 UNION ALL
                SELECT told FROM take WHERE session = ?1)
                """, arguments: [session])
        try closeSession(session, end: last ?? row["start"], how: "crashed", db)
    }
}

/// Ends a session; one of which nothing is kept goes.
private func closeSession(_ session: Int64, end: Double, how: String, _ db: Database) throws {
    for table in ["item", "take"] {
        try db.execute(
            sql: "UPDATE \(table) SET state = 'cut' WHERE session = ? AND state = 'growing'", arguments: [session])
    }
    try db.execute(sql: "UPDATE session SET end = ?, ended = ? WHERE id = ?", arguments: [end, how, session])
    try removeEmptySessions(db, among: "id = \(session)")
}

/// Removes closed sessions of which nothing is kept.
func removeEmptySessions(_ db: Database, among condition: String = "1") throws {
    try db.execute(
        sql: """
            DELETE FROM session WHERE \(condition) AND end IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM item WHERE session = session.id)
            AND NOT EXISTS (SELECT 1 FROM take WHERE session = session.id)
            """)
}
