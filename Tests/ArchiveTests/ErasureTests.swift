// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import TestSupport

@testable import Archive

/// What is taken back, replaced or deleted is in no file of the archive's folder any more.
@Suite struct ErasureTests {
    private let scratch: Scratch
    private let path: String

    init() throws {
        scratch = try Scratch()
        path = scratch.file("archive/archive.sqlite")
    }

    /// Which of these words the files of the folder hold.
    private func held(_ words: String...) throws -> [String] {
        let folder = scratch.file("archive")
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).map {
            FileManager.default.contents(atPath: folder + "/" + $0) ?? Data()
        }
        return words.filter { word in files.contains { $0.range(of: Data(word.utf8)) != nil } }
    }

    @Test("What was taken back while it grew is gone while the run goes on: by name, by a blank text, by a correction")
    func growing() async throws {
        let telling = Telling(path)
        telling.text(1, "zebraquartz leis", .partial, speaker: "Anna")
        telling.text(1, "zebraquartz leisure", .partial, speaker: "Anna")
        telling.text(2, "plumbago", .partial, speaker: "Anna")
        telling.text(3, "dashwoof", .partial, speaker: "Anna")
        telling.text(4, "gorgonzola", .partial, node: "b", speaker: "Anna")
        try await eventually("all is written") {
            try held("leisure", "plumbago", "dashwoof", "gorgonzola").count == 4
        }
        telling.text(4, "mascarpone", .partial, node: "b", speaker: "Anna")
        telling.text(1, "", .withdrawn, speaker: "Anna")
        telling.text(2, "", .whole, speaker: "Anna")
        telling.text(3, "dashwood", .whole, speaker: "Anna")
        telling.bus.publish(.event(Event(HostEvent.health.name, node: "b", fields: ["state": .string("failed")])))
        try await eventually("it is gone") {
            try held("zebraquartz", "leis", "plumbago", "dashwoof", "gorgonzola") == []
        }
        #expect(try held("dashwood", "mascarpone") == ["dashwood", "mascarpone"])
        telling.end()
        #expect(try held("zebraquartz", "leis", "plumbago", "dashwoof", "gorgonzola") == [])
        let archive = try telling.archive()
        #expect(texts(archive) == ["dashwood", "mascarpone (cut)"])
        #expect(try archive.search("mascarpone").count == 1 && archive.search("dashwood").count == 1)
    }

    @Test("With the texts of a session go its speakers, with a take its path, and who still speaks is kept")
    func speakers() throws {
        let first = Telling(path, graph: "interviewgraph")
        first.text(1, "zebraquartz", speaker: "Annabella")
        first.text(2, "plumbago", speaker: "Bertram")
        first.take(["path": .string("/sound/secretfile.wav")], .whole)
        first.end()
        let running = Telling(path)
        running.text(1, "before", speaker: "Bertram")
        running.text(2, "before too", speaker: "Cordelia")
        let archive = try #require(try Archive.open(path))
        running.writer.finish()
        #expect(try held("Annabella", "Bertram", "Cordelia", "secretfile", "interviewgraph").count == 5)
        try archive.delete(.item, .init(sessions: [1]))
        #expect(try held("zebraquartz", "plumbago", "Annabella", "Bertram") == ["Bertram"])
        try archive.delete(.take, .init(sessions: [1]))
        #expect(try held("secretfile", "interviewgraph") == [])
        #expect(try archive.sessions().map(\.speakers) == [["Bertram", "Cordelia"]])
    }

    @Test("A name that was deleted with its texts is kept again when its owner goes on speaking") func again()
        async throws
    {
        let telling = Telling(path)
        telling.text(1, "one", speaker: "Annabella")
        try await eventually("it is there") { try Archive.open(path)?.items().count == 1 }
        let archive = try telling.archive()
        try archive.delete(.item, .init())
        #expect(try held("Annabella") == [])
        telling.text(2, "two", speaker: "Bertram")
        telling.text(3, "three", speaker: "Annabella")
        telling.end()
        #expect(try archive.items().map(\.speaker) == ["Bertram", "Annabella"])
    }

    @Test("A session that ended without what was taken back leaves not even its name") func nothing() throws {
        let telling = Telling(path, graph: "interviewgraph")
        telling.text(1, "zebraquartz", .partial, speaker: "Annabella")
        telling.text(1, "", .withdrawn, speaker: "Annabella")
        telling.end()
        #expect(try held("zebraquartz", "Annabella", "interviewgraph") == [])
    }

    @Test("What an edit replaced is gone when the item is deleted") func edited() throws {
        let telling = Telling(path)
        telling.text(1, "zebraquartz")
        telling.text(2, "stays")
        telling.end()
        let archive = try telling.archive()
        try archive.edit(1, to: "plumbago")
        try archive.edit(1, to: "gorgonzola")
        try archive.edit(1, to: nil)
        try archive.delete(.item, .init(ids: [1]))
        #expect(try held("zebraquartz", "plumbago", "gorgonzola", "stays") == ["stays"])
    }

    @Test("What a run that crashed had replaced is gone when the next one keeps something") func crashed() async throws
    {
        let first = Telling(path)
        for text in ["zebraquartz", "plumbago"] {
            first.text(1, text, .partial)
            try await eventually("it is there") { try Archive.open(path)?.items().first?.text == text }
        }
        // Its log is what a killed process leaves.
        try first.archive().database.write { db throws(ArchiveError) in
            try db.run("UPDATE session SET owner = 'x 1 2'")
        }
        let copy = scratch.file("copy")
        try FileManager.default.copyItem(atPath: scratch.file("archive"), toPath: copy)
        first.end()
        @Sendable func holds() -> Bool {
            ["", "-wal"].contains {
                FileManager.default.contents(atPath: copy + "/archive.sqlite" + $0)?.range(of: Data("zebra".utf8))
                    != nil
            }
        }
        #expect(holds())
        let next = Telling(copy + "/archive.sqlite")
        next.text(1, "hello")
        try await eventually("it is gone") { !holds() }
        next.end()
        #expect(try texts(next.archive()) == ["plumbago (cut)", "hello"])
    }

    @Test("What an archive of the second version kept of deleted texts and speakers is gone when it is opened")
    func migrated() throws {
        let folder = scratch.file("archive")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let old = try Connection(path, patience: 5)
        try Schema.migrate(old, upTo: 2)
        try old.run(
            """
            INSERT INTO session VALUES (1, 'talk', NULL, 1000, 1100, 'ended', 'x 1 2');
            INSERT INTO speaker VALUES (1, 'Annabella');
            INSERT INTO speaker VALUES (2, 'Bertram');
            INSERT INTO item (id, session, speaker, node, number, start, end, utc, told, state, text)
            VALUES (1, 1, 1, 'ear', 1, 1, 2, 1001, 1002, 'whole', 'zebraquartz leisure'),
            (2, 1, 2, 'ear', 2, 3, 4, 1003, 1004, 'whole', '今日の天気はとてもいいです。');
            DELETE FROM item WHERE id = 1;
            """)
        #expect(try held("zebraquartz", "Annabella") == ["zebraquartz", "Annabella"])
        let archive = try #require(try Archive.open(path))
        #expect(try held("zebraquartz", "leisure", "Annabella", "Bertram") == ["Bertram"])
        #expect(try archive.search("天気").map(\.id) == [2])
    }
}
