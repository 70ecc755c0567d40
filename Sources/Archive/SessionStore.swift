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

    /// Gives the file another name; the next call begins a new one.
    mutating func setAside() throws(ArchiveError) -> String {
        close()
        return try file.setAside()
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
        try translated { try made.write { try closeOrphans($0) } }
        (queue, opened) = (made, file.identity)
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

extension SessionStore.Open {
    /// Makes sure that there is a session: somebody may have deleted it.
    mutating func adopt(_ about: ArchiveWriter.Session, _ db: Database) throws {
        guard let session else { return }
        let isThere = try Int64.fetchOne(db, sql: "SELECT 1 FROM session WHERE id = ?", arguments: [session]) != nil
        if !isThere { self = Self() }
    }

    /// Does what an event asks for.
    mutating func take(_ event: Event, _ about: ArchiveWriter.Session, _ db: Database) throws {
        guard let keeping = event.keeping, let node = event.node else { return try heed(event, db) }
        let told = Told(event, node: node)
        switch keeping.role {
        case .text(let stage): try text(told, stage, keeping.speaker, about, db)
        case .take(let stage): try take(told, stage, keeping.speaker, about, db)
        }
    }

    /// A node that failed or is gone may count its items anew: what grew will not be completed by it.
    private mutating func heed(_ event: Event, _ db: Database) throws {
        var gone: [String] = []
        if event.name == HostEvent.health.name, event.text("state") == "failed", let node = event.node { gone = [node] }
        if event.name == HostEvent.changed.name, case .list(let names)? = event.fields["removed"] {
            gone = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
        }
        for node in gone {
            let rows = items.filter { $0.key.node == node }
            for (key, row) in rows {
                try db.execute(sql: "UPDATE item SET state = 'cut' WHERE id = ?", arguments: [row])
                items[key] = nil
            }
        }
    }

    private mutating func text(
        _ told: Told, _ stage: EventRole.Stage, _ speaker: String, _ about: ArchiveWriter.Session, _ db: Database
    ) throws {
        let key = SessionStore.Key(node: told.node, number: told.integer("item") ?? 0)
        let text = told.event.text("text") ?? ""
        let row = items[key]
        guard stage != .withdrawn, text.contains(where: { !$0.isWhitespace }) else {
            // Blank so far is blank, but not void.
            if stage == .partial, row != nil { return }
            if let row { try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [row]) }
            items[key] = nil
            return
        }
        let state: ArchivedState = stage == .partial ? .growing : .whole
        let (start, end) = (told.number("start"), told.number("end") ?? told.event.time)
        if let row {
            try db.execute(
                sql: """
                    UPDATE item SET text = ?, state = ?, start = coalesce(?, start), utc = coalesce(?, utc), end = ?,
                    told = ? WHERE id = ?
                    """,
                arguments: [text, state.rawValue, start, start.map(told.utc(at:)), end, calendarTime(), row])
            if db.changesCount > 0 {
                if state == .whole { items[key] = nil }
                return
            }
        }
        let first = start ?? told.event.time
        try db.execute(
            sql: """
                INSERT INTO item (session, speaker, node, number, start, end, utc, told, state, text)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                try id(of: about, db), try id(ofSpeaker: speaker, db), told.node, key.number, first, max(first, end),
                told.utc(at: first), calendarTime(), state.rawValue, text,
            ])
        items[key] = state == .growing ? db.lastInsertedRowID : nil
    }

    private mutating func take(
        _ told: Told, _ stage: EventRole.Stage, _ speaker: String, _ about: ArchiveWriter.Session, _ db: Database
    ) throws {
        guard let path = told.event.text("path"), !path.isEmpty else { return }
        var growing = takes[told.node] ?? []
        // Its name may have changed meanwhile, where another file has it.
        let index = growing.firstIndex { $0.path == path } ?? (stage == .partial ? nil : growing.indices.first)
        let row = index.map { growing.remove(at: $0).row }
        defer { takes[told.node] = growing }
        if stage == .withdrawn {
            if let row { try db.execute(sql: "DELETE FROM take WHERE id = ?", arguments: [row]) }
            return
        }
        let state: ArchivedState = stage == .partial ? .growing : .whole
        let frames = told.integer("frames")
        let seconds = told.number("seconds")
        let (end, reason) = (told.event.time, told.event.text("reason"))
        if let row, stage == .whole {
            try db.execute(
                sql: """
                    UPDATE take SET path = ?, place = NULL, frames = ?, seconds = coalesce(?, ? / rate), end = ?,
                    told = ?, state = ?, reason = ?, rate = coalesce(?, rate), channels = coalesce(?, channels)
                    WHERE id = ?
                    """,
                arguments: [
                    path, frames, seconds, frames.map(Double.init), end, calendarTime(), state.rawValue, reason,
                    told.number("rate"), told.integer("channels"), row,
                ])
            if db.changesCount > 0 { return }
        }
        let start = stage == .partial ? end : max(0, end - (seconds ?? 0))
        try db.execute(
            sql: """
                INSERT INTO take (session, speaker, node, path, place, frames, rate, channels, seconds, start, end, utc,
                told, state, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                try id(of: about, db), try id(ofSpeaker: speaker, db), told.node, path,
                stage == .partial ? told.event.text("place") : nil, frames, told.number("rate"),
                told.integer("channels"), seconds, start, end, told.utc(at: start), calendarTime(), state.rawValue,
                reason,
            ])
        if stage == .partial { growing.append((path, db.lastInsertedRowID)) }
    }

    private mutating func id(of about: ArchiveWriter.Session, _ db: Database) throws -> Int64 {
        if let session { return session }
        try db.execute(
            sql: "INSERT INTO session (graph, file, start, owner) VALUES (?, ?, ?, ?)",
            arguments: [about.graph, about.file, about.start, SessionOwner.own])
        session = db.lastInsertedRowID
        return db.lastInsertedRowID
    }

    private mutating func id(ofSpeaker name: String, _ db: Database) throws -> Int64 {
        if let id = speakers[name] { return id }
        try db.execute(sql: "INSERT INTO speaker (name) VALUES (?) ON CONFLICT DO NOTHING", arguments: [name])
        let id = try Int64.fetchOne(db, sql: "SELECT id FROM speaker WHERE name = ?", arguments: [name])!
        speakers[name] = id
        return id
    }
}

/// An event of a node, with its fields by kind.
private struct Told {
    let event: Event
    let node: String
    private let fields: Settings

    init(_ event: Event, node: String) {
        self.event = event
        self.node = node
        fields = Settings(event.fields)
    }

    func integer(_ key: String) -> Int64? { fields.integer(key).map { Int64($0) } }
    func number(_ key: String) -> Double? { fields.number(key) }
    /// A time of the graph in seconds since 1970.
    func utc(at time: Double) -> Double { event.wallTime - (event.time - time) }
}
