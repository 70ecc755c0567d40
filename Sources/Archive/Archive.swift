// SPDX-License-Identifier: Apache-2.0
import Graph
import System

/// What is kept: to look at, edit and delete. Several programs may use it at once, and write to it meanwhile.
public final class Archive: Sendable {
    /// Where this user's archive is.
    public static var standardPath: String { UserFolders().data + "/archive.sqlite" }

    /// Its file.
    public let path: String
    let database: Database

    /// Opens an archive; nil: there is none, since nothing was kept yet. [control]
    public static func open(_ path: String = standardPath, patience: Double = 5) throws(ArchiveError) -> Archive? {
        let file = ArchiveFile(path: path, patience: patience)
        guard let database = try file.openExisting() else { return nil }
        return Archive(path, database)
    }

    /// Gives an archive that is damaged another name, and returns that; the next thing that is kept begins a new one. Nil: it
    /// is not damaged, or not any more. [control]
    public static func setAside(_ path: String = standardPath) throws(ArchiveError) -> String? {
        try ArchiveFile(path: path, patience: 1).setAsideIfDamaged()
    }

    private init(_ path: String, _ database: Database) {
        self.path = path
        self.database = database
    }

    /// The newest sessions, oldest first; those of which items are kept, or takes, if `of` says so. [control]
    public func sessions(
        of part: Part? = nil, ids: [Int64]? = nil, limit: Int = .max
    ) throws(ArchiveError) -> [ArchivedSession] {
        var conditions: [String] = []
        if let part { conditions.append("EXISTS (SELECT 1 FROM \(part.rawValue) WHERE session = session.id)") }
        if let ids { conditions.append("id IN (\(ids.map(String.init).joined(separator: ",")))") }
        let sql = """
            SELECT *, (SELECT count(*) FROM item WHERE session = session.id) AS items,
            (SELECT count(*) FROM take WHERE session = session.id) AS takes FROM session
            \(clause(conditions)) ORDER BY id DESC LIMIT ?
            """
        return try database.read { db throws(ArchiveError) in
            try db.rows(sql, [limit]) { row throws(ArchiveError) in try ArchivedSession(row, db) }.reversed()
        }
    }

    /// What sessions have.
    public enum Part: String, Sendable {
        /// Texts.
        case item
        /// Recordings.
        case take
    }

    /// The newest items that are meant, in the order in which they began. [control]
    public func items(_ filter: ArchiveFilter = ArchiveFilter(), limit: Int = .max) throws(ArchiveError)
        -> [ArchivedItem]
    {
        let (conditions, values) = filter.conditions(.item)
        let sql =
            "SELECT * FROM (\(ArchivedItem.columns) \(clause(conditions)) "
            + "ORDER BY item.utc DESC, item.id DESC LIMIT ?) ORDER BY utc, id"
        return try database.read { db throws(ArchiveError) in
            try db.rows(sql, values + [limit], ArchivedItem.init)
        }
    }

    /// The newest items that have all of these words, newest first: "words like this" in a row, beginnings of words with a
    /// '*' behind them. Capitals and accents make no difference. What is written without blanks between words, or in Hangul,
    /// is found in any part of a text. Items that still grow are not searched. [control]
    public func search(
        _ words: String, _ filter: ArchiveFilter = ArchiveFilter(), limit: Int = 50
    ) throws(ArchiveError) -> [ArchivedItem] {
        guard let pattern = searchPattern(words) else {
            throw ArchiveError(.request, "there is no word to search for")
        }
        let (conditions, values) = filter.conditions(.item)
        let sql =
            ArchivedItem.columns + " JOIN item_search ON item_search.rowid = item.id "
            + clause(["item_search MATCH ?"] + conditions) + " ORDER BY item_search.rowid DESC LIMIT ?"
        return try database.read { db throws(ArchiveError) in
            try db.rows(sql, [pattern] + values + [limit], ArchivedItem.init)
        }
    }

    /// The newest takes that are meant, in the order in which they began. [control]
    public func takes(_ filter: ArchiveFilter = ArchiveFilter(), limit: Int = .max) throws(ArchiveError)
        -> [ArchivedTake]
    {
        let (conditions, values) = filter.conditions(.take)
        let sql =
            "SELECT * FROM (\(ArchivedTake.columns) \(clause(conditions)) "
            + "ORDER BY take.utc DESC, take.id DESC LIMIT ?) ORDER BY utc, id"
        return try database.read { db throws(ArchiveError) in
            try db.rows(sql, values + [limit], ArchivedTake.init)
        }
    }
}

private func clause(_ conditions: [String]) -> String {
    conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
}

extension ArchiveFilter {
    func conditions(_ part: Archive.Part) -> (sql: [String], values: [any ColumnValue]) {
        let table = part.rawValue
        var sql: [String] = []
        var values: [any ColumnValue] = []
        func numbers(_ list: [Int64]) -> String { list.map(String.init).joined(separator: ",") }
        if let ids { sql.append("\(table).id IN (\(numbers(ids)))") }
        if let sessions { sql.append("\(table).session IN (\(numbers(sessions)))") }
        if let speaker {
            sql.append("\(table).speaker IN (SELECT id FROM speaker WHERE name = ?)")
            values.append(speaker)
        }
        if let before {
            sql.append("\(table).utc < ?")
            values.append(before)
        }
        return (sql, values)
    }
}

extension ArchivedSession {
    fileprivate init(_ row: Row, _ db: Connection) throws(ArchiveError) {
        let id: Int64 = row["id"]
        let speakers: [String] = try db.rows(
            """
            SELECT speaker.name FROM item JOIN speaker ON speaker.id = item.speaker WHERE item.session = ?
            GROUP BY speaker.id ORDER BY min(item.utc)
            """, [id]
        ) { $0[0] }
        let ended: String? = row["ended"]
        self.init(
            id: id, graph: row["graph"], file: row["file"], start: row["start"], end: row["end"],
            ended: ended.flatMap(End.init(rawValue:)), items: row["items"], takes: row["takes"], speakers: speakers)
    }
}

extension ArchivedItem {
    fileprivate static let columns = """
        SELECT item.*, session.graph AS graph, speaker.name AS name FROM item
        JOIN session ON session.id = item.session JOIN speaker ON speaker.id = item.speaker
        """

    fileprivate init(_ row: Row) {
        let (text, edited): (String, String?) = (row["text"], row["edited"])
        self.init(
            id: row["id"], session: row["session"], graph: row["graph"], speaker: row["name"], node: row["node"],
            start: row["start"], end: row["end"], utc: row["utc"],
            state: ArchivedState(rawValue: row["state"]) ?? .cut, text: edited ?? text,
            original: edited == nil ? nil : text)
    }
}

extension ArchivedTake {
    fileprivate static let columns = """
        SELECT take.*, session.graph AS graph, speaker.name AS name FROM take
        JOIN session ON session.id = take.session JOIN speaker ON speaker.id = take.speaker
        """

    fileprivate init(_ row: Row) {
        self.init(
            id: row["id"], session: row["session"], graph: row["graph"], speaker: row["name"], node: row["node"],
            path: row["path"], place: row["place"], frames: row["frames"], rate: row["rate"],
            channels: row["channels"], seconds: row["seconds"], start: row["start"], end: row["end"], utc: row["utc"],
            state: ArchivedState(rawValue: row["state"]) ?? .cut, reason: row["reason"])
    }
}
