// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Glibc
import Host

extension TranscriptsCommand {
    /// `voicegraph transcripts add TEXT`.
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Keep a text, as one that was said now; prints its number.",
            discussion: """
                It becomes a session of its own, unless --session names one.

                Examples:
                  voicegraph transcripts add "Call Anna back on Monday."
                  voicegraph transcripts add --session last --speaker Anna "On the phone."
                """)

        @Argument(help: "The text.")
        var words: [String]

        @Option(help: ArgumentHelp("Who says it.", valueName: "name"))
        var speaker = "you"

        @Option(help: ArgumentHelp("The number of a session, or last.", valueName: "session"))
        var session: String?

        func run() throws {
            var number: Int64?
            if let session {
                number = try ArchiveAccess.sessions([session], of: .item, in: try ArchiveAccess.opened()).first?.id
            }
            let item = try ArchiveAccess.told { () throws(ArchiveError) in
                try Archive.add(words.joined(separator: " "), speaker: speaker, graph: "notes", to: number)
            }
            writeOut("\(item)\n")
        }
    }

    /// `voicegraph transcripts edit ITEM TEXT`.
    struct Edit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Give an item another text; what was told is kept beside it.",
            discussion: """
                Examples:
                  voicegraph transcripts edit 12 "What was really said."
                  voicegraph transcripts edit 12 --undo
                """)

        @Argument(help: "Its number, as show and search tell it.")
        var item: Int64

        @Argument(help: "The new text.")
        var words: [String] = []

        @Flag(help: "Take back what it was edited to.")
        var undo = false

        func validate() throws {
            if words.isEmpty != undo { throw ValidationError("give a text, or --undo") }
        }

        func run() throws {
            let archive = try ArchiveAccess.opened()
            try ArchiveAccess.told { () throws(ArchiveError) in
                try archive.edit(item, to: undo ? nil : words.joined(separator: " "))
            }
        }
    }

    /// `voicegraph transcripts delete SESSION...`.
    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete texts, of whole sessions, single ones, or old ones.",
            discussion: """
                What is given together must all be true of a text. It asks before it deletes; where nobody can be asked \
                it refuses without --yes. Where there is nothing to delete it says so and ends with 0. Takes are \
                deleted by `voicegraph takes delete`.

                Examples:
                  voicegraph transcripts delete --older-than 30d --yes
                  voicegraph transcripts delete --item 12 13
                """)

        @Argument(help: "Numbers of sessions, or last.")
        var sessions: [String] = []

        @Option(parsing: .upToNextOption, help: ArgumentHelp("Numbers of single items.", valueName: "item"))
        var item: [Int64] = []

        @OptionGroup
        var age: AgeOptions

        func validate() throws {
            if sessions.isEmpty, item.isEmpty, age.olderThan == nil {
                throw ValidationError("name sessions, or give --item or --older-than")
            }
        }

        func run() throws {
            guard let archive = try ArchiveAccess.open() else { return _ = writeOut("there is nothing to delete\n") }
            let named = try ArchiveAccess.sessions(sessions, of: .item, in: archive)
            let filter = ArchiveFilter(
                ids: item.isEmpty ? nil : item, sessions: named.isEmpty ? nil : named.map(\.id), before: age.before)
            let meant = try ArchiveAccess.told { () throws(ArchiveError) in try archive.items(filter) }
            if let missing = item.first(where: { id in !meant.contains { $0.id == id } }), age.olderThan == nil {
                throw fail(
                    "there is no item \(missing)\(named.isEmpty ? "" : " in what is named"); nothing was deleted")
            }
            guard !meant.isEmpty else { return _ = writeOut("there is nothing to delete\n") }
            let count = Set(meant.map(\.session)).count
            try ArchiveAccess.confirm(
                "Delete \(counted(meant.count, "text")) of \(counted(count, "session"))?", yes: age.yes)
            // Those that were asked about, and none that came meanwhile.
            let gone = try ArchiveAccess.told { () throws(ArchiveError) in
                try archive.delete(.item, .init(ids: meant.map(\.id)))
            }
            writeOut("deleted \(counted(gone, "text"))\n")
        }
    }
}
