// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Glibc
import Host

/// `voicegraph transcripts`: what was said, as it was kept.
struct TranscriptsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transcripts", abstract: "List, show, search, add, edit, delete and export what was said.",
        discussion: """
            A run keeps the texts of nodes with keep = true in the graph file, under the name that speaker gives; \
            archive = false in [graph] keeps nothing. They are in archive.sqlite in voicegraph's data folder, for you \
            alone. A SESSION is the number of a run, or "last". What is not there, or cannot be done, ends with exit \
            code 1.

            Examples:
              voicegraph transcripts list
              voicegraph transcripts show last
            """,
        subcommands: [List.self, Show.self, Search.self, Add.self, Edit.self, Delete.self, Export.self])
}

extension TranscriptsCommand {
    /// `voicegraph transcripts list`: a line for each run.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the sessions of which texts are kept, the newest last.",
            discussion: """
                Examples:
                  voicegraph transcripts list --limit 10
                  voicegraph transcripts list --json
                """)

        @Option(help: ArgumentHelp("Show only so many, the newest.", valueName: "count"))
        var limit: Int?

        @Flag(help: "One JSON object a line.")
        var json = false

        func run() throws {
            let archive = try ArchiveAccess.open()
            let sessions = try ArchiveAccess.told { () throws(ArchiveError) in
                try archive?.sessions(of: .item, limit: max(0, limit ?? .max)) ?? []
            }
            if sessions.isEmpty, !json { return ArchiveAccess.sayNothing() }
            writeOut(json ? jsonLines(sessions) : TranscriptsText.table(sessions))
        }
    }

    /// `voicegraph transcripts show SESSION`: all of one.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show what was said in a session.",
            discussion: """
                The numbers in front are those of the items, by which edit and delete name them.

                Examples:
                  voicegraph transcripts show
                  voicegraph transcripts show 12 --json
                """)

        @Argument(help: "Its number, or last.")
        var session = "last"

        @Flag(help: "One JSON object a line, with what was told where a text was edited.")
        var json = false

        func run() throws {
            let archive = try ArchiveAccess.opened()
            let sessions = try ArchiveAccess.sessions([session], of: .item, in: archive)
            let items = try ArchiveAccess.told { () throws(ArchiveError) in
                try archive.items(.init(sessions: sessions.map(\.id)))
            }
            writeOut(json ? jsonLines(items) : TranscriptsText.lines(items))
        }
    }

    /// `voicegraph transcripts search WORDS...`.
    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search", abstract: "Find what was said, the newest first.",
            discussion: """
                All words must occur. "words like this" stand in a row, begin* is the beginning of a word; capitals and \
                accents make no difference. Words of Chinese, Japanese, Korean, Thai and other scripts without blanks \
                between words are found in any part of a text. What is still being said is not searched. Where nothing is found the exit code is 1.

                Examples:
                  voicegraph transcripts search "good morning" ann*
                  voicegraph transcripts search weather --speaker Anna --limit 5
                """)

        @Argument(help: "The words.")
        var words: [String]

        @Option(help: "Only what this one said.")
        var speaker: String?

        @Option(help: ArgumentHelp("So many at most.", valueName: "count"))
        var limit = 50

        @Flag(help: "One JSON object a line.")
        var json = false

        func validate() throws {
            if limit < 1 { throw ValidationError("--limit must be above 0") }
        }

        func run() throws {
            let archive = try ArchiveAccess.opened()
            let items = try ArchiveAccess.told { () throws(ArchiveError) in
                try archive.search(words.joined(separator: " "), .init(speaker: speaker), limit: limit)
            }
            if items.isEmpty { throw json ? ExitCode(1) : fail("nothing was found") }
            writeOut(json ? jsonLines(items) : TranscriptsText.found(items))
        }
    }

    /// `voicegraph transcripts export SESSION...`.
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Write what was said as text, captions, JSON or Markdown.",
            discussion: """
                Captions, srt and vtt, are of one session. They follow each other, in two lines at most.

                Examples:
                  voicegraph transcripts export last --format srt -o interview.srt
                  voicegraph transcripts export --json -o all.jsonl
                """)

        @Argument(help: "Numbers of sessions, or last; without any, all.")
        var sessions: [String] = []

        @Option(help: "What to write: txt, which is usual, srt, vtt, json (one object a line) or md.")
        var format: ExportFormat?

        @Flag(help: "Short for --format json.")
        var json = false

        @Option(
            name: .shortAndLong, help: ArgumentHelp("Where to write; without it standard output.", valueName: "file"),
            completion: .file())
        var output: String?

        func validate() throws { _ = try chosenFormat(format, json: json, .json, otherwise: .txt) }

        func run() throws {
            let format = try chosenFormat(format, json: json, .json, otherwise: .txt)
            let archive = try ArchiveAccess.opened()
            let named = try ArchiveAccess.sessions(sessions, of: .item, in: archive)
            let chosen = try ArchiveAccess.told { () throws(ArchiveError) in
                sessions.isEmpty ? try archive.sessions(of: .item) : named
            }
            if format.isCaptions, chosen.count != 1 {
                throw fail("captions are of one session, and there are \(chosen.count); name one, or last")
            }
            let parts = try chosen.map { session in
                (
                    session,
                    try ArchiveAccess.told { () throws(ArchiveError) in try archive.items(.init(sessions: [session.id]))
                    }
                )
            }
            let text = format.text(parts)
            guard let output else {
                writeOut(text)
                return
            }
            // Nobody else's business, but where the user has said otherwise of the file.
            try writeWhole(Array(text.utf8), to: output, mode: 0o600)
        }
    }
}
