// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// What becomes of a command whose standard output cannot be written.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LostOutputTests {
    private let scratch: Scratch
    private let graph: String
    private let full = "voicegraph: standard output cannot be written: No space left on device\n"

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write("graph.conf", endless)
    }

    /// Runs the program by the shell, with `output` behind it; returns what it leaves on standard error.
    private func run(_ arguments: [String], _ output: String) async throws -> (code: Int32, errors: String) {
        let words = ([Program.voicegraph] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let result = try Program(
            ["bash", "-c", "set -o pipefail; " + words + " " + output], environment: ["XDG_RUNTIME_DIR": scratch.path])
        return (try await result.end(), result.errors)
    }

    @Test(
        "A command that cannot write what it was asked for fails and says why",
        arguments: [
            ["check", "GRAPH"], ["check", "--json", "GRAPH"], ["graph", "GRAPH"], ["describe", "gain"],
            ["describe", "gain", "--json"], ["nodes"], ["nodes", "--json"], ["lv2", "probe", "--help"], ["--version"],
            ["plugin", "new", "fresh", "--path", "FOLDER"], ["--generate-completion-script", "bash"],
        ])
    func fullDisk(_ arguments: [String]) async throws {
        let bad = try scratch.write("bad.conf", endless + "[node.spare]\ntype = \"gain\"\n")
        let given = arguments.map { $0 == "GRAPH" ? bad : $0 == "FOLDER" ? scratch.file("fresh") : $0 }
        let (code, errors) = try await run(given, "> /dev/full")
        #expect(code == 1)
        #expect(errors.hasSuffix(full), "\(errors)")
    }

    @Test("A run whose events cannot be written plays on, and fails in the end") func fullDiskInRun() async throws {
        for more in [["--json"], []] {
            let take = scratch.file("take\(more.count).wav")
            let recorded = try scratch.write(
                "recorded.conf",
                endless.replacingOccurrences(of: "-> out\"", with: "-> out\", \"tone -> take\"")
                    + "[node.take]\ntype = \"record\"\npath = \"\(take)\"\n")
            let (code, errors) = try await run(
                ["run", recorded, "--driver", "dummy", "--duration", "3"] + more, "> /dev/full")
            #expect(code == 1)
            #expect(errors == full)
            // A machine that is busy with others may begin late.
            #expect(try SoundFile(take).samples[0].count > 24_000)
        }
    }

    @Test("An answer of a host that cannot be written makes the call fail") func fullDiskInCalls() async throws {
        let host = try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy"], environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await host.wait("it plays") { !$0.lines.isEmpty }
        for arguments in [
            ["ctl", "nodes"], ["ctl", "get", "gain", "--json"], ["status"], ["ctl", "list"], ["ctl", "events"],
            ["top", "--json"],
        ] {
            let (code, errors) = try await run(arguments, "> /dev/full")
            #expect(code == 1, "\(arguments)")
            #expect(errors == full, "\(arguments)")
        }
        host.signal(SIGTERM)
        #expect(try await host.end() == 0)
    }

    @Test("A reader that goes away ends a command without a word, a run too") func closedPipe() async throws {
        for arguments in [["nodes"], ["--help"], ["run", graph, "--driver", "dummy", "--json"]] {
            let (code, errors) = try await run(arguments, "| head -1")
            #expect(code == 0 && errors == "", "\(arguments): \(errors)")
        }
    }
}
