// SPDX-License-Identifier: Apache-2.0
import Archive
import Foundation
import Host
import TestSupport

/// A data folder with two sessions, a day apart, and what the commands make of it.
final class KeptData: Sendable {
    let scratch: Scratch
    var path: String { scratch.file("voicegraph/archive.sqlite") }

    init() throws { scratch = try Scratch() }

    /// Keeps items of a session: speaker and text of each, the last one unfinished if its text ends in "-", and takes.
    func keep(
        _ graph: String, utc: Double = calendarTime(), _ items: [(speaker: String, text: String)], takes: [String] = []
    ) {
        let bus = EventBus()
        let writer = ArchiveWriter(
            bus.subscribe(.lossless, where: ArchiveWriter.wants),
            session: .init(graph: graph, file: "/sound/\(graph).conf", start: utc), path: path
        ) { _, _ in }
        for (index, item) in items.enumerated() {
            var event = Event(
                "minutes.text", node: "ear", time: Double(index) * 2 + 1.5, wallTime: utc + Double(index) * 2 + 1.5,
                fields: [
                    "item": .integer(Int64(index + 1)), "text": .string(item.text),
                    "start": .number(Double(index) * 2), "end": .number(Double(index) * 2 + 1.5),
                ])
            event.keeping = .init(.text(item.text.hasSuffix("-") ? .partial : .whole), speaker: item.speaker)
            bus.publish(.event(event))
        }
        for take in takes {
            var event = Event(
                "tape.take", node: "tape", time: 2, wallTime: utc + 2,
                fields: [
                    "path": .string(take), "frames": .integer(16_000), "rate": .number(8000), "channels": .integer(1),
                    "seconds": .number(2),
                ])
            event.keeping = .init(.take(.whole), speaker: "tape")
            bus.publish(.event(event))
        }
        writer.finish()
    }

    /// Runs a command of the program to its end.
    func run(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
        let program = try Program([Program.voicegraph] + arguments, environment: ["XDG_DATA_HOME": scratch.path])
        return (try await program.end(), program.output, program.errors)
    }

    /// The same on a terminal that is so wide, with these lines typed; what is seen there.
    func typed(_ command: String, _ lines: String, width: Int = 80) async throws -> (code: Int32, seen: String) {
        let result = try await runTool(
            [
                "bash", "-c",
                "sleep 0; printf '\(lines)' | script -qec 'stty cols \(width); voicegraph \(command)' /dev/null",
            ], environment: ["XDG_DATA_HOME": scratch.path, "TERM": "xterm"])
        return (result.status, result.output)
    }
}

/// Objects of lines of JSON.
private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
}

