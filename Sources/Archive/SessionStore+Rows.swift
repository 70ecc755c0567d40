// SPDX-License-Identifier: Apache-2.0
import GRDB
import Graph
import Host
import NodeKit

/// What an event makes of the rows.
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
        case .text(let stage): try text(told, stage, event.text("speaker") ?? keeping.speaker, about, db)
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
            try db.cachedStatement(
                sql: """
                    UPDATE item SET text = ?, state = ?, start = coalesce(?, start), utc = coalesce(?, utc), end = ?,
                    told = ? WHERE id = ?
                    """
            ).execute(
                arguments: [text, state.rawValue, start, start.map(told.utc(at:)), end, calendarTime(), row])
            if db.changesCount > 0 {
                if state == .whole { items[key] = nil }
                return
            }
        }
        let first = start ?? told.event.time
        try db.cachedStatement(
            sql: """
                INSERT INTO item (session, speaker, node, number, start, end, utc, told, state, text)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
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
