// SPDX-License-Identifier: Apache-2.0

/// The tables, and how those of earlier versions become them. What a version has done is never changed: a database of any
/// of them goes through all that came later.
enum Schema {
    /// What a version did.
    struct Version {
        /// What the database remembers of it.
        var name: String
        var statements: String
    }

    /// What each version did, in order. Times are in seconds: `start` and `end` of the graph, `utc` and `told` since 1970.
    static let versions = [
        Version(
            name: "1: sessions, items, takes",
            statements: """
                CREATE TABLE session (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, graph TEXT NOT NULL, file TEXT,
                    start REAL NOT NULL, end REAL, ended TEXT, owner TEXT NOT NULL);
                CREATE TABLE speaker (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                CREATE TABLE item (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
                    speaker INTEGER NOT NULL REFERENCES speaker(id), node TEXT NOT NULL, number INTEGER NOT NULL,
                    start REAL NOT NULL, end REAL NOT NULL, utc REAL NOT NULL, told REAL NOT NULL,
                    state TEXT NOT NULL, text TEXT NOT NULL, edited TEXT);
                CREATE INDEX item_session ON item(session, start);
                CREATE INDEX item_utc ON item(utc);
                CREATE TABLE edit (
                    id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES item(id) ON DELETE CASCADE,
                    text TEXT, time REAL NOT NULL);
                CREATE INDEX edit_item ON edit(item);
                CREATE TABLE take (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
                    speaker INTEGER NOT NULL REFERENCES speaker(id), node TEXT NOT NULL,
                    path TEXT NOT NULL, place TEXT, frames INTEGER, rate REAL, channels INTEGER, seconds REAL,
                    start REAL NOT NULL, end REAL NOT NULL, utc REAL NOT NULL, told REAL NOT NULL,
                    state TEXT NOT NULL, reason TEXT);
                CREATE INDEX take_session ON take(session);
                CREATE INDEX take_utc ON take(utc);
                """),
        Version(
            name: "2: full-text search",
            statements: """
                ALTER TABLE item ADD COLUMN shown TEXT GENERATED ALWAYS AS (coalesce(edited, text)) VIRTUAL;
                CREATE VIRTUAL TABLE item_search USING fts5(
                    shown, content='item', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
                CREATE TRIGGER item_inserted AFTER INSERT ON item BEGIN
                    INSERT INTO item_search(rowid, shown) VALUES (new.id, coalesce(new.edited, new.text));
                END;
                CREATE TRIGGER item_deleted AFTER DELETE ON item BEGIN
                    INSERT INTO item_search(item_search, rowid, shown)
                    VALUES ('delete', old.id, coalesce(old.edited, old.text));
                END;
                CREATE TRIGGER item_updated AFTER UPDATE OF text, edited ON item BEGIN
                    INSERT INTO item_search(item_search, rowid, shown)
                    VALUES ('delete', old.id, coalesce(old.edited, old.text));
                    INSERT INTO item_search(rowid, shown) VALUES (new.id, coalesce(new.edited, new.text));
                END;
                INSERT INTO item_search(item_search) VALUES ('rebuild');
                """),
    ]

    /// Whether a version that is not known here has changed the database.
    static func isNewer(_ db: Connection) throws(ArchiveError) -> Bool {
        try !done(db).isSubset(of: versions.map(\.name))
    }

    /// Does what the database has not been through, up to a version of `versions`; by default the last.
    static func migrate(_ db: Connection, upTo last: Int = versions.count) throws(ArchiveError) {
        // The table has the name that GRDB gave it, which wrote the first archives.
        try db.run("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let done = try done(db)
        for version in versions.prefix(last) where !done.contains(version.name) {
            try db.transaction(writing: true) { () throws(ArchiveError) in
                try db.run(version.statements)
                try db.execute("INSERT INTO grdb_migrations VALUES (?)", [version.name])
            }
        }
    }

    private static func done(_ db: Connection) throws(ArchiveError) -> Set<String> {
        let table: Int64? = try db.value("SELECT 1 FROM sqlite_master WHERE name = 'grdb_migrations'")
        guard table != nil else { return [] }
        return Set(try db.rows("SELECT identifier FROM grdb_migrations") { $0[0] })
    }
}

/// How far an item or a take is; the text that is in the database.
public enum ArchivedState: String, Sendable, Equatable, CaseIterable {
    /// It is under way.
    case growing
    /// It is complete.
    case whole
    /// It was under way when its session ended: this is the last that was told of it.
    case cut
}
