// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Host
import NodeKit
import TestSupport

@testable import Archive

/// What is written of what is told.
@Suite struct KeepingTests {
    private let scratch: Scratch
    private let path: String

    init() throws {
        scratch = try Scratch()
        path = scratch.file("data/voicegraph/archive.sqlite")
    }

    @Test("V3: a text is kept only if it is not empty")
    func empty() throws {
        let telling = Telling(path)
        telling.text(1, "")
        telling.text(2, " \n\t")
        telling.text(3, "", .partial)
        telling.text(4, "something")
        telling.end()
        #expect(try texts(telling.archive()) == ["something"])
    }

    @Test("Who has said something is who its event names, or else whom the file names")
    func named() throws {
        let telling = Telling(path)
        telling.text(1, "hello", speaker: "assistant")
        telling.text(2, "hi", speaker: "assistant", saidBy: "you")
        telling.end()
        #expect(try telling.archive().items().map(\.speaker) == ["assistant", "you"])
    }

    @Test("V3: the saved list survives restarts: sessions stand one after the other, each with what was said in it")
    func restarts() throws {
        for number in 1...3 {
            let telling = Telling(path, graph: "talk", file: "/sound/talk.conf")
            telling.text(1, "session \(number)")
            #expect(telling.end().session == Int64(number))
        }
        let archive = try #require(try Archive.open(path))
        let sessions = try archive.sessions()
        #expect(sessions.map(\.graph) == ["talk", "talk", "talk"])
        #expect(sessions.map(\.file) == Array(repeating: "/sound/talk.conf", count: 3))
        #expect(sessions.map(\.ended) == [.ended, .ended, .ended])
        #expect(sessions.allSatisfy { $0.end! >= $0.start && $0.items == 1 })
        #expect(texts(archive) == ["session 1", "session 2", "session 3"])
        #expect(texts(archive, .init(sessions: [2])) == ["session 2"])
    }

    @Test("V2: each partial text replaces the one before, and the final one them all")
    func partials() throws {
        let telling = Telling(path)
        telling.text(1, "good", .partial)
        telling.text(1, "good morn", .partial)
        telling.text(1, "good morning", .whole)
        telling.text(2, "and", .partial)
        telling.text(2, "and then", .partial)
        telling.end()
        #expect(try texts(telling.archive()) == ["good morning", "and then (cut)"])
    }

    @Test("Equal texts never collide, nor do the numbers of items of several nodes or sessions")
    func equal() throws {
        for _ in 0..<2 {
            let telling = Telling(path)
            for item in 1...3 { telling.text(Int64(item), "yes") }
            telling.text(1, "yes", node: "b")
            telling.text(1, "yes")
            telling.end()
        }
        let archive = try #require(try Archive.open(path))
        #expect(try archive.items().count == 10)
        #expect(Set(try archive.items().map(\.id)).count == 10)
        #expect(try archive.search("yes").count == 10)
    }

    @Test("A text that is taken back, by a blank one or by name, is not kept")
    func withdrawn() throws {
        let telling = Telling(path)
        telling.text(1, "was that", .partial)
        telling.text(1, "", .whole)
        telling.text(2, "never mi", .partial)
        telling.text(2, "", .withdrawn)
        telling.text(3, "stays")
        telling.text(3, "", .withdrawn)
        telling.end()
        // What was complete is not taken back: its number may be another item's by then.
        #expect(try texts(telling.archive()) == ["stays"])
    }

