// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

func isInstalled(_ program: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + program)
}

/// The pages of the manual, which the command makes of what it says with --help.
@Suite("Manual", .timeLimit(.minutes(3)))
struct ManualTests {
    private struct Command {
        var name: String
        var path: [String]
        var isShown: Bool
        /// Whether the parser has made it, for help.
        var isParsers: Bool
        /// "--driver"
        var options: [String]
        var commands: [Command]

        init(_ json: [String: Any], below parents: [String]) {
            name = json["commandName"] as? String ?? ""
            let path = parents + [name]
            self.path = path
            isShown = json["shouldDisplay"] as? Bool ?? true
            isParsers = json["abstract"] as? String == "Show subcommand help information."
            let arguments = json["arguments"] as? [[String: Any]] ?? []
            options = arguments.filter { $0["shouldDisplay"] as? Bool ?? true }.flatMap { argument in
                (argument["names"] as? [[String: Any]] ?? []).map { name in
                    (name["kind"] as? String == "short" ? "-" : "--") + (name["name"] as? String ?? "")
                }
            }
            commands = (json["subcommands"] as? [[String: Any]] ?? []).map { Command($0, below: path) }
        }

        /// Its options and those of the commands below it.
        var allOptions: [String] { options + commands.filter(\.isShown).flatMap(\.allOptions) }
    }

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func makePages() async throws -> [String: String] {
        let made = try await runTool(
            [Program.voicegraph, "man-pages", scratch.path], environment: ["SOURCE_DATE_EPOCH": "1767225600"])
        try #require(made.status == 0, "\(made.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try String(contentsOfFile: scratch.file($0), encoding: .utf8)) })
    }

    private func program() async throws -> Command {
        let dump = try await runTool([Program.voicegraph, "--experimental-dump-help"])
        let json = try JSONSerialization.jsonObject(with: Data(dump.output.utf8)) as? [String: Any]
        return Command(try #require(json?["command"] as? [String: Any]), below: [])
    }

    @Test("Every command has a page with all of its options and commands, and hidden ones have none")
    func pages() async throws {
        let pages = try await makePages()
        let program = try await program()
        let shown = program.commands.filter { $0.isShown && !$0.isParsers }
        let names = ["voicegraph.1"] + shown.map { "voicegraph-\($0.name).1" }
        #expect(Set(pages.keys) == Set(names))
        let hidden = program.commands.filter { !$0.isShown }.map(\.name)
        #expect(hidden.contains("isolated-child"))
        for (name, page) in pages {
            for word in hidden + ["scan-child"] {
                #expect(!page.contains(word.replacing("-", with: "\\-")), "\(name): \(word)")
            }
        }
        for command in shown {
            let page = try #require(pages["voicegraph-\(command.name).1"])
            for option in command.allOptions {
                #expect(page.contains("\\fB\(option.replacing("-", with: "\\-"))\\fR"), "\(command.name): \(option)")
            }
            for below in command.commands where below.isShown {
                #expect(page.contains(".SS \"\(below.name.replacing("-", with: "\\-"))\"\n"))
            }
            #expect(
                pages["voicegraph.1"]!.contains("\\fBvoicegraph\\-\(command.name.replacing("-", with: "\\-"))\\fR(1)"))
        }
    }

