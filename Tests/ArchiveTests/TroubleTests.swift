// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Host
import NodeKit
import TestSupport

@testable import Archive

private let mayMount: Bool =
    geteuid() == 0
    && {
        // In a container root may be without the right to mount.
        guard let scratch = try? Scratch() else { return false }
        guard mount("none", scratch.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount(scratch.path) == 0
    }()

/// Crashes, damage, locks, disks that refuse, and several who write.
@Suite struct TroubleTests {
    private let scratch: Scratch
    private let path: String

    init() throws {
        scratch = try Scratch()
        path = scratch.file("archive.sqlite")
    }

    /// Files that were set aside.
    private var broken: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: scratch.path)) ?? [])
            .filter { $0.hasPrefix("archive.sqlite.broken-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }

    private func keep(_ texts: String...) -> ArchiveWriter.Outcome {
        let telling = Telling(path)
        for (index, text) in texts.enumerated() { telling.text(Int64(index + 1), text) }
        return telling.end()
    }

    @Test(
        "V3: a session that a kill -9 ended is closed when the next one begins, and its last partial text is kept and marked"
    )
    func killed() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let telling = Telling(path)
            for item in 1...20 { telling.text(Int64(item), "item \(item)") }
            telling.text(21, "and the last wor", .partial)
            telling.take(
                ["path": .string("/sound/a.wav"), "place": .string("/sound/a.part.wav")], .partial, node: "tape")
            try await eventually("all is there") {
                guard let archive = try Archive.open(path) else { return false }
                return try archive.items().count == 21 && archive.takes().count == 1
            }
            kill(getpid(), SIGKILL)
        }
        let archive = try #require(try Archive.open(path))
        #expect(try archive.sessions().map(\.ended) == [nil])
        #expect(try archive.items().last?.state == .growing)
        #expect(keep("the next").session == 2)
        let sessions = try archive.sessions()
        #expect(sessions.map(\.ended) == [.crashed, .ended])
        #expect(try #require(sessions[0].end) >= sessions[0].start)
        #expect(
            texts(archive) == (1...20).map { "item \($0)" } + ["and the last wor (cut)", "the next"])
        #expect(try archive.takes().map(\.file) == ["/sound/a.part.wav"])
        #expect(try archive.takes().map(\.state) == [.cut])
    }

    @Test("A writer that is killed leaves all that it has written, in order, without a gap", arguments: [1, 100, 1000])
    func killedAnywhere(count: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, count = count as Int] in
            let telling = Telling(path, graph: "killed")
            // More than it can write until then.
            for item in 1...5000 {
                telling.text(Int64(item), "so f", .partial, time: Double(item))
                telling.text(Int64(item), "item \(item)", time: Double(item))
            }
            try await eventually("so many are there") { try Archive.open(path)?.items().count ?? 0 >= count }
            kill(getpid(), SIGKILL)
        }
        #expect(keep("the next").lost == 0)
        let archive = try #require(try Archive.open(path))
        #expect(try archive.sessions().map(\.ended) == [.crashed, .ended])
        let items = try archive.items(.init(sessions: [1])).filter { $0.state == .whole }.map(\.text)
        #expect(items.count >= count - 1)
        #expect(items == (1..<items.count + 1).map { "item \($0)" })
        #expect(broken == [])
        let check: String? = try archive.database.use { db throws(ArchiveError) in
            try db.value("PRAGMA integrity_check")
        }
        #expect(check == "ok")
    }

    @Test("A file that is no database is set aside, that is told, and nothing of it is deleted")
    func garbage() throws {
        let garbage = String(repeating: "this is no database\n", count: 1000)
        try scratch.write("archive.sqlite", garbage)
        let telling = Telling(path)
        telling.text(1, "kept")
        #expect(telling.end().lost == 0)
        #expect(try texts(telling.archive()) == ["kept"])
        let name = try #require(broken.first)
        #expect(broken.count == 1)
        #expect(try String(contentsOfFile: scratch.file(name), encoding: .utf8) == garbage)
        let told = telling.told(HostEvent.archiveSetAside)
        #expect(told.map { $0.text("path") } == [scratch.file(name)])
        #expect(told.first?.text("reason")?.hasPrefix("it is damaged") == true)
    }

    @Test(
        "Damage that shows only while it is written is set aside too, and what was to be written goes into the new one")
    func damagedWhileOpen() async throws {
        let telling = Telling(path)
        telling.text(1, "old")
        try await eventually("it is there") { try Archive.open(path)?.items().count == 1 }
        // Everything but the first page, with the log written into it.
        let archive = try #require(try Archive.open(path))
        try archive.database.use { db throws(ArchiveError) in try db.emptyLog() }
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: size - 4096))
        try file.close()
        telling.text(2, "new")
        try await eventually("it was set aside") { !broken.isEmpty }
        #expect(telling.end().lost == 0)
        let kept = try texts(telling.archive())
        #expect(kept == ["new"])
        #expect(telling.told(HostEvent.archiveSetAside).count == 1)
    }

    @Test("An archive that somebody keeps locked is set aside after a while, and what they do goes into that")
    func locked() throws {
        #expect(keep("before").lost == 0)
        do {
            let other = try Connection(path, patience: 5)
            try other.run("BEGIN EXCLUSIVE")
            let telling = Telling(path, patience: 0.2)
            telling.text(1, "kept all the same")
            #expect(telling.end().lost == 0)
            #expect(telling.told(HostEvent.archiveSetAside).first?.text("reason") == "another program keeps it locked")
            #expect(try texts(telling.archive()) == ["kept all the same"])
            try other.run("UPDATE item SET text = 'changed'; COMMIT")
        }
        let name = try #require(broken.first)
        #expect(try texts(#require(try Archive.open(scratch.file(name)))) == ["changed"])
        // Who had the old one ends, and the new one is as it was.
        #expect(keep("and later").lost == 0)
        #expect(try texts(#require(try Archive.open(path))) == ["kept all the same", "and later"])
    }

    @Test("Of two that find it damaged one sets it aside, and both go on in the new one")
    func damagedForTwo() async throws {
        let both = [Telling(path, graph: "one"), Telling(path, graph: "two")]
        for telling in both { telling.text(1, "old") }
        try await eventually("they are there") { try Archive.open(path)?.items().count == 2 }
        let archive = try #require(try Archive.open(path))
        try archive.database.use { db throws(ArchiveError) in try db.emptyLog() }
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: size - 4096))
        try file.close()
        for item in 2...50 { for telling in both { telling.text(Int64(item), "new") } }
        for telling in both { #expect(telling.end().lost == 0) }
        #expect(broken.count == 1)
        #expect(try both[0].archive().items().count == 98)
    }

    @Test("A lock that ends in time is waited for, and nothing is set aside")
    func brieflyLocked() throws {
        #expect(keep("before").lost == 0)
        let telling = Telling(path, patience: 30)
        let other = try Connection(path, patience: 5)
        try other.run("BEGIN IMMEDIATE")
        telling.text(1, "waits")
        try other.run("COMMIT")
        #expect(telling.end().lost == 0)
        #expect(broken == [])
        #expect(try texts(telling.archive()) == ["before", "waits"])
    }

    @Test("Whoever opens the archive again takes no lock from a connection that this process has already")
    func openedTwice() throws {
        #expect(keep("before").lost == 0)
        /// Whether the kernel knows a lock of this process on the file.
        func isLocked() throws -> Bool {
            let file = try #require(FileNumbers(path))
            return contents("/proc/locks").split(separator: "\n").contains {
                $0.contains(" \(getpid()) ") && $0.contains(":\(file.number) ")
            }
        }
        let first = try #require(try Archive.open(path))
        #expect(texts(first) == ["before"])
        #expect(try isLocked())
        for _ in 0..<3 {
            // One that looks and is gone, as a request for takes; a recorder's; and one that looks whether it is damaged.
            let second = try #require(try Archive.open(path))
            #expect(texts(second) == texts(first))
        }
        #expect(keep("more").lost == 0)
        #expect(try Archive.setAside(path) == nil)
        #expect(try isLocked())
        // So another program that is the last of its own to close the file leaves the log alone.
        let log = try #require(FileNumbers(path + "-wal"))
        let other = Process()
        other.executableURL = URL(filePath: "/usr/bin/env")
        other.arguments = [
            "python3", "-c",
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM item').fetchall(); db.close()",
            path,
        ]
        try other.run()
        other.waitUntilExit()
        #expect(other.terminationStatus == 0)
        #expect(FileNumbers(path + "-wal") == log)
        #expect(texts(first) == ["before", "more"])
    }

    @Test("An archive that is a link is used, and what it leads to keeps its mode") func linked() throws {
        try scratch.write("elsewhere.sqlite", "")
        chmod(scratch.file("elsewhere.sqlite"), 0o640)
        symlink(scratch.file("elsewhere.sqlite"), path)
        #expect(keep("kept").lost == 0)
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o640)
        #expect(try texts(#require(try Archive.open(path))) == ["kept"])
    }

    @Test("Where no folder can be made, that is told with the reason and the number of items, and nothing waits for it")
    func refused() throws {
        try scratch.write("file", "")
        let telling = Telling(scratch.file("file/voicegraph/archive.sqlite"))
        for item in 1...5 { telling.text(Int64(item), "lost") }
        let outcome = telling.end()
        #expect(outcome.lost == 5)
        #expect(outcome.reason.contains("Not a directory"))
        #expect(outcome.session == nil)
        let states = telling.told(HostEvent.archive)
        #expect(states.first?.text("state") == "waiting")
        #expect(states.last?.text("state") == "ended")
        #expect(states.last?.fields["lost"] == .integer(5))
        #expect(states.last?.text("reason")?.contains("Not a directory") == true)
    }

    @Test("Of an item that grows while nothing can be written its last text alone is held") func growing() async throws
    {
        try scratch.write("disk", "")
        let telling = Telling(scratch.file("disk/archive.sqlite"), mostHeld: 150)
        for item in 1...120 { telling.text(Int64(item), "item \(item)", time: Double(item)) }
        for words in 1..<100 { telling.text(121, "\(words) words", .partial, time: 121) }
        telling.text(121, "100 words", time: 121)
        try await eventually("it waits") {
            telling.told(HostEvent.archive).last?.text("state") == "waiting"
        }
        try FileManager.default.removeItem(atPath: scratch.file("disk"))
        #expect(telling.end().lost == 0)
        #expect(try texts(telling.archive()) == (1...120).map { "item \($0)" } + ["100 words"])
    }

    @Test(
        "What cannot be written is held and written when there is room again; only what is too much is lost, the oldest first"
    )
    func full() async throws {
        // A file in place of the folder stands for a disk that refuses.
        try scratch.write("disk", "")
        let telling = Telling(scratch.file("disk/archive.sqlite"), mostHeld: 10)
        for item in 1...15 { telling.text(Int64(item), "item \(item)", time: Double(item)) }
        try await eventually("it is told") {
            telling.told(HostEvent.archive).last?.fields["lost"] == .integer(5)
        }
        try FileManager.default.removeItem(atPath: scratch.file("disk"))
        try await eventually("they are written") { try Archive.open(telling.path)?.items().count == 10 }
        telling.text(16, "item 16", time: 16)
        let outcome = telling.end()
        #expect(outcome.lost == 5)
        #expect(try texts(telling.archive()) == (6...16).map { "item \($0)" })
        #expect(telling.told(HostEvent.archive).map { $0.text("state") } == ["keeping", "ended"])
    }

    @Test(
        "A disk that becomes full is told with the reason, and when there is room again all is written, in order",
        .enabled(if: mayMount, "only root may mount"))
    func fullDisk() async throws {
        let place = scratch.file("disk")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try #require(mount("none", place, "tmpfs", 0, "size=8m") == 0)
        defer { umount2(place, Int32(MNT_DETACH)) }
        let telling = Telling(place + "/archive.sqlite")
        telling.text(1, "before")
        try await eventually("it is there") { try Archive.open(telling.path)?.items().count == 1 }
        try Data(count: 7_400_000).write(to: URL(filePath: place + "/ballast"))
        let long = (0..<400).map { "word\($0)" }.joined(separator: " ")
        for item in 2...300 { telling.text(Int64(item), "\(item) \(long)", time: Double(item)) }
        try await eventually("it is told") {
            telling.told(HostEvent.archive).contains {
                $0.text("state") == "waiting" && $0.text("reason") == "there is no room left on the disk (make some)"
            }
        }
        try FileManager.default.removeItem(atPath: place + "/ballast")
        let outcome = telling.end()
        #expect(outcome.lost == 0)
        let kept = try telling.archive().items()
        #expect(kept.count == 300)
        #expect(kept.dropFirst().map { $0.text.prefix { $0 != " " } } == (2...300).map { "\($0)" })
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).allSatisfy { !$0.contains("broken") })
    }

    @Test(
        "A file system that may only be read is told, and all that is told of it is counted as lost",
        .enabled(if: mayMount, "only root may mount"))
    func readOnly() throws {
        #expect(keep("before").lost == 0)
        try #require(mount(scratch.path, scratch.path, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(scratch.path, Int32(MNT_DETACH)) }
        try #require(
            mount("none", scratch.path, nil, UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
        let telling = Telling(path)
        for item in 1...3 { telling.text(Int64(item), "lost") }
        let outcome = telling.end()
        #expect(outcome.lost == 3)
        #expect(outcome.reason.contains("Read-only file system"), "\(outcome.reason)")
        #expect(telling.told(HostEvent.archive).last?.fields["lost"] == .integer(3))
        #expect(broken == [])
    }

    @Test("Several processes write into one archive at once, and each keeps its own session")
    func several() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for process in 1...3 {
                group.addTask { [path] in
                    await #expect(processExitsWith: .success) { [path = path as String, process = process as Int] in
                        let telling = Telling(path, graph: "talk \(process)", patience: 30)
                        for item in 1...300 {
                            telling.text(Int64(item), "so f", .partial, time: Double(item))
                            telling.text(Int64(item), "\(process): \(item)", time: Double(item))
                        }
                        #expect(telling.end().lost == 0)
                    }
                }
            }
            try await group.waitForAll()
        }
        let archive = try #require(try Archive.open(path))
        let sessions = try archive.sessions()
        #expect(Set(sessions.map(\.graph)) == ["talk 1", "talk 2", "talk 3"])
        #expect(sessions.map(\.ended) == [.ended, .ended, .ended])
        for session in sessions {
            let number = session.graph.last!
            #expect(texts(archive, .init(sessions: [session.id])) == (1...300).map { "\(number): \($0)" })
        }
        #expect(broken == [])
    }

    @Test("A session that another process still writes is left open")
    func openElsewhere() async throws {
        let first = Telling(path)
        first.text(1, "here", .partial)
        try await eventually("it is there") { try Archive.open(path)?.items().count == 1 }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let telling = Telling(path)
            telling.text(1, "there")
            #expect(telling.end().session == 2)
        }
        let archive = try #require(try Archive.open(path))
        #expect(try archive.sessions().map(\.ended) == [nil, .ended])
        #expect(texts(archive) == ["here (growing)", "there"])
        first.text(1, "here we are")
        first.end()
        #expect(try archive.sessions().map(\.ended) == [.ended, .ended])
        #expect(texts(archive) == ["here we are", "there"])
    }

    @Test("An archive that is renamed or removed while it is written is begun anew, and what it had is in it")
    func renamed() async throws {
        let telling = Telling(path)
        telling.text(1, "old")
        try await eventually("it is there") { try Archive.open(path)?.items().count == 1 }
        let file = ArchiveFile(path: path, patience: 1)
        #expect(try Archive.setAside(path) == nil)
        #expect(try file.setAside(FileNumbers(scratch.path)) == nil)
        #expect(broken == [])
        #expect(try file.setAside(file.identity) != nil)
        telling.text(2, "new")
        telling.end()
        #expect(try texts(telling.archive()) == ["new"])
        #expect(try texts(#require(try Archive.open(scratch.file(broken[0])))) == ["old"])
    }

    @Test("Who deletes a session or an item while it grows does not stop what comes after")
    func deletedMeanwhile() async throws {
        let telling = Telling(path)
        telling.text(1, "one")
        telling.text(2, "two so f", .partial)
        try await eventually("they are there") { try Archive.open(path)?.items().count == 2 }
        let archive = try telling.archive()
        try archive.database.write { db throws(ArchiveError) in try db.run("DELETE FROM session") }
        telling.text(2, "two so far")
        telling.text(3, "three")
        #expect(telling.end().lost == 0)
        #expect(texts(archive) == ["two so far", "three"])
    }
}
