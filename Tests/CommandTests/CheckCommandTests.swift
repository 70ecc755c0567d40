// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The program itself, run as a process.
@Suite struct CheckCommandTests {
    /// Beside the bundle of tests, which is this process or an argument of it.
    private static let program =
        (CommandLine.arguments + [(try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""])
        .first { $0.hasSuffix(".xctest") }.map {
            URL(filePath: $0).deletingLastPathComponent().appending(path: "voicegraph").path
        }

    private func check(_ text: String?, _ arguments: [String] = []) async throws -> ToolResult {
        let file = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID().uuidString).conf")
        defer { try? FileManager.default.removeItem(at: file) }
        try text?.write(to: file, atomically: true, encoding: .utf8)
        var result = try await runTool([try #require(Self.program), "check", file.path] + arguments)
        result.output = result.output.replacingOccurrences(of: file.path, with: "FILE")
        return result
    }

    private let good = """
        [graph]
        links = ["tone -> out"]
        [node.tone]
        type = "tone"
        [node.out]
        type = "output"
        connect = ["system:playback_*"]

        """

    @Test("A sound file exits with 0, and what nobody will hear by itself is said") func soundFile() async throws {
        let alone = try await check(good.replacing("connect = [\"system:playback_*\"]\n", with: ""))
        let words = "without `connect` nobody hears 'out' until connected by hand\n"
        #expect(alone.status == 0 && alone.output.hasSuffix(words))
        let result = try await check(good)
        #expect(result.status == 0)
        #expect(result.output == "FILE: fine: 2 nodes, 1 link\n")
    }

    @Test("What an agent is allowed and what is not there is warned of with its line")
    func allowed() async throws {
        let text =
            good + """
                [node.agent]
                type = "agent"
                allow = [
                    "out.mute",
                    "ton.start",
                ]

                """
        let result = try await check(text)
        #expect(result.status == 0)
        let lines = [
            "FILE:11:5: warning: 'out.mute' is allowed to 'agent', but 'out' of type 'output' has no action 'mute'",
            "FILE:12:5: warning: 'ton.start' is allowed to 'agent', but there is no node 'ton'",
        ]
        for line in lines { #expect(result.output.contains(line), "\(result.output)") }
        #expect(result.output.contains("did you mean 'tone'?"))
    }

    @Test("An error exits with 1 and is shown with its line") func anError() async throws {
        let result = try await check(good.replacingOccurrences(of: "tone ->", with: "toen ->"))
        #expect(result.status == 1)
        #expect(
            result.output == """
                FILE:2:11: error: unknown node 'toen'
                    2 | links = ["toen -> out"]
                      |           ^~~~
                      hint: did you mean 'tone'?
                1 error

                """)
    }

    @Test("Warnings alone exit with 0") func warningsAlone() async throws {
        let result = try await check(good + "[node.spare]\ntype = \"gain\"\n", ["--format", "json"])
        #expect(result.status == 0)
        #expect(
            result.output == "{\"file\":\"FILE\",\"line\":8,\"column\":7,\"length\":5,\"severity\":\"warning\","
                + "\"message\":\"node 'spare' is not linked to anything\",\"hint\":\"link it, or take it out of the file\","
                + "\"text\":\"[node.spare]\"}\n"
        )
    }

    @Test("Of several files each is checked, standard input too, and each has a line that says what was found")
    func severalFiles() async throws {
        let scratch = try Scratch()
        let fine = try scratch.write("fine.conf", good)
        let bad = try scratch.write("bad.conf", good.replacingOccurrences(of: "tone ->", with: "toen ->"))
        let spare = try scratch.write("spare.conf", good + "[node.spare]\ntype = \"gain\"\n")
        let program = try #require(Self.program)
        func run(_ words: String, _ input: String) async throws -> ToolResult {
            var result = try await runTool(["bash", "-c", "'\(program)' check \(words) < '\(input)'"])
            result.output = result.output.replacingOccurrences(of: scratch.path + "/", with: "")
            return result
        }
        let result = try await run("\(fine) \(spare) - \(fine)", bad)
        #expect(result.status == 1)
        #expect(
            result.output == """
                fine.conf: fine: 2 nodes, 1 link
                spare.conf:8:7: warning: node 'spare' is not linked to anything
                    8 | [node.spare]
                      |       ^~~~~
                      hint: link it, or take it out of the file
                spare.conf: 1 warning
                <stdin>:2:11: error: unknown node 'toen'
                    2 | links = ["toen -> out"]
                      |           ^~~~
                      hint: did you mean 'tone'?
                <stdin>: 1 error
                fine.conf: fine: 2 nodes, 1 link

                """)
        #expect(try await run("\(fine) \(spare) -", fine).status == 0)
        let alone = try await run("-", fine)
        #expect(alone.status == 0 && alone.output == "<stdin>: fine: 2 nodes, 1 link\n")
        let json = try await run("--json \(fine) \(bad) -", spare)
        let lines = json.output.split(separator: "\n")
        #expect(json.status == 1 && lines.count == 2)
        #expect(lines.first?.hasPrefix("{\"file\":\"bad.conf\",") == true)
        #expect(lines.last?.hasPrefix("{\"file\":\"<stdin>\",") == true)
        let (long, short) = (try await run("--format json \(bad)", fine), try await run("--json \(bad)", fine))
        #expect(long.output == short.output)
        let missing = try await run("\(scratch.file("no.conf")) \(fine)", fine)
        #expect(missing.status == 1 && missing.output.hasSuffix("no.conf: 1 error\nfine.conf: fine: 2 nodes, 1 link\n"))
    }

    @Test("Overrides are checked") func overrides() async throws {
        let result = try await check(good, ["--set", "node.tone.level_db=7"])
        #expect(result.status == 1)
        #expect(
            result.output.hasPrefix("--set node.tone.level_db=7: error: parameter 'level_db' is 7, outside its range\n")
        )
    }

    @Test("Of a link with a hundred thousand unknown names a hundred are shown, and the rest is counted")
    func manyErrors() async throws {
        let names = (0..<100_000).map { "wrong\($0)" }.joined(separator: " -> ")
        let text = try await check(good.replacingOccurrences(of: "tone -> out", with: names))
        #expect(text.status == 1)
        #expect(text.output.ranges(of: "error: unknown node 'wrong").count == 100)
        #expect(text.output.contains("error: and 99900 more that are not shown\n"))
        #expect(text.output.hasSuffix("\n100000 errors\n"))
        let json = try await check(good.replacingOccurrences(of: "tone -> out", with: names), ["--format", "json"])
        let lines = json.output.split(separator: "\n")
        #expect(json.status == 1 && lines.count == 101)
        let more = "\"severity\":\"error\",\"message\":\"and 99900 more that are not shown\""
        #expect(try #require(lines.last).contains(more))
    }

    @Test("A missing file is an error of the graph") func missingFile() async throws {
        let result = try await check(nil)
        #expect(result.status == 1)
        #expect(result.output == "FILE: error: cannot read 'FILE': no such file or directory\n1 error\n")
    }

    @Test(
        "Wrong usage exits with 64",
        arguments: [
            [], ["-", "-"], ["a.conf", "--format", "yaml"], ["a.conf", "--nonsense"],
            ["a.conf", "--json", "--format", "text"],
        ])
    func wrongUsage(_ arguments: [String]) async throws {
        let result = try await runTool([try #require(Self.program), "check"] + arguments)
        #expect(result.status == 64)
        #expect(result.output.contains("Usage: voicegraph check"))
    }
}