    @Test("Each page has its sections in the usual order, and the examples of its command") func sections() async throws
    {
        let pages = try await makePages()
        let order = [
            "NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "COMMANDS", "KEYS", "EXIT STATUS",
            "ENVIRONMENT", "FILES",
            "EXAMPLES", "SEE ALSO",
        ]
        for (name, page) in pages {
            let found = page.matches(of: /\.SH "(.+)"\n/).map { String($0.1) }
            #expect(found == order.filter(found.contains), "\(name): \(found)")
            for needed in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
                #expect(found.contains(needed), "\(name): \(needed)")
            }
            #expect(page.contains("\" \"1\" \"2026-01-01\" \"voicegraph "), "\(name)")
        }
        let speak = try #require(pages["voicegraph-speak.1"])
        #expect(speak.contains(".EX\nvoicegraph speak \\(dqGood morning.\\(dq \\-o morning.wav"))
        #expect(!speak.contains("For example"))
        #expect(try #require(pages["voicegraph-ctl.1"]).contains("voicegraph ctl set low gain_db \\-12"))
        for (name, key) in [
            ("run", "type a line to the agent"), ("top", "turn the order round"), ("record", "pause, and go on"),
        ] {
            let page = try #require(pages["voicegraph-\(name).1"])
            let keys = try #require(page.firstMatch(of: /(?s)\.SH "KEYS"\n(.*?)\.SH/)).1
            #expect(keys.contains("\\fBq, Ctrl\\-C\\fR") && keys.contains(key), "\(name): \(keys)")
            #expect(page.ranges(of: key).count == 1, "\(name) has its keys once")
        }
        #expect(pages.values.count { $0.contains(".SH \"KEYS\"") } == 3)
        let run = try #require(pages["voicegraph-run.1"])
        for word in ["NOTIFY_SOCKET", "archive.sqlite", "SIGHUP", "voicegraph.conf\\fR(5)"] {
            #expect(run.contains(word))
        }
    }

    @Test("Looked at by mandoc, they have no fault", .enabled(if: isInstalled("mandoc"), "needs mandoc"))
    func mandoc() async throws {
        let pages = try await makePages()
        let checked = try await runTool(["mandoc", "-Tlint"] + pages.keys.sorted().map(scratch.file))
        #expect(checked.status == 0 && checked.output.isEmpty, "\(checked.output)")
    }

    @Test(
        "Looked at by groff, they have no fault, and are shown whole", .enabled(if: isInstalled("groff"), "needs groff")
    )
    func groff() async throws {
        for (name, page) in try await makePages().sorted(by: { $0.key < $1.key }) {
            let checked = try await runTool(["groff", "-man", "-ww", "-z", "-Tutf8", scratch.file(name)])
            #expect(checked.status == 0 && checked.output.isEmpty, "\(name): \(checked.output)")
            let shown = try await runTool(["groff", "-man", "-Tascii", "-P-cbou", scratch.file(name)])
            // Nothing of roff is left, and every option is whole and can be copied.
            #expect(!shown.output.contains("\\f") && !shown.output.contains("\n. "), "\(name)")
            for option in page.matches(of: /^\\fB(\\-\\-[a-z\\-]+)\\fR/.anchorsMatchLineEndings()) {
                #expect(shown.output.contains(option.1.replacing("\\-", with: "-")), "\(name): \(option.1)")
            }
        }
    }

    @Test("The variables that they name are read") func variables() async throws {
        let page = try #require(try await makePages()["voicegraph.1"])
        let section = try #require(page.firstRange(of: ".SH \"ENVIRONMENT\"\n"))
        let end = try #require(page[section.upperBound...].firstRange(of: ".SH"))
        let names = page[section.upperBound..<end.lowerBound].matches(of: /\\fB([A-Z0-9_]+)\\fR/).map { String($0.1) }
        #expect(names.count >= 10)
        let sources = try await runTool([
            "grep", "-rhoE", "--include=*.swift", "--include=*.in", "--exclude-dir=Manual", "[A-Z0-9_]{5,}",
            packageRoot + "/Sources",
        ])
        let read = Set(sources.output.split(separator: "\n").map(String.init))
        #expect(read.isSuperset(of: names), "\(Set(names).subtracting(read))")
    }

    @Test("A folder that is not there and a date that is none are refused") func refused() async throws {
        let missing = try await runTool([Program.voicegraph, "man-pages", scratch.file("none")])
        #expect(
            missing.status == 1 && missing.output.contains("none/voicegraph.1 cannot be written: No such file"),
            "\(missing.output)")
        let date = try await runTool(
            [Program.voicegraph, "man-pages", scratch.path], environment: ["SOURCE_DATE_EPOCH": "today"])
        #expect(date.status == 1 && date.output.contains("it must be a number of seconds"), "\(date.output)")
    }
}
