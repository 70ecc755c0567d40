// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

/// What an event makes of the rows.
extension SessionStore.Open {
    /// Makes sure that there is a session: somebody may have deleted it.
    mutating func adopt(_ about: ArchiveWriter.Session, _ db: Connection) throws(ArchiveError) {
        guard let session else { return }
        if try !hasSession(session, db) { self = Self(folder: folder) }
    }

    /// Does what an event asks for.
    mutating func take(_ event: Event, _ about: ArchiveWriter.Session, _ db: Connection) throws(ArchiveError) {
        guard let keeping = event.keeping, let node = event.node else { return try heed(event, db) }
        let told = Told(event, node: node)
        switch keeping.role {
        case .text(let stage): try text(told, stage, event.text("speaker") ?? keeping.speaker, about, db)
        case .take(let stage): try take(told, stage, keeping.speaker, about, db)
        }
    }

    /// A node that failed or is gone may count its items anew: what grew will not be completed by it.
    private mutating func heed(_ event: Event, _ db: Connection) throws(ArchiveError) {
        var gone: [String] = []
        if event.name == HostEvent.health.name, event.text("state") == "failed", let node = event.node { gone = [node] }
        if event.name == HostEvent.changed.name, case .list(let names)? = event.fields["removed"] {
            gone = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
        }
        for node in gone {
            let rows = items.filter { $0.key.node == node }
            for (key, row) in rows {
                hasRemains = true
                try db.execute("UPDATE item SET state = 'cut' WHERE id = ?", [row])
                items[key] = nil
            }
        }
    }

    private mutating func text(
        _ told: Told, _ stage: EventRole.Stage, _ speaker: String, _ about: ArchiveWriter.Session, _ db: Connection
    ) throws(ArchiveError) {
        let key = SessionStore.Key(node: told.node, number: told.integer("item") ?? 0)
        let text = told.event.text("text") ?? ""
        let row = items[key]
        guard stage != .withdrawn, text.contains(where: { !$0.isWhitespace }) else {
            // Blank so far is blank, but not void.
            if stage == .partial, row != nil { return }
            if let row {
                try db.execute("DELETE FROM item WHERE id = ?", [row])
                hasRemains = true
            }
            items[key] = nil
            return
        }
        let state: ArchivedState = stage == .partial ? .growing : .whole
        let (start, end) = (told.number("start"), told.number("end") ?? told.event.time)
        if let row {
            try db.execute(
                """
                UPDATE item SET text = ?, separated = ?, state = ?, start = coalesce(?, start), utc = coalesce(?, utc), end = ?,
                told = ? WHERE id = ?
                """,
                [text, separated(text), state.rawValue, start, start.map(told.utc(at:)), end, calendarTime(), row])
            if db.changes > 0 {
                if state == .whole {
                    items[key] = nil
                    // What was told of it before.
                    hasRemains = true
                }
                return
            }
        }
        let first = start ?? told.event.time
        try db.execute(
            """
            INSERT INTO item (session, speaker, node, number, start, end, utc, told, state, text, separated)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                try id(of: about, db), try speakerRow(speaker, db), told.node, key.number, first, max(first, end),
                told.utc(at: first), calendarTime(), state.rawValue, text,
                separated(text),
            ])
        items[key] = state == .growing ? db.lastRow : nil
    }

    private mutating func take(
        _ told: Told, _ stage: EventRole.Stage, _ speaker: String, _ about: ArchiveWriter.Session, _ db: Connection
    ) throws(ArchiveError) {
        guard let file = told.event.text("path"), !file.isEmpty else { return }
        // Whoever looks for it later is in another folder.
        let path = absolute(file, from: folder)
        var growing = takes[told.node] ?? []
        // Its name may have changed meanwhile, where another file has it.
        let index = growing.firstIndex { $0.path == path } ?? (stage == .partial ? nil : growing.indices.first)
        let row = index.map { growing.remove(at: $0).row }
        defer { takes[told.node] = growing }
        if stage == .withdrawn {
            if let row {
                try db.execute("DELETE FROM take WHERE id = ?", [row])
                hasRemains = true
            }
            return
        }
        // One that ended where nobody asked for that, and not as a whole, is called what it was called until then.
        let place = told.event.text("place").map { absolute($0, from: folder) }
        let state: ArchivedState = stage == .partial ? .growing : place == nil ? .whole : .cut
        let frames = told.integer("frames")
        let seconds = told.number("seconds")
        let (end, reason) = (told.event.time, told.event.text("reason"))
        if let row, stage == .whole {
            try db.execute(
                """
                UPDATE take SET path = ?, place = ?, frames = ?, seconds = coalesce(?, ? / rate), end = ?,
                told = ?, state = ?, reason = ?, rate = coalesce(?, rate), channels = coalesce(?, channels)
                WHERE id = ?
                """,
                [
                    path, place, frames, seconds, frames.map(Double.init), end, calendarTime(), state.rawValue, reason,
                    told.number("rate"), told.integer("channels"), row,
                ])
            if db.changes > 0 { return }
        }
        let start = stage == .partial ? end : max(0, end - (seconds ?? 0))
        try db.execute(
            """
            INSERT INTO take (session, speaker, node, path, place, frames, rate, channels, seconds, start, end, utc,
            told, state, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                try id(of: about, db), try speakerRow(speaker, db), told.node, path,
                place, frames,
                told.number("rate"), told.integer("channels"), seconds, start, end, told.utc(at: start), calendarTime(),
                state.rawValue, reason,
            ])
        if stage == .partial { growing.append((path, db.lastRow)) }
    }

    private mutating func id(of about: ArchiveWriter.Session, _ db: Connection) throws(ArchiveError) -> Int64 {
        if let session { return session }
        try db.execute(
            "INSERT INTO session (graph, file, start, owner) VALUES (?, ?, ?, ?)",
            [about.graph, about.file, about.start, SessionOwner.own])
        session = db.lastRow
        return db.lastRow
    }
}

/// The row of a speaker's name.
func speakerRow(_ name: String, _ db: Connection) throws(ArchiveError) -> Int64 {
    // Looked up each time: whoever deletes texts removes names that nobody has any more.
    try db.execute("INSERT INTO speaker (name) VALUES (?) ON CONFLICT DO NOTHING", [name])
    let found: Int64? = try db.value("SELECT id FROM speaker WHERE name = ?", [name])
    guard let id = found else { throw ArchiveError(.strange, "it does not keep the name of a speaker") }
    return id
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
