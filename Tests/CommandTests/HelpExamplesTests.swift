// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The command lines that help shows as examples.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HelpExamplesTests {
    /// A command as the program describes itself.
    private struct Command: Decodable {
        var commandName: String
        var discussion: String?
        var shouldDisplay: Bool?
        var superCommands: [String]?
        var subcommands: [Command]?

        /// This command and those below it, but for hidden ones and `help`.
        var all: [Command] {
            guard shouldDisplay != false, commandName != "help" else { return [] }
            return [self] + (subcommands ?? []).flatMap(\.all)
        }
        var words: [String] { (superCommands ?? []) + [commandName] }
        /// The lines behind "Examples:".
        var examples: [String] {
            let lines = (discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            guard let start = lines.firstIndex(of: "Examples:") else { return [] }
            return lines[(start + 1)...].prefix { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
        }
    }

    private struct Description: Decodable { var command: Command }

    private func commands() async throws -> [Command] {
        let described = try voicegraph("--experimental-dump-help")
        #expect(try await described.end() == 0)
        return try JSONDecoder().decode(Description.self, from: Data(described.output.utf8)).command.all
    }

    @Test("Every command and every call has one to three examples of itself, each a line that fits") func examples()
        async throws
    {
        let commands = try await commands().filter { !($0.superCommands ?? []).isEmpty }
        #expect(commands.count > 55)
        for command in commands {
            let name = command.words.joined(separator: " ")
            #expect((1...3).contains(command.examples.count), "\(name): \(command.examples)")
            for example in command.examples {
                #expect(example.contains(name), "\(name): \(example)")
                #expect(example.count <= 76, "\(example)")
            }
        }
    }

    /// Runs an example where there is nothing: no graph, no host, no archive and no pip. What is wrong usage ends with 64, and
    /// anything else, after a while by a signal, is not.
    private static func isWrong(_ line: String) async throws -> Bool {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch.file("bin"), withIntermediateDirectories: true)
        // The program's own code, whatever becomes of the rest of the line.
        let wrapper = """
            #!/bin/bash
            # Whatever shell waits for it, it ends.
            /usr/bin/timeout --foreground -k 2 \(Int(min(30, 5 * crowd()))) '\(Program.voicegraph)' "$@"
            CODE=$?
            [ $CODE = 64 ] && echo "WRONG USAGE" >&2
            exit $CODE
            """
        for (name, other) in [("cat", "/bin/cat"), ("aplay", "/bin/cat"), ("date", "/bin/date")] {
            let link = scratch.file("bin/" + name)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
        }
        let path = try scratch.write("bin/voicegraph", wrapper)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let environment = [
            "PATH": scratch.file("bin"), "HOME": scratch.path, "XDG_RUNTIME_DIR": scratch.path,
            "XDG_DATA_HOME": scratch.file("data"), "XDG_CACHE_HOME": scratch.file("cache"),
            "LV2_PATH": scratch.file("lv2"),
            "JACK_DEFAULT_SERVER": "vgt-none", "DISPLAY": "", "WAYLAND_DISPLAY": "",
        ]
        let program = try Program(
            ["/bin/bash", "-c", line + " < /dev/null"], environment: environment, folder: scratch.path)
        try await program.wait("it ends") { !$0.isRunning }
        return program.errors.contains("WRONG USAGE")
    }

    @Test("Every example is one that its command takes") func parsed() async throws {
        #expect(try await Self.isWrong("voicegraph ctl mtue mic"), "wrong usage is noticed")
        let examples = try await commands().flatMap(\.examples)
        try await together(4, examples) { example in
            let isWrong = try await Self.isWrong(example)
            #expect(!isWrong, "\(example)")
        }
    }

    @Test(
        "A mistyped command is told, with what may have been meant",
        arguments: [
            (["rn", "x.conf"], "voicegraph has no command 'rn'; did you mean 'run'?"),
            (["ctl", "--client", "x", "sett", "a"], "voicegraph ctl has no command 'sett'; did you mean 'set'?"),
            (["ctl", "--json", "mtue", "a"], "voicegraph ctl has no command 'mtue'; did you mean 'mute'?"),
            (["lv2", "lst"], "voicegraph lv2 has no command 'lst'; did you mean 'list'?"),
            (["models", "instal", "x"], "voicegraph models has no command 'instal'; did you mean 'install'?"),
            (["plugin", "nw"], "voicegraph plugin has no command 'nw'; did you mean 'new'?"),
            (["transcripts", "serach"], "voicegraph transcripts has no command 'serach'; did you mean 'search'?"),
            (["takes", "paly"], "voicegraph takes has no command 'paly'; did you mean 'play'?"),
            (["mute", "mic"], "voicegraph has no command 'mute'; did you mean 'voicegraph ctl mute'?"),
            (["lv2", "scan-chld"], "voicegraph lv2 has no command 'scan-chld'"),
            (["sing"], "voicegraph has no command 'sing'"),
        ])
    func mistyped(words: [String], message: String) async throws {
        let run = try Program([Program.voicegraph] + words)
        #expect(try await run.end() == 64 && run.output == "")
        #expect(run.errors.hasPrefix("Error: \(message)\nUsage: voicegraph"), "\(run.errors)")
    }

    @Test("A graph file in place of a command is told to be one that may be run") func graphInPlaceOfCommand()
        async throws
    {
        let scratch = try Scratch()
        let graph = try scratch.write("graph.conf", endless)
        let run = try voicegraph(graph)
        #expect(try await run.end() == 64)
        #expect(run.errors.contains("did you mean 'voicegraph run \(graph)'?"), "\(run.errors)")
        // What a command takes is none of its names.
        let other = try voicegraph("check", graph, "--nonsense")
        #expect(try await other.end() == 64 && other.errors.contains("Unknown option '--nonsense'"))
    }
}
