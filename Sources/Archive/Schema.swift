// SPDX-License-Identifier: Apache-2.0

/// The tables, and how those of earlier versions become them. What a version has done is never changed: a database of any
/// of them goes through all that came later.
enum Schema {
    /// What a version did.
    struct Version {
        /// What the database remembers of it.
        var name: String
        var statements: String
        /// What SQL cannot compute, after the statements.
        var fill: @Sendable (Connection) throws(ArchiveError) -> Void = { (_) throws(ArchiveError) in }
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
        Version(
            name: "3: letters of scripts without blanks",
            statements: """
                DROP TRIGGER item_inserted;
                DROP TRIGGER item_deleted;
                DROP TRIGGER item_updated;
                DROP TABLE item_search;
                ALTER TABLE item DROP COLUMN shown;
                ALTER TABLE item ADD COLUMN separated TEXT;
                """,
            fill: separateAll),
        // An index keeps words of texts that were replaced until it is written anew, so that those that grow are not in it.
        // Marks that are parts of letters are parts of words.
        Version(
            name: "4: search of what is complete",
            statements: """
                ALTER TABLE item ADD COLUMN searched TEXT
                    GENERATED ALWAYS AS (coalesce(separated, edited, text)) VIRTUAL;
                CREATE VIRTUAL TABLE item_search USING fts5(searched, content='item', content_rowid='id',
                    tokenize='unicode61 remove_diacritics 2 categories ''L* N* Co Mn Mc''');
                INSERT INTO item_search(rowid, searched) SELECT id, searched FROM item WHERE state <> 'growing';
                CREATE TRIGGER item_inserted AFTER INSERT ON item WHEN new.state <> 'growing' BEGIN
                    INSERT INTO item_search(rowid, searched)
                    VALUES (new.id, coalesce(new.separated, new.edited, new.text));
                END;
                CREATE TRIGGER item_deleted AFTER DELETE ON item WHEN old.state <> 'growing' BEGIN
                    INSERT INTO item_search(item_search, rowid, searched)
                    VALUES ('delete', old.id, coalesce(old.separated, old.edited, old.text));
                END;
                CREATE TRIGGER item_updated AFTER UPDATE OF text, edited, separated, state ON item BEGIN
                    INSERT INTO item_search(item_search, rowid, searched)
                    SELECT 'delete', old.id, coalesce(old.separated, old.edited, old.text)
                    WHERE old.state <> 'growing';
                    INSERT INTO item_search(rowid, searched)
                    SELECT new.id, coalesce(new.separated, new.edited, new.text) WHERE new.state <> 'growing';
                END;
                DELETE FROM speaker WHERE id NOT IN (SELECT speaker FROM item UNION SELECT speaker FROM take);
                """),
    ]

    /// Whether a version that is not known here has changed the database.
    static func isNewer(_ db: Connection) throws(ArchiveError) -> Bool {
        try !done(db).isSubset(of: versions.map(\.name))
    }

    private static func separateAll(_ db: Connection) throws(ArchiveError) {
        let texts = try db.rows("SELECT id, coalesce(edited, text) AS text FROM item") { row -> (Int64, String?) in
            let text: String = row["text"]
            return (row["id"], separated(text))
        }
        for case (let id, let text?) in texts {
            try db.execute("UPDATE item SET separated = ? WHERE id = ?", [text, id])
        }
    }

    /// Does what the database has not been through, up to a version of `versions`; by default the last. Returns whether there
    /// was anything to do.
    @discardableResult
    static func migrate(_ db: Connection, upTo last: Int = versions.count) throws(ArchiveError) -> Bool {
        // The table has the name that GRDB gave it, which wrote the first archives.
        try db.run("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let done = try done(db)
        let missing = versions.prefix(last).filter { !done.contains($0.name) }
        for version in missing {
            try db.transaction(writing: true) { () throws(ArchiveError) in
                try db.run(version.statements)
                try version.fill(db)
                try db.execute("INSERT INTO grdb_migrations VALUES (?)", [version.name])
            }
        }
        return !missing.isEmpty
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