/// `voicegraph transcripts` as a user types it.
@Suite("The command transcripts", .timeLimit(.minutes(3))) struct TranscriptsCommandTests {
    private let data: KeptData
    private let now = calendarTime()

    init() throws {
        data = try KeptData()
        data.keep("old", utc: now - 40 * 86_400, [("Anna", "an old story")])
        data.keep(
            "talk", [("Anna", "good morning"), ("Bert", "good evening, <b>Anna</b> & all"), ("Anna", "and then-")])
    }

    @Test("V3: the list names every session with its time, graph, speakers and how many items it has")
    func list() async throws {
        let list = try await data.run("transcripts", "list")
        #expect(list.code == 0)
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].contains(" ended ") && lines[1].contains("  old  ") && lines[1].hasSuffix("Anna"))
        #expect(lines[2].contains("  3  talk   Anna, Bert"))
        let json = try objects(await data.run("transcripts", "list", "--json").output)
        #expect(json.map { $0["graph"] as? String } == ["old", "talk"])
        #expect(json.map { $0["items"] as? Int } == [1, 3])
        #expect(json.map { $0["speakers"] as? [String] } == [["Anna"], ["Anna", "Bert"]])
        #expect(json.allSatisfy { $0["state"] as? String == "ended" })
        #expect(try objects(await data.run("transcripts", "list", "--json", "--limit", "1").output).count == 1)
    }

    @Test("A session is shown with its items' numbers, and what is not complete is marked")
    func show() async throws {
        let show = try await data.run("transcripts", "show", "2")
        #expect(
            show.output == """
                2  0:00:00  Anna  good morning
                3  0:00:02  Bert  good evening, <b>Anna</b> & all
                4  0:00:04  Anna  and then- (cut off)

                """)
        #expect(try await data.run("transcripts", "show").output == show.output)
        let json = try objects(await data.run("transcripts", "show", "last", "--json").output)
        #expect(json.map { $0["state"] as? String } == ["whole", "whole", "cut"])
        #expect(json.map { $0["start"] as? Double } == [0, 2, 4])
        let none = try await data.run("transcripts", "show", "7")
        #expect(none.code == 1)
        #expect(
            none.errors
                == "voicegraph: there is no session 7 with transcripts; `voicegraph transcripts list` shows what there is\n"
        )
    }

    @Test("Words are found, and that none are is told by the exit code")
    func search() async throws {
        let found = try await data.run("transcripts", "search", "good", "evening")
        #expect(found.code == 0)
        #expect(found.output.contains("Bert     good evening, <b>Anna</b> & all"))
        let json = try objects(await data.run("transcripts", "search", "go*", "--json").output)
        #expect(json.map { $0["id"] as? Int } == [3, 2])
        #expect(
            try objects(await data.run("transcripts", "search", "good", "--speaker", "Anna", "--json").output).count
                == 1)
        let none = try await data.run("transcripts", "search", "nowhere")
        #expect(none.code == 1)
        #expect(none.errors == "voicegraph: nothing was found\n")
    }

    @Test("V3: a text is edited, what was told stays beside it, and an edit is taken back")
    func edit() async throws {
        #expect(try await data.run("transcripts", "edit", "2", "good", "night").code == 0)
        var json = try objects(await data.run("transcripts", "show", "--json").output)
        #expect(json[0]["text"] as? String == "good night")
        #expect(json[0]["original"] as? String == "good morning")
        #expect(try await data.run("transcripts", "show").output.contains("good night (edited)"))
        #expect(try await data.run("transcripts", "edit", "2", "--undo").code == 0)
        json = try objects(await data.run("transcripts", "show", "--json").output)
        #expect(json[0]["text"] as? String == "good morning")
        let none = try await data.run("transcripts", "edit", "99", "x")
        #expect((none.code, none.errors) == (1, "voicegraph: there is no item 99\n"))
    }

    @Test("V3: a text of one's own is kept beside them") func add() async throws {
        let added = try await data.run("transcripts", "add", "--session", "last", "--speaker", "Ann", "call", "back")
        #expect(added.code == 0)
        let json = try objects(await data.run("transcripts", "show", "last", "--json").output)
        let own = try #require(json.first { $0["text"] as? String == "call back" })
        #expect(own["speaker"] as? String == "Ann" && added.output == "\(own["id"] as? Int ?? 0)\n")
        let alone = try await data.run("transcripts", "add", "milk")
        let shown = try await data.run("transcripts", "show")
        #expect(alone.code == 0 && shown.output.contains("milk"))
        let blank = try await data.run("transcripts", "add", " ")
        #expect(blank.code == 1 && blank.errors.contains("the text is blank"))
        let none = try await data.run("transcripts", "add", "--session", "77", "x")
        #expect(none.code == 1 && none.errors.contains("there is no session 77"))
    }

    @Test("V3: deleting by selection asks on a terminal, and refuses where nobody can be asked")
    func delete() async throws {
        let refused = try await data.run("transcripts", "delete", "2")
        #expect(refused.code == 1)
        #expect(
            refused.errors
                == "voicegraph: Delete 3 texts of 1 session? Nobody can be asked here; --yes answers it\n")
        let no = try await data.typed("transcripts delete 2", "n\\n")
        #expect(no.code == 1 && no.seen.contains("Delete 3 texts of 1 session? [y/N]"))
        #expect(no.seen.contains("nothing was deleted"))
        #expect(try objects(await data.run("transcripts", "show", "2", "--json").output).count == 3)
        let yes = try await data.typed("transcripts delete 2 --item 3", "y\\n")
        #expect(yes.code == 0 && yes.seen.contains("deleted 1 text\r\n"), "\(yes.seen)")
        #expect(
            try objects(await data.run("transcripts", "show", "2", "--json").output).map { $0["id"] as? Int } == [2, 4])
        let missing = try await data.run("transcripts", "delete", "--item", "2", "3", "--yes")
        #expect((missing.code, missing.errors) == (1, "voicegraph: there is no item 3; nothing was deleted\n"))
        #expect(try await data.run("transcripts", "delete", "2", "--yes").output == "deleted 2 texts\n")
        #expect(try objects(await data.run("transcripts", "list", "--json").output).count == 1)
    }

    @Test("What is older than a time is deleted for cron, and where there is nothing more that is no failure")
    func olderThan() async throws {
        let first = try await data.run("transcripts", "delete", "--older-than", "30d", "--yes")
        #expect((first.code, first.output, first.errors) == (0, "deleted 1 text\n", ""))
        let second = try await data.run("transcripts", "delete", "--older-than", "30d", "--yes")
        #expect((second.code, second.output) == (0, "there is nothing to delete\n"))
        #expect(
            try objects(await data.run("transcripts", "list", "--json").output).map { $0["graph"] as? String } == [
                "talk"
            ])
        #expect(try await data.run("transcripts", "delete", "--yes").code == 64)
    }

    @Test("A session is exported as text, captions, JSON and Markdown")
    func export() async throws {
        func export(_ format: String, _ session: String = "2") async throws -> String {
            let result = try await data.run("transcripts", "export", session, "--format", format)
            #expect(result.code == 0, "\(result.errors)")
            return result.output
        }
        #expect(
            try await export("txt") == "Anna: good morning\nBert: good evening, <b>Anna</b> & all\nAnna: and then-\n")
        #expect(try await export("txt", "1") == "an old story\n")
        #expect(
            try await export("srt").hasPrefix("1\n00:00:00,000 --> 00:00:01,500\nAnna: good morning\n\n2\n00:00:02,000")
        )
        let vtt = try await export("vtt")
        #expect(vtt.hasPrefix("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nAnna: good morning\n\n"))
        #expect(vtt.contains("Bert: good evening, &lt;b&gt;Anna&lt;/b&gt; &amp; all"))
        #expect(try objects(try await export("json")).count == 3)
        let short = try await data.run("transcripts", "export", "2", "--json")
        let long = try await export("json")
        #expect(short.code == 0 && short.output == long)
        #expect(try await data.run("transcripts", "export", "2", "--json", "--format", "txt").code == 64)
        let markdown = try await export("md")
        #expect(markdown.hasPrefix("# talk, "))
        #expect(markdown.contains("\n**Bert** (0:00:02): good evening, \\<b\\>Anna\\</b\\> \\& all\n"))
        #expect(markdown.contains("and then- *(cut off)*"))
        let all = try await data.run("transcripts", "export", "-o", data.scratch.file("all.txt"))
        #expect((all.code, all.output) == (0, ""))
        #expect(
            try String(contentsOfFile: data.scratch.file("all.txt"), encoding: .utf8).hasPrefix(
                "an old story\nAnna: good"))
        let several = try await data.run("transcripts", "export", "--format", "srt")
        #expect(
            (several.code, several.errors)
                == (1, "voicegraph: captions are of one session, and there are 2; name one, or last\n"))
        let place = try await data.run("transcripts", "export", "-o", "/no/such/folder/file")
        #expect(
            (place.code, place.errors) == (
                1, "voicegraph: /no/such/folder/file cannot be written: No such file or directory\n"
            ))
    }

    @Test("Captions are cut where they are too long, and each has a length, also of what was typed or said at once")
    func captions() async throws {
        let long =
            "Welcome to the show. " + String(repeating: "Today we talk of this, and that, ", count: 8) + "and more."
        let bus = EventBus()
        let writer = ArchiveWriter(
            bus.subscribe(.lossless, where: ArchiveWriter.wants), session: .init(graph: "typed"), path: data.path
        ) { _, _ in }
        for (index, (text, start, end)) in [
            ("typed", 1.0, 1.0), ("at once", 1, 3), (long, 1.5, 16), ("last", 2, 2),
        ].enumerated() {
            var event = Event(
                "minutes.text", node: "ear", time: start, wallTime: now + start,
                fields: [
                    "item": .integer(Int64(index + 1)), "text": .string(text), "start": .number(start),
                    "end": .number(end),
                ])
            event.keeping = .init(.text(.whole), speaker: "Anna")
            bus.publish(.event(event))
        }
        writer.finish()
        for format in ["srt", "vtt"] {
            let result = try await data.run("transcripts", "export", "last", "--format", format)
            let blocks = result.output.components(separatedBy: "\n\n").filter { $0.contains(" --> ") }
            var last = ""
            var texts: [String] = []
            for block in blocks {
                let lines = block.split(separator: "\n").drop { !$0.contains(" --> ") }
                let times = try #require(lines.first).components(separatedBy: " --> ")
                #expect(times[0] < times[1] && last <= times[0], "\(block)")
                last = times[1]
                #expect(lines.count <= 3 && lines.dropFirst().allSatisfy { $0.count <= 42 }, "\(block)")
                texts.append(lines.dropFirst().joined(separator: " "))
            }
            #expect(texts.filter { ["typed", "at once", "last"].contains($0) }.count == 3)
            #expect(texts.filter { !["typed", "at once", "last"].contains($0) }.joined(separator: " ") == long)
        }
    }

    @Test(
        "No line is wider than the terminal, and texts that a terminal would obey are plain", arguments: [40, 60, 100])
    func width(columns: Int) async throws {
        data.keep(
            "wide",
            [("Anna", String(repeating: "words and more ", count: 20)), ("\u{1B}[31mBert", "a\u{7}b\u{1B}]0;c")])
        for command in ["transcripts list", "transcripts show last", "transcripts search and", "takes list"] {
            let seen = try await data.typed(command, "", width: columns).seen
            for line in seen.split(whereSeparator: \.isNewline) { #expect(line.count <= columns, "\(line)") }
            #expect(!seen.contains("\u{1B}"))
        }
        #expect(try await data.typed("transcripts show last", "", width: columns).seen.contains("  words and"))
    }

    @Test("Where nothing was kept yet, lists are empty, and what needs something says what would be kept")
    func nothing() async throws {
        let empty = try KeptData()
        let list = try await empty.run("transcripts", "list")
        #expect(list.code == 0)
        #expect(list.output == "nothing is kept yet: of a graph that runs, what its nodes with keep = true tell is\n")
        #expect(try await empty.run("takes", "list", "--json").output == "")
        let show = try await empty.run("transcripts", "show")
        #expect((show.code, show.errors) == (1, "voicegraph: " + list.output))
        #expect(try await empty.run("transcripts", "delete", "--older-than", "1d", "--yes").code == 0)
        #expect(!FileManager.default.fileExists(atPath: empty.scratch.file("voicegraph")))
    }

    @Test("An archive that is damaged is set aside, told with its new name, and nothing of it is deleted")
    func damaged() async throws {
        let bytes = Data(repeating: 0x5A, count: 8192)
        try bytes.write(to: URL(filePath: data.path))
        let list = try await data.run("transcripts", "list")
        #expect(list.code == 1)
        let name = try #require(list.errors.firstMatch(of: /it is called (.+\.broken-\S+) now/)?.1)
        #expect(list.errors.contains("it is damaged: "))
        #expect(FileManager.default.contents(atPath: String(name)) == bytes)
        #expect(try await data.run("transcripts", "list").code == 0)
        data.keep("new", [("Anna", "again")])
        #expect(try await data.run("transcripts", "export").output == "again\n")
    }
}

