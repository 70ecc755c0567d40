// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// An archive is a file that other programs may write.
@Suite(.timeLimit(.minutes(5))) struct ForeignArchiveTests {
    /// As SQLite writes them.
    private static let values = [
        "9e999", "-9e999", "9e300", "-9e300", "9e17", "-1", "'soon'", "x'00ff'", "9223372036854775807",
        "-9223372036854775808",
    ]
    private static let numbers = [
        "session": ["start", "end"], "item": ["start", "end", "utc", "told", "number"],
        "take": ["frames", "rate", "channels", "seconds", "start", "end", "utc", "told"],
    ]
    private static let commands = [
        ["transcripts", "list"], ["transcripts", "list", "--json"], ["transcripts", "show", "last"],
        ["transcripts", "show", "last", "--json"], ["transcripts", "search", "hello"],
        ["transcripts", "search", "hello", "--json"], ["transcripts", "export", "last", "--format", "srt"],
        ["transcripts", "export", "last", "--format", "json"], ["transcripts", "export", "last", "--format", "md"],
        ["takes", "list"], ["takes", "list", "--json"],
    ]

    @Test("Whatever stands where an archive has a number, it is read", arguments: ["session", "item", "take"])
    func read(_ table: String) async throws {
        let data = try KeptData()
        data.keep("talk", [("mic", "hello there"), ("mic", "hello again")], takes: ["/sound/take.wav"])
        let clean = try Data(contentsOf: URL(fileURLWithPath: data.path))
        let columns = Self.numbers[table] ?? []
        // Each value in all of them, and the one that fits nothing in each.
        let changes =
            Self.values.map { value in columns.map { "\"\($0)\" = \(value)" }.joined(separator: ", ") }
            + columns.map { "\"\($0)\" = 9e999" }
        for change in changes {
            try clean.write(to: URL(fileURLWithPath: data.path))
            let statement = "UPDATE \(table) SET \(change)"
            let changed = try await runTool([
                "python3", "-c",
                "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()",
                data.path, statement,
            ])
            #expect(changed.status == 0, "\(statement): \(changed.output)")
            try await together(4, Self.commands) { command in
                let program = try Program(
                    [Program.voicegraph] + command, environment: ["XDG_DATA_HOME": data.scratch.path])
                let code = try await program.end()
                #expect(code == 0, "\(statement): \(command): \(code) \(program.errors)")
            }
        }
    }
}
