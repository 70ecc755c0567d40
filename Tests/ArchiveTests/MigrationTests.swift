// SPDX-License-Identifier: Apache-2.0
import Host
import TestSupport

@testable import Archive

/// Databases of earlier versions.
@Suite struct MigrationTests {
    /// What a database of the first version holds, as that made it. Never to be changed.
    private static let first = """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1: sessions, items, takes');
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
        INSERT INTO session VALUES (1, 'talk', '/sound/talk.conf', 1000, 1100, 'ended', 'x 1 2');
        INSERT INTO session VALUES (2, 'talk', NULL, 2000, NULL, NULL, 'x 1 2');
        INSERT INTO speaker VALUES (1, 'Anna');
        INSERT INTO item VALUES (1, 1, 1, 'ear', 1, 1, 2, 1001, 1002, 'whole', 'good morning', NULL);
        INSERT INTO item VALUES (2, 1, 1, 'ear', 2, 3, 4, 1003, 1004, 'whole', 'good evening', 'good night');
        INSERT INTO item VALUES (3, 2, 1, 'ear', 1, 1, 2, 2001, 2002, 'growing', 'good aft', NULL);
        INSERT INTO edit VALUES (1, 2, 'good night', 1050);
        INSERT INTO take VALUES (
            1, 1, 1, 'tape', '/sound/a.wav', NULL, 480, 48000, 1, 0.01, 1, 2, 1001, 1002, 'whole', NULL);
        """

    @Test("A database of the first version becomes one of this, with all that it holds, which is found")
    func fromFirst() throws {
        let scratch = try Scratch()
        let path = scratch.file("archive.sqlite")
        try Connection(path, patience: 5).run(Self.first)
        let archive = try #require(try Archive.open(path))
        #expect(texts(archive) == ["good morning", "good night", "good aft (growing)"])
        #expect(try archive.items()[1].original == "good evening")
        #expect(try archive.search("night").map(\.id) == [2])
        #expect(try archive.search("evening") == [])
        #expect(try archive.takes().map(\.path) == ["/sound/a.wav"])
        let telling = Telling(path)
        telling.text(1, "hello")
        #expect(telling.end().session == 3)
        #expect(try archive.sessions().map(\.ended) == [.ended, .crashed, .ended])
        #expect(try archive.sessions()[1].end == 2002)
        #expect(texts(archive) == ["good morning", "good night", "good aft (cut)", "hello"])
        #expect(telling.told(HostEvent.archiveSetAside).isEmpty)
    }

    @Test("Every version's database, made by its migrations, is taken by this one and has the same tables in the end")
    func fromEach() throws {
        func tables(_ database: Database) throws -> [String] {
            try database.read { db throws(ArchiveError) in
                try db.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name") { $0[0] }
            }
        }
        let scratch = try Scratch()
        let versions = Schema.versions.count
        #expect(versions >= 2)
        var found: [[String]] = []
        for version in 1...versions {
            let path = scratch.file("\(version).sqlite")
            try Schema.migrate(Connection(path, patience: 5), upTo: version)
            found.append(try tables(#require(try Archive.open(path)).database))
        }
        #expect(Set(found).count == 1)
    }

    @Test("A database of a version to come is left alone, and that is told")
    func newer() throws {
        let scratch = try Scratch()
        let path = scratch.file("archive.sqlite")
        Telling(path).end()
        let telling = Telling(path)
        telling.text(1, "kept")
        telling.end()
        let archive = try telling.archive()
        try archive.database.write { db throws(ArchiveError) in
            try db.run("INSERT INTO grdb_migrations VALUES ('9: what is to come')")
        }
        #expect { try Archive.open(path) } throws: { ($0 as? ArchiveError)?.kind == .newer }
        let later = Telling(path)
        later.text(1, "not kept")
        let outcome = later.end()
        #expect(outcome.lost == 1)
        #expect(outcome.reason.contains("newer"))
        #expect(texts(archive) == ["kept"])
    }
}
