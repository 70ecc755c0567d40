// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Glibc
import Host
import System

/// `voicegraph takes`: what was recorded, as it was kept.
struct TakesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "takes", abstract: "List, play, export and delete what was recorded.",
        discussion: """
            A run keeps where the recordings of nodes with keep = true are, and what they are; the sound stays in its \
            files. What is not there, or cannot be done, ends with exit code 1.

            Examples:
              voicegraph takes list
              voicegraph takes play last
            """,
        subcommands: [List.self, PlayTakeCommand.self, Export.self, Delete.self])

    /// The takes with these numbers, "last" for the newest; one that there is not is an error.
    static func takes(_ names: [String], in archive: Archive) throws -> [ArchivedTake] {
        let all = try ArchiveAccess.told { () throws(ArchiveError) in try archive.takes() }
        return try names.map { name in
            if name == "last", let last = all.last { return last }
            if let take = all.first(where: { String($0.id) == name }) { return take }
            throw fail("there is no take \(name); `voicegraph takes list` shows what there is")
        }
    }
}

extension TakesCommand {
    /// `voicegraph takes list`: a line each.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the takes, the newest last.",
            discussion: """
                Examples:
                  voicegraph takes list --limit 10
                  voicegraph takes list --json
                """)

        @Option(help: ArgumentHelp("Show only so many, the newest.", valueName: "count"))
        var limit: Int?

        @Flag(help: "One JSON object a line.")
        var json = false

        func run() throws {
            let archive = try ArchiveAccess.open()
            let takes = try ArchiveAccess.told { () throws(ArchiveError) in
                try archive?.takes(limit: max(0, limit ?? .max)) ?? []
            }
            if takes.isEmpty, !json { return ArchiveAccess.sayNothing() }
            writeOut(json ? jsonLines(takes) : TakesText.table(takes))
        }
    }

    /// `voicegraph takes export TAKE... -o PLACE`: copies of the files.
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Copy the files of takes.",
            discussion: """
                Nothing is written over.

                Examples:
                  voicegraph takes export last -o interview.flac
                  voicegraph takes export 3 4 -o copies
                """)

        @Argument(help: "Numbers of takes, or last.")
        var takes: [String]

        @Option(
            name: .shortAndLong, help: ArgumentHelp("A folder, or for one take a file.", valueName: "place"),
            completion: .file())
        var output: String

        func run() throws {
            let archive = try ArchiveAccess.opened()
            let chosen = try TakesCommand.takes(takes, in: archive)
            var facts = stat()
            let isFolder = stat(output, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
            if !isFolder, chosen.count > 1 { throw fail("\(output) is no folder, and there are \(chosen.count) takes") }
            for take in chosen {
                let name = take.file.split(separator: "/").last.map(String.init) ?? "take"
                try copyFile(try TakesCommand.location(of: take), to: isFolder ? "\(output)/\(name)" : output)
            }
        }
    }

    /// `voicegraph takes delete TAKE...`.
    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Forget takes, and with --files delete their files.",
            discussion: """
                What is given together must all be true of a take. It asks before it deletes; where nobody can be asked \
                it refuses without --yes. A take that is being recorded stays. Where there is nothing to delete it \
                says so and ends with 0.

                Examples:
                  voicegraph takes delete --older-than 30d --files --yes
                  voicegraph takes delete 3
                """)

        @Argument(help: "Numbers of takes, or last.")
        var takes: [String] = []

        @Flag(help: "Delete the sound files as well; without this they stay.")
        var files = false

        @OptionGroup
        var age: AgeOptions

        func validate() throws {
            if takes.isEmpty, age.olderThan == nil { throw ValidationError("name takes, or give --older-than") }
        }

        func run() throws {
            guard let archive = try ArchiveAccess.open() else { return _ = writeOut("there is nothing to delete\n") }
            let named = try TakesCommand.takes(takes, in: archive)
            let filter = ArchiveFilter(ids: named.isEmpty ? nil : named.map(\.id), before: age.before)
            let meant = try ArchiveAccess.told { () throws(ArchiveError) in try archive.takes(filter) }
                .filter { $0.state != .growing }
            guard !meant.isEmpty else { return _ = writeOut("there is nothing to delete\n") }
            let what = counted(meant.count, "take")
            try ArchiveAccess.confirm(
                files ? "Delete \(what) and their files?" : "Forget \(what)? Their files stay.", yes: age.yes)
            let (gone, kept) = files ? removeFiles(meant) : (meant, [])
            _ = try ArchiveAccess.told { () throws(ArchiveError) in
                try archive.delete(.take, .init(ids: gone.map(\.id)))
            }
            let done = counted(gone.count, "take")
            writeOut(files ? "deleted \(done) and their files\n" : "forgot \(done); their files stay\n")
            if !kept.isEmpty { throw ExitCode(1) }
        }

        /// Deletes the files; a take the file of which cannot be deleted is kept, and that is told.
        private func removeFiles(_ takes: [ArchivedTake]) -> (gone: [ArchivedTake], kept: [ArchivedTake]) {
            var kept: [ArchivedTake] = []
            let gone = takes.filter { take in
                guard let file = try? TakesCommand.location(of: take) else {
                    kept.append(take)
                    return false
                }
                var facts = stat()
                guard lstat(file, &facts) == 0 else { return true }
                if facts.st_mode & S_IFMT == S_IFREG, unlink(file) == 0 { return true }
                let reason = facts.st_mode & S_IFMT == S_IFREG ? String(cString: strerror(errno)) : "it is no file"
                _ = fail("\(take.file) cannot be deleted: \(reason); the take is kept")
                kept.append(take)
                return false
            }
            return (gone, kept)
        }
    }
}

extension TakesCommand {
    /// Where the file of a take is; says so where that is not known.
    static func location(of take: ArchivedTake) throws -> String {
        if let location = take.location { return location }
        throw fail(
            "take \(take.id): it is not known in which folder '\(take.file)' is; look for it, and forget the take")
    }
}

/// Copies a file, over nothing.
private func copyFile(_ path: String, to target: String) throws {
    let from = open(path, O_RDONLY | O_CLOEXEC)
    guard from >= 0 else { throw fail("\(path) cannot be read: \(String(cString: strerror(errno)))") }
    defer { close(from) }
    do throws(SystemError) {
        let copy = try WholeFile(target, replaces: false)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(from, &bytes, bytes.count)
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw SystemError("\(path) cannot be read") }
            try copy.write(Array(bytes[..<count]))
        }
        try copy.finish()
    } catch { throw fail("\(error)") }
    writeOut("\(target)\n")
}
