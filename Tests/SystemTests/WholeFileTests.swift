// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

@testable import System

@Suite("Files that have their name when they are whole", .timeLimit(.minutes(5)))
struct WholeFileTests {
    private let scratch: Scratch
    private var files: [String] { names(in: scratch.path).sorted() }

    init() throws { scratch = try Scratch() }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: scratch.file(name), encoding: .utf8)
    }

    private func mode(_ name: String) -> mode_t {
        var facts = stat()
        lstat(scratch.file(name), &facts)
        return facts.st_mode & 0o7777
    }

    private func isLink(_ name: String) -> Bool {
        var facts = stat()
        return lstat(scratch.file(name), &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
    }

    @Test("What had the name stays until the new one is whole, and for good where that never is")
    func replaced() throws {
        try scratch.write("a.txt", "old")
        do {
            let file = try WholeFile(scratch.file("a.txt"))
            try file.write(Array("ne".utf8))
            #expect(try text("a.txt") == "old" && files.count == 2)
        }
        #expect(try text("a.txt") == "old" && files == ["a.txt"])
        try WholeFile.write(Array("new".utf8), to: scratch.file("a.txt"))
        #expect(try text("a.txt") == "new" && files == ["a.txt"])
    }

    @Test("The mode of a file stays; a new one has what the umask leaves of the mode that is asked for")
    func modes() throws {
        let mask = umask(0)
        umask(mask)
        try scratch.write("a.txt", "old")
        for bits in [0o600, 0o664, 0o640] as [mode_t] {
            chmod(scratch.file("a.txt"), bits)
            try WholeFile.write([1], to: scratch.file("a.txt"))
            #expect(mode("a.txt") == bits)
        }
        try WholeFile.write([1], to: scratch.file("b.txt"))
        try WholeFile.write([1], to: scratch.file("c.txt"), mode: 0o600)
        #expect(mode("b.txt") == 0o666 & ~mask && mode("c.txt") == 0o600)
    }

    @Test("A link stays one, and what it leads to is replaced, also where that is not there yet")
    func links() throws {
        mkdir(scratch.file("inner"), 0o700)
        try scratch.write("inner/real", "old")
        for (link, target) in [("a", "inner/real"), ("b", scratch.file("inner/real")), ("c", "a"), ("d", "inner/new")] {
            symlink(target, scratch.file(link))
            try WholeFile.write(Array(link.utf8), to: scratch.file(link))
            #expect(isLink(link) && files == ["a", "b", "c", "d", "inner"].filter { $0 <= link || $0 == "inner" })
            #expect(try text(link) == link)
        }
        #expect(names(in: scratch.file("inner")).sorted() == ["new", "real"])
        symlink("e", scratch.file("e"))
        let endless = try? WholeFile(scratch.file("e"))
        #expect(endless == nil)
    }

    @Test("A link of another user's in a folder for all is not followed", .enabled(if: getuid() == 0, "needs root"))
    func linkOfAnother() throws {
        mkdir(scratch.file("shared"), 0o777)
        chmod(scratch.file("shared"), 0o1777)
        try scratch.write("victim", "precious")
        symlink(scratch.file("victim"), scratch.file("shared/a"))
        lchown(scratch.file("shared/a"), 65_534, 65_534)
        let error = #expect(throws: SystemError.self) {
            try WholeFile.write([1], to: scratch.file("shared/a"))
        }
        #expect(error?.code == EACCES)
        #expect(try text("victim") == "precious")
    }

    @Test("What has the name of a part is never written to, and only what a dead process of this user left is removed")
    func parts() throws {
        try scratch.write("victim", "precious")
        symlink(scratch.file("victim"), scratch.file("a.part-aaaaaa"))
        try scratch.write("a.part-bbbbbb", "of a dead one")
        try scratch.write("a.part-toolong", "something else")
        try scratch.write("b.part-bbbbbb", "another's")
        let alive = try WholeFile(scratch.file("a"))
        let part = try #require(alive.place.split(separator: "/").last.map(String.init))
        try WholeFile.write(Array("new".utf8), to: scratch.file("a"))
        #expect(files == ["a", part, "a.part-aaaaaa", "a.part-toolong", "b.part-bbbbbb", "victim"].sorted())
        #expect(try text("victim") == "precious" && isLink("a.part-aaaaaa"))
    }

    @Test("A full disk leaves the old file, and the error names file and reason")
    func fullDisk() async throws {
        // The limit of a file's size refuses what is too much as a full disk does.
        try scratch.write("a.txt", "old")
        let path = scratch.file("a.txt")
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let error = #expect(throws: SystemError.self) {
                try WholeFile.write([UInt8](repeating: 1, count: 2000), to: path)
            }
            #expect(error?.description == "\(path) cannot be written: File too large")
        }
        #expect(try text("a.txt") == "old" && files == ["a.txt"])
    }

    @Test("What is no file of a disk is written to directly, and says why it takes no more")
    func special() throws {
        try WholeFile.write([1, 2], to: "/dev/null")
        let full = #expect(throws: SystemError.self) { try WholeFile.write([1], to: "/dev/full") }
        #expect(full?.description == "/dev/full cannot be written: No space left on device")
        mkfifo(scratch.file("pipe"), 0o600)
        let reader = open(scratch.file("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try WholeFile.write([7], to: scratch.file("pipe"))
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1 && byte == 7 && files == ["pipe"])
        let folder = #expect(throws: SystemError.self) { try WholeFile.write([1], to: scratch.path) }
        #expect(folder?.code == EISDIR)
    }

    @Test("One that is not to replace anything does not, whenever the other comes") func over() throws {
        let file = try WholeFile(scratch.file("a"), replaces: false)
        try file.write([1])
        try scratch.write("a", "other")
        #expect(throws: SystemError.self) { try file.finish() }
        #expect(throws: SystemError.self) { try WholeFile(scratch.file("a"), replaces: false) }
        symlink("nowhere", scratch.file("b"))
        #expect(throws: SystemError.self) { try WholeFile(scratch.file("b"), replaces: false) }
        #expect(try text("a") == "other")
    }

    @Test("A name may be as long as names may be") func longName() throws {
        let name = String(repeating: "ü", count: 127) + "x"
        try WholeFile.write([1], to: scratch.file(name))
        #expect(files == [name])
    }
}
