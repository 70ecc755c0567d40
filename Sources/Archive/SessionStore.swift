// SPDX-License-Identifier: Apache-2.0
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
        /// Where relative paths start, whatever a plugin does to that.
        let folder: String
        /// Whether the log may hold words that the rows hold no more.
        var hasRemains = false
    }

    let file: ArchiveFile
    private let about: ArchiveWriter.Session
    private var database: Database?
    private var opened: FileNumbers?
    private var open = Open(folder: currentFolder())
    /// Why the last call failed.
    private(set) var error: ArchiveError?

    init(_ file: ArchiveFile, _ session: ArchiveWriter.Session) {
        self.file = file
        about = session
    }

    /// Whether there is a file.
    var isOpen: Bool { database != nil }
    /// The session's row; nil: nothing was kept.
    var session: Int64? { open.session }

    /// Writes events; returns an archive that had to be set aside first.
    mutating func write(_ events: [Event]) throws(ArchiveError) -> ArchiveFile.SetAside? {
        do throws(ArchiveError) {
            let setAside = try reopen()
            guard let database else { return setAside }
            let (before, about) = (open, about)
            open = try database.write { db throws(ArchiveError) in
                var open = before
                try open.adopt(about, db)
                for event in events { try open.take(event, about, db) }
                return open
            }
            emptyLog(patience: 0.1)
            error = nil
            return setAside
        } catch {
            self.error = error
            // A connection that was refused once may be refused for ever.
            if error.kind == .refused { close() }
            throw error
        }
    }

    /// What was taken back or replaced goes out of the log, too; where somebody reads of it now, after the next call.
    private mutating func emptyLog(patience: Double) {
        guard open.hasRemains, let database else { return }
        let isEmpty: ()? = try? database.use { db throws(ArchiveError) in try db.emptyLog(patience: patience) }
        open.hasRemains = isEmpty == nil
    }

    /// Gives the file another name, and returns that, unless another program has done so; the next call begins a new one.
    mutating func setAside() throws(ArchiveError) -> String? {
        let opened = opened
        close()
        return try file.setAside(opened)
    }

    /// Closes the session. What is growing stays as it is, marked.
    mutating func end() {
        if let database, let session = open.session {
            let isThere = try? database.write { db throws(ArchiveError) in
                try closeSession(session, end: calendarTime(), how: "ended", db)
                return try hasSession(session, db)
            }
            if isThere == false { open.session = nil }
            // The log is empty then, unless others write to it.
            try? database.use { db throws(ArchiveError) in try db.emptyLog() }
        }
        let session = open.session
        close()
        open.session = session
    }

    private mutating func close() {
        (database, opened) = (nil, nil)
        open = Open(folder: open.folder)
    }

    /// Opens the file if it is not open, or another now.
    private mutating func reopen() throws(ArchiveError) -> ArchiveFile.SetAside? {
        if let database {
            if let opened, file.identity == opened { return nil }
            // Somebody has renamed it: what is in its log goes into it, by the handle.
            try? database.use { db throws(ArchiveError) in try db.emptyLog() }
            close()
        }
        let (made, setAside) = try file.open()
        opened = file.identity
        let orphans = try made.write(closeOrphans)
        if orphans > 0 { open.hasRemains = true }
        database = made
        return setAside
    }
}

/// Closes the sessions whose process is gone: it cannot do so itself any more. Returns how many.
private func closeOrphans(_ db: Connection) throws(ArchiveError) -> Int {
    let open = try db.rows("SELECT id, start, owner FROM session WHERE end IS NULL") {
        row -> (session: Int64, start: Double, owner: String) in (row["id"], row["start"], row["owner"])
    }
    let orphans = open.filter { !SessionOwner.isAlive($0.owner) }
    for (session, start, _) in orphans {
        let last: Double?? = try db.value(
            """
            SELECT max(told) FROM (SELECT told FROM item WHERE session = ?1 UNION ALL
            SELECT told FROM take WHERE session = ?1)
            """, [session])
        try closeSession(session, end: (last ?? nil) ?? start, how: "crashed", db)
    }
    return orphans.count
}

/// Whether there is a session with this number.
func hasSession(_ session: Int64, _ db: Connection) throws(ArchiveError) -> Bool {
    try db.value("SELECT EXISTS (SELECT 1 FROM session WHERE id = ?)", [session]) == 1
}

/// Ends a session; one of which nothing is kept goes.
private func closeSession(_ session: Int64, end: Double, how: String, _ db: Connection) throws(ArchiveError) {
    for table in ["item", "take"] {
        try db.execute(
            "UPDATE \(table) SET state = 'cut' WHERE session = ? AND state = 'growing'", [session])
    }
    try db.execute("UPDATE session SET end = ?, ended = ? WHERE id = ?", [end, how, session])
    try removeUnused(db, among: "id = \(session)")
}

/// Removes closed sessions of which nothing is kept, and the names of those who are heard in nothing.
func removeUnused(_ db: Connection, among condition: String = "1") throws(ArchiveError) {
    try db.execute(
        """
        DELETE FROM session WHERE \(condition) AND end IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM item WHERE session = session.id)
        AND NOT EXISTS (SELECT 1 FROM take WHERE session = session.id)
        """)
    try db.run("DELETE FROM speaker WHERE id NOT IN (SELECT speaker FROM item UNION SELECT speaker FROM take)")
}