/// `voicegraph takes` as a user types it.
@Suite("The command takes", .timeLimit(.minutes(3))) struct TakesCommandTests {
    private let data: KeptData

    init() throws {
        data = try KeptData()
        for name in ["a", "b", "c"] { try data.scratch.write("\(name).wav", "sound \(name)") }
        data.keep(
            "old", utc: calendarTime() - 40 * 86_400, [],
            takes: [data.scratch.file("a.wav")])
        data.keep("talk", [("Anna", "hello")], takes: ["b", "c"].map { data.scratch.file("\($0).wav") })
    }

    private func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: data.scratch.file(name)) }

    @Test("The list names every take with its length, channels, rate and file, and says which file is gone")
    func list() async throws {
        try FileManager.default.removeItem(atPath: data.scratch.file("b.wav"))
        let list = try await data.run("takes", "list")
        #expect(list.code == 0)
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[1].contains("0:00:02         1  8000  tape     complete  \(data.scratch.file("a.wav"))"))
        #expect(lines[2].contains("missing"))
        let json = try objects(await data.run("takes", "list", "--json").output)
        #expect(json.map { $0["exists"] as? Bool } == [true, false, true])
        #expect(json.map { $0["seconds"] as? Double } == [2, 2, 2])
        #expect(json.map { $0["path"] as? String } == ["a", "b", "c"].map { data.scratch.file("\($0).wav") })
    }

    @Test("Files are copied over nothing")
    func export() async throws {
        let one = try await data.run("takes", "export", "1", "-o", data.scratch.file("copy.wav"))
        #expect((one.code, one.output) == (0, data.scratch.file("copy.wav") + "\n"))
        #expect(try String(contentsOfFile: data.scratch.file("copy.wav"), encoding: .utf8) == "sound a")
        let again = try await data.run("takes", "export", "2", "-o", data.scratch.file("copy.wav"))
        #expect(again.code == 1 && again.errors.hasSuffix("copy.wav cannot be written: File exists\n"))
        try FileManager.default.createDirectory(atPath: data.scratch.file("folder"), withIntermediateDirectories: true)
        #expect(try await data.run("takes", "export", "1", "last", "-o", data.scratch.file("folder")).code == 0)
        #expect(isThere("folder/a.wav") && isThere("folder/c.wav"))
        let several = try await data.run("takes", "export", "1", "2", "-o", data.scratch.file("other.wav"))
        #expect(several.code == 1 && several.errors.contains("is no folder, and there are 2 takes"))
    }

    @Test("Deleting says whether the files go too, asks, and deletes them only when that was asked for")
    func delete() async throws {
        let refused = try await data.run("takes", "delete", "1")
        #expect(
            (refused.code, refused.errors)
                == (1, "voicegraph: Forget 1 take? Their files stay. Nobody can be asked here; --yes answers it\n"))
        let forgotten = try await data.run("takes", "delete", "1", "--yes")
        #expect((forgotten.code, forgotten.output) == (0, "forgot 1 take; their files stay\n"))
        #expect(isThere("a.wav"))
        let asked = try await data.typed("takes delete 2 --files", "y\\n")
        #expect(asked.code == 0 && asked.seen.contains("Delete 1 take and their files? [y/N]"), "\(asked.seen)")
        #expect(!isThere("b.wav") && isThere("c.wav"))
        #expect(try objects(await data.run("takes", "list", "--json").output).map { $0["id"] as? Int } == [3])
        let old = try await data.run("takes", "delete", "--older-than", "30d", "--files", "--yes")
        #expect((old.code, old.output) == (0, "there is nothing to delete\n"))
        // The texts of its session are others' to delete.
        #expect(try objects(await data.run("transcripts", "list", "--json").output).count == 1)
    }

    @Test("Where the archive does not say the folder, another file of that name is not touched")
    func elsewhere() async throws {
        let changed = try await runTool([
            "python3", "-c",
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
                + "db.execute(\"UPDATE take SET path = 'a.wav' WHERE id = 2\"); db.commit()", data.path,
        ])
        #expect(changed.status == 0, "\(changed.output)")
        func run(_ arguments: [String]) async throws -> (code: Int32, errors: String) {
            // From the folder in which there is such a file.
            let program = try Program(
                [Program.voicegraph, "takes"] + arguments, environment: ["XDG_DATA_HOME": data.scratch.path],
                folder: data.scratch.path)
            return (try await program.end(), program.errors)
        }
        for arguments in [["delete", "2", "--files", "--yes"], ["export", "2", "-o", "copy.wav"], ["play", "2"]] {
            let refused = try await run(arguments)
            #expect(refused.code == 1, "\(arguments)")
            #expect(
                refused.errors.contains("take 2: it is not known in which folder 'a.wav' is"), "\(refused.errors)")
        }
        #expect(isThere("a.wav") && !isThere("copy.wav"))
        #expect(try await run(["delete", "2", "--yes"]).code == 0)
    }

    @Test("A file that cannot be deleted keeps its take, and that is told")
    func stuck() async throws {
        try FileManager.default.removeItem(atPath: data.scratch.file("b.wav"))
        try FileManager.default.createDirectory(
            atPath: data.scratch.file("b.wav"), withIntermediateDirectories: true)
        let result = try await data.run("takes", "delete", "2", "3", "--files", "--yes")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "voicegraph: \(data.scratch.file("b.wav")) cannot be deleted: it is no file; the take is kept\n")
        #expect(try objects(await data.run("takes", "list", "--json").output).map { $0["id"] as? Int } == [1, 2])
        #expect(!isThere("c.wav"))
    }

    @Test("A take whose file is gone cannot be played, and that is told before any audio begins")
    func play() async throws {
        try FileManager.default.removeItem(atPath: data.scratch.file("c.wav"))
        let gone = try await data.run("takes", "play")
        #expect(
            (gone.code, gone.errors) == (
                1, "voicegraph: \(data.scratch.file("c.wav")) cannot be read: No such file or directory\n"
            ))
        let none = try await data.run("takes", "play", "17")
        #expect(
            (none.code, none.errors) == (
                1, "voicegraph: there is no take 17; `voicegraph takes list` shows what there is\n"
            ))
    }
}
