// SPDX-License-Identifier: Apache-2.0
import GRDB
import Host

/// What is changed by hand.
extension Archive {
    /// Gives an item another text; what was told stays beside it, and so does every edit. Nil, or the text that was told:
    /// takes edits back. [control]
    public func edit(_ item: Int64, to text: String?) throws(ArchiveError) {
        if let text, !text.contains(where: { !$0.isWhitespace }) {
            throw ArchiveError(.request, "the text is blank", hint: "delete the item instead")
        }
        try translated {
            try queue.write { db in
                guard
                    let row = try Row.fetchOne(db, sql: "SELECT text, state FROM item WHERE id = ?", arguments: [item])
                else { throw ArchiveError(.request, "there is no item \(item)") }
                guard row["state"] != ArchivedState.growing.rawValue else {
                    throw ArchiveError(.request, "item \(item) still grows", hint: "edit it when it is complete")
                }
                let edited = text == row["text"] ? nil : text
                try db.execute(
                    sql: "INSERT INTO edit (item, text, time) VALUES (?, ?, ?)",
                    arguments: [item, edited, calendarTime()])
                try db.execute(sql: "UPDATE item SET edited = ? WHERE id = ?", arguments: [edited, item])
            }
        }
    }

    /// What an item was edited to, oldest first; nil stands for what was told. [control]
    public func edits(of item: Int64) throws(ArchiveError) -> [String?] {
        try translated {
            try queue.read { db in
                try Row.fetchAll(db, sql: "SELECT text FROM edit WHERE item = ? ORDER BY id", arguments: [item])
                    .map { $0["text"] }
            }
        }
    }

    /// Deletes the items or takes that are meant, and closed sessions that have nothing any more; returns how many. What
    /// they said is no longer in the file then. Files of takes stay. [control]
    @discardableResult
    public func delete(_ part: Part, _ filter: ArchiveFilter) throws(ArchiveError) -> Int {
        try translated {
            let count = try queue.write { db in
                let (conditions, arguments) = filter.conditions(part)
                let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
                try db.execute(sql: "DELETE FROM \(part.rawValue)" + condition, arguments: arguments)
                let count = db.changesCount
                try removeEmptySessions(db)
                // The index keeps words of what is gone until it is written anew.
                if part == .item, count > 0 {
                    try db.execute(sql: "INSERT INTO item_search(item_search) VALUES ('optimize')")
                }
                return count
            }
            // So does the log; one that reads meanwhile keeps it for a while longer.
            if count > 0 { _ = try? queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) } }
            return count
        }
    }
}
