// SPDX-License-Identifier: Apache-2.0
import Host

/// What is changed by hand.
extension Archive {
    /// Keeps a text that no run has told, now: as a session of its own, named as a graph would be, or in a session that there
    /// is. Returns its number. Makes the archive if there is none. [control]
    public static func add(
        _ text: String, speaker: String, graph: String, to session: Int64? = nil, at path: String = standardPath
    ) throws(ArchiveError) -> Int64 {
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw ArchiveError(.request, "the text is blank", hint: "say what is to be kept")
        }
        return try ArchiveFile(path: path, patience: 5).open().0.write { db throws(ArchiveError) in
            let now = calendarTime()
            var (row, start) = (session, now)
            if let session {
                let found: Double? = try db.value("SELECT start FROM session WHERE id = ?", [session])
                guard let found else {
                    throw ArchiveError(
                        .request, "there is no session \(session)", hint: "leave it out, and it becomes one of its own")
                }
                start = found
            } else {
                try db.execute(
                    "INSERT INTO session (graph, start, end, ended, owner) VALUES (?, ?, ?, 'ended', ?)",
                    [graph, now, now, SessionOwner.own])
                row = db.lastRow
            }
            let place = max(0, now - start)
            try db.execute(
                """
                INSERT INTO item (session, speaker, node, number, start, end, utc, told, state, text, separated)
                VALUES (?, ?, '', 0, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    row, try speakerRow(speaker, db), place, place, now, now, ArchivedState.whole.rawValue, text,
                    separated(text),
                ])
            return db.lastRow
        }
    }

    /// Gives an item another text; what was told stays beside it, and so does every edit. Nil, or the text that was told:
    /// takes edits back. [control]
    public func edit(_ item: Int64, to text: String?) throws(ArchiveError) {
        if let text, !text.contains(where: { !$0.isWhitespace }) {
            throw ArchiveError(.request, "the text is blank", hint: "delete the item instead")
        }
        try database.write { db throws(ArchiveError) in
            let found = try db.rows("SELECT text, state FROM item WHERE id = ?", [item]) { row -> (String, String) in
                (row["text"], row["state"])
            }
            guard let (told, state) = found.first else { throw ArchiveError(.request, "there is no item \(item)") }
            guard state != ArchivedState.growing.rawValue else {
                throw ArchiveError(.request, "item \(item) still grows", hint: "edit it when it is complete")
            }
            let edited = text == told ? nil : text
            try db.execute("INSERT INTO edit (item, text, time) VALUES (?, ?, ?)", [item, edited, calendarTime()])
            try db.execute(
                "UPDATE item SET edited = ?, separated = ? WHERE id = ?", [edited, separated(text ?? told), item])
        }
    }

    /// What an item was edited to, oldest first; nil stands for what was told. [control]
    public func edits(of item: Int64) throws(ArchiveError) -> [String?] {
        try database.read { db throws(ArchiveError) in
            try db.rows("SELECT text FROM edit WHERE item = ? ORDER BY id", [item]) { $0[0] }
        }
    }

    /// Deletes the items or takes that are meant, and closed sessions that have nothing any more; returns how many. What
    /// they said, and who said it, is no longer in the file then. Files of takes stay. [control]
    @discardableResult
    public func delete(_ part: Part, _ filter: ArchiveFilter) throws(ArchiveError) -> Int {
        let count = try database.write { db throws(ArchiveError) in
            let (conditions, values) = filter.conditions(part)
            let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
            try db.execute("DELETE FROM \(part.rawValue)" + condition, values)
            let count = db.changes
            try removeUnused(db)
            // The index keeps words of what is gone until it is written anew.
            if part == .item, count > 0 { try db.run("INSERT INTO item_search(item_search) VALUES ('optimize')") }
            return count
        }
        // So does the log; one that reads meanwhile keeps it for a while longer.
        if count > 0 { try? database.use { db throws(ArchiveError) in try db.emptyLog() } }
        return count
    }
}
