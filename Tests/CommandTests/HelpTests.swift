// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What the command says of itself.
@Suite(.timeLimit(.minutes(2))) struct HelpTests {
    @Test(
        "Help names what there is",
        arguments: [
            (
                ["--help"],
                [
                    "run", "render", "record", "transcribe", "picture", "video", "check", "graph", "nodes", "describe",
                    "status",
                    "top",
                    "ctl",
                    "models",
                    "transcripts", "takes", "plugin", "doctor", "--version",
                ]
            ),
            (
                ["run", "--help"],
                [
                    "--driver", "--set", "--server", "--plugin-path", "--json", "--duration", "--until-idle", "--watch",
                    "--fps",
                    "SIGHUP", "Ctrl-C", "Keys on a terminal:", "PgUp",
                ]
            ), (["ctl", "--help"], ["set", "reload", "bypass", "--client", "events", "exit code 1"]),
            (["ctl", "add", "--help"], ["params.gain=-6", "<key=value>"]), (["top", "--help"], ["--json", "Ctrl-C"]),
            (["status", "--help"], ["--client", "--ssh"]),
            (
                ["render", "--help"],
                [
                    "--out", "--duration", "--until-idle", "--rate", "--block", "--input", "--output", "--channels",
                    "--bits", "--dither", "standard output", ".wav",
                    ".flac", ".ogg",
                ]
            ),
            (
                ["transcribe", "--help"],
                ["--engine", "--language", "--format", "--json", "--output", "srt", "vtt", "json", "ends with 1"]
            ),
            (["check", "--help"], ["--json", "--format", "--set", "exit code", "standard input"]),
            (["graph", "--help"], ["--format", "svg", "png", "dot", "mermaid", "--live", "--dark"]),
            (["picture", "--help"], ["--style", "waveform", "spectrogram", "--size", "--json", ".svg", "1200x480"]),
            (["video", "--help"], ["--style", "--captions", ".mp4", ".webm", ".gif", "ffmpeg", "--fps", "1280x720"]),
            (["nodes", "--help"], ["--plugin-path", "--json"]),
            (["describe", "--help"], ["<type>", "<plugin>", "lv2 info"]),
            (["plugin", "new", "--help"], ["--language", "swift", "c"]),
            (["doctor", "--help"], ["<file>", "--json", "--set", "exit code is 1", "changes nothing"]),
            (["models", "--help"], ["list", "install", "remove", "path", "pip"]),
            (["models", "list", "--help"], ["--json", "--verify", "exit code is 1"]),
            (["models", "install", "--help"], ["<names>", "--all", "Ctrl-C"]),
            (["models", "remove", "--help"], ["--force"]),
            (
                ["transcripts", "--help"],
                ["list", "show", "search", "edit", "delete", "export", "keep = true", "archive = false"]
            ),
            (["transcripts", "search", "--help"], ["--speaker", "--limit", "--json", "begin*"]),
            (["transcripts", "delete", "--help"], ["--older-than", "--item", "--yes", "30d"]),
            (["transcripts", "export", "--help"], ["--format", "txt", "srt", "vtt", "json", "md", "--output"]),
            (["takes", "--help"], ["list", "play", "export", "delete"]),
            (["takes", "delete", "--help"], ["--older-than", "--files", "--yes"]),
        ])
    func help(_ arguments: [String], _ words: [String]) async throws {
        let help = try Program([Program.voicegraph] + arguments)
        #expect(try await help.end() == 0)
        for word in words { #expect(help.output.contains(word), "\(word)") }
        #expect(help.lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("USAGE") })
    }

    @Test("The version is told") func version() async throws {
        let version = try voicegraph("--version")
        #expect(try await version.end() == 0)
        #expect(version.output.wholeMatch(of: /voicegraph \d+\.\d+\.\d+\n/) != nil)
    }

    @Test("Completions are made for each shell", arguments: [("bash", ["bash", "-n"]), ("zsh", []), ("fish", [])])
    func completions(shell: String, check: [String]) async throws {
        let scratch = try Scratch()
        let script = try voicegraph("--generate-completion-script", shell)
        #expect(try await script.end() == 0)
        for word in ["render", "until-idle", "plugin-path", "mermaid", "moonshine-base-en"] {
            #expect(script.output.contains(word))
        }
        #expect(script.output.ranges(of: "_voicegraph_help() {").count <= 1 && !script.output.contains("help|help"))
        #expect(script.output.ranges(of: "'help:").count <= 1 && !script.output.contains("Show subcommand help"))
        guard !check.isEmpty else { return }
        let result = try await runTool(check + [scratch.write("script", script.output)])
        #expect(result.status == 0, "\(result.output)")
        // What is typed after `help` is completed to what it has help of.
        let words = """
            source '\(scratch.file("script"))'
            COMP_WORDS=(voicegraph help co); COMP_CWORD=2; COMP_LINE='voicegraph help co'; COMP_POINT=18
            _voicegraph voicegraph co help; echo "${COMPREPLY[@]}"
            """
        let completed = try await runTool(["bash", "-c", words])
        #expect(completed.output == "config\n", "\(completed.output)")
    }

    @Test("`help` tells what --help does, and the file's reference in three forms") func help() async throws {
        func help(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
            let program = try Program([Program.voicegraph] + arguments)
            return (try await program.end(), program.output, program.errors)
        }
        let same = try await help("help", "ctl", "set")
        let shown = try await help("ctl", "set", "--help")
        #expect(same.code == 0 && same.output == shown.output)
        let unknown = try await help("help", "rnu")
        #expect(unknown.code == 64 && unknown.errors.contains("did you mean 'run'?"), "\(unknown.errors)")
        #expect(try await help("help", "foo").code == 64)
        let reference = try await help("help", "config")
        #expect(reference.code == 0 && ["[graph]", "gain_db", "${"].allSatisfy(reference.output.contains))
        #expect(reference.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let page = try await help("help", "config", "--man")
        let scratch = try Scratch()
        let file = try scratch.write("voicegraph.conf.5", page.output)
        for check in [["mandoc", "-Tlint", file], ["groff", "-man", "-ww", "-z", file]] {
            let result = try await runTool(check)
            #expect(result.status == 0 && result.output.isEmpty, "\(check): \(result.output)")
        }
        let schema = try await help("help", "config", "--schema")
        #expect(try JSONSerialization.jsonObject(with: Data(schema.output.utf8)) is [String: Any])
        #expect(try await help("help", "config", "--man", "--schema").code == 64)
        #expect(try await help("help", "run", "--schema").code == 64)
    }

    @Test("Unknown commands and options exit with 64") func unknownWords() async throws {
        for arguments in [["sing"], ["--nonsense"], ["check", "--nonsense"]] {
            #expect(try await Program([Program.voicegraph] + arguments).end() == 64)
        }
    }
}