    @Test("A session of which nothing is kept is none, and where nothing is told no file is made")
    func nothing() throws {
        Telling(path).end()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try Archive.open(path) == nil)
        let telling = Telling(path)
        telling.text(1, "wel", .partial)
        telling.text(1, "", .whole)
        #expect(telling.end().session == nil)
        #expect(try telling.archive().sessions() == [])
    }

    @Test("Times are those of the graph and of the clock, speakers those that the file names")
    func times() throws {
        let telling = Telling(path)
        telling.text(1, "one", .partial, node: "ear", speaker: "Anna", time: 10)
        telling.text(1, "one two", node: "ear", speaker: "Anna", time: 12)
        var event = Event(
            "transcribe.final", node: "other", time: 20, wallTime: 1_700_000_020,
            fields: ["item": .integer(1), "text": .string("three"), "start": .number(14.5), "end": .number(16)])
        event.keeping = .init(.text(.whole), speaker: "Bert")
        telling.bus.publish(.event(event))
        telling.end()
        let archive = try telling.archive()
        let items = try archive.items()
        #expect(items.map(\.start) == [10, 14.5])
        #expect(items.map(\.end) == [12, 16])
        #expect(items.map(\.utc) == [1_700_000_010, 1_700_000_014.5])
        #expect(items.map(\.speaker) == ["Anna", "Bert"])
        #expect(items.map(\.node) == ["ear", "other"])
        #expect(try archive.sessions()[0].speakers == ["Anna", "Bert"])
        #expect(texts(archive, .init(speaker: "Bert")) == ["three"])
        #expect(texts(archive, .init(before: 1_700_000_012)) == ["one two"])
    }

    @Test("A node that failed or was removed begins anew: what it had begun stays as it was told last")
    func anew() throws {
        let telling = Telling(path)
        telling.text(1, "before the fall", .partial)
        telling.bus.publish(
            .event(Event(HostEvent.health.name, node: "a", fields: ["state": .string("failed")])))
        telling.text(1, "after it", .partial)
        telling.text(1, "after it all", .whole)
        telling.text(1, "of another", .partial, node: "b")
        telling.bus.publish(
            .event(Event(HostEvent.changed.name, fields: ["removed": .list([.string("b")])])))
        telling.text(1, "of its heir", .whole, node: "b")
        telling.end()
        #expect(
            try Set(texts(telling.archive())) == [
                "before the fall (cut)", "after it all", "of another (cut)", "of its heir",
            ])
    }

    @Test("A file is kept with its folder, so that it is found from any other")
    func folder() throws {
        let telling = Telling(scratch.file("folder.sqlite"))
        telling.take(["path": .string("a.wav"), "place": .string("a.part.wav")], .partial)
        telling.take(["path": .string("b/c.wav"), "place": .string("./b/c.part.wav")], .partial, node: "other")
        telling.take(["path": .string("a.wav"), "frames": .integer(96_000)], .whole, time: 3)
        telling.end()
        let here = FileManager.default.currentDirectoryPath
        let takes = try telling.archive().takes()
        #expect(takes.map(\.path) == ["\(here)/a.wav", "\(here)/b/c.wav"])
        #expect(takes.map(\.location) == ["\(here)/a.wav", "\(here)/./b/c.part.wav"])
    }

    @Test("A take is kept with its file, from its beginning on; one that was thrown away is not")
    func takes() throws {
        let telling = Telling(path)
        func begin(_ name: String, at time: Double) {
            telling.take(
                [
                    "path": .string("/sound/\(name).wav"), "place": .string("/sound/\(name).part.wav"),
                    "rate": .number(48_000), "channels": .integer(2),
                ], .partial, time: time)
        }
        begin("a", at: 1)
        begin("b", at: 3)
        telling.take(["path": .string("/sound/a.wav"), "frames": .integer(96_000)], .whole, time: 3)
        telling.take(["path": .string("/sound/b.wav")], .withdrawn, time: 4)
        begin("c", at: 5)
        telling.take(
            ["path": .string("/sound/c.wav"), "frames": .integer(480), "reason": .string("the disk is full")], .whole,
            time: 6)
        begin("d", at: 7)
        telling.end()
        let takes = try telling.archive().takes()
        #expect(takes.map(\.path) == ["/sound/a.wav", "/sound/c.wav", "/sound/d.wav"])
        #expect(takes.map(\.file) == ["/sound/a.wav", "/sound/c.wav", "/sound/d.part.wav"])
        #expect(takes.map(\.state) == [.whole, .whole, .cut])
        #expect(takes.map(\.frames) == [96_000, 480, nil])
        #expect(takes.map(\.seconds) == [2, 0.01, nil])
        #expect(takes.map(\.channels) == [2, 2, 2])
        #expect(takes.map(\.start) == [1, 5, 7])
        #expect(takes.map(\.end) == [3, 6, 7])
        #expect(takes.map(\.reason) == [nil, "the disk is full", nil])
    }

    @Test("File and folder are for their owner alone, whatever the mask says")
    func permissions() async throws {
        // The mask is the whole process's.
        await #expect(processExitsWith: .success) { [path = path as String] in
            umask(0)
            let telling = Telling(path)
            telling.text(1, "secret")
            telling.end()
        }
        func mode(_ path: String) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) ?? -1
        }
        #expect(mode(path) == 0o600)
        #expect(mode(scratch.file("data/voicegraph")) == 0o700)
        for end in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: path + end) {
            #expect(mode(path + end) == 0o600)
        }
    }

    @Test("What is told is written while the graph plays, not only at its end")
    func arrives() async throws {
        let telling = Telling(path)
        telling.text(1, "first")
        try await eventually("it is there") {
            try Archive.open(telling.path).map { try $0.items().count == 1 } ?? false
        }
        let archive = try telling.archive()
        #expect(try archive.sessions()[0].end == nil)
        telling.text(2, "so f", .partial)
        try await eventually("so is what grows") { try archive.items().last?.state == .growing }
        telling.end()
        #expect(texts(archive) == ["first", "so f (cut)"])
    }
}
