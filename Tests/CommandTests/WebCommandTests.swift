// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A run that is shown to browsers, from outside.
@Suite("Web", .serialized, .timeLimit(.minutes(3))) struct WebCommandTests {
    private func start(_ scratch: Scratch, _ options: [String], graph: String = endless) throws -> Program {
        try Program(
            [Program.voicegraph, "run", try scratch.write("web.conf", graph), "--driver", "dummy", "--json"] + options,
            environment: environment(scratch))
    }

    private func environment(_ scratch: Scratch) -> [String: String] {
        ["XDG_RUNTIME_DIR": scratch.path, "XDG_DATA_HOME": scratch.path]
    }

    private func link(_ run: Program) async throws -> String {
        try await run.wait("it tells where it is") { $0.lines.contains { $0.contains("\"event\":\"web\"") } }
        let event = try #require(try run.events().first { $0["event"] as? String == "web" })
        return try #require(event["link"] as? String)
    }

    @Test("The link is told by the run, and by the command") func told() async throws {
        let scratch = try Scratch()
        let run = try start(scratch, ["--web", "0"])
        let link = try await link(run)
        #expect(link.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}/) != nil, "\(link)")
        let told = try await runTool(
            [Program.voicegraph, "web", "--no-open"], environment: environment(scratch))
        #expect(told.status == 0 && told.output == link + "\n", "\(told.output)")
        // Who is told what happens, is not told the token.
        let json = try await runTool([Program.voicegraph, "web", "--json"], environment: environment(scratch))
        #expect(json.output.contains("\"link\":\"\(link)\""))
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("That other machines reach it is said") func remote() async throws {
        let scratch = try Scratch()
        let run = try Program(
            [
                Program.voicegraph, "run", try scratch.write("web.conf", endless), "--driver", "dummy", "--web",
                "0.0.0.0:0",
                "--web-remote", "--plain",
            ], environment: environment(scratch))
        try await run.wait("it is said") {
            $0.output.contains("those of other machines too, and nothing is encrypted: http://")
        }
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("A run without a page says how to get one") func without() async throws {
        let scratch = try Scratch()
        let run = try start(scratch, [])
        try await run.plays()
        let told = try await runTool([Program.voicegraph, "web"], environment: environment(scratch))
        #expect(told.status == 1 && told.output.contains("start it with --web"), "\(told.output)")
        run.signal(SIGINT)
        #expect(try await run.end() == 0)
    }

    @Test("The file alone is enough, and the command line goes before it") func table() async throws {
        let scratch = try Scratch()
        let run = try start(scratch, ["--set", "web.read_only=true"], graph: endless + "[web]\nlisten = 0\n")
        _ = try await link(run)
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("An address that is taken, or no address, ends the run before anything sounds") func taken() async throws {
        let scratch = try Scratch()
        let run = try start(scratch, ["--web", "0"])
        let port = try #require(try await link(run).firstMatch(of: /:(\d+)\//)?.1)
        for (address, message) in [
            (String(port), "cannot listen at \(port): Address already in use"),
            ("nowhere:x", "is no address to listen at"),
            ("0.0.0.0:0", "can be reached from other machines"), ("192.0.2.1:0", "no network card"),
        ] {
            let isElsewhere = message.hasPrefix("no network")
            let other = try start(scratch, ["--web", address] + (isElsewhere ? ["--web-remote"] : []))
            #expect(try await other.end() == 1)
            #expect(other.errors.contains(message), "\(address): \(other.errors)")
            #expect(!other.output.contains("running"))
        }
        run.signal(SIGINT)
        #expect(try await run.end() == 0)
    }

    /// Status and text of a call.
    private func post(_ link: String, _ call: String, _ body: String) async throws -> (status: String, text: String) {
        let parts = link.split(separator: "?token=")
        let tool = try await runTool([
            "curl", "-sS", "-m", "60", "-w", "\n%{http_code}", "-H", "Authorization: Bearer \(parts[1])", "-H",
            "Content-Type: application/json", "-d", body, "\(parts[0])api/\(call)",
        ])
        let lines = tool.output.split(separator: "\n")
        return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    @Test("With the owner's link nothing is named that the graph's file does not name, unless it says trust")
    func reach() async throws {
        let scratch = try Scratch()
        let mark = scratch.file("mark")
        func nodes(_ number: Int) -> [String] {
            [
                "\"type\":\"tts\",\"engine\":\"command\",\"command\":\"touch \(mark); cat\"",
                "\"type\":\"tts\",\"engine\":\"command\",\"command\":[\"touch\",\"\(mark)\"]",
                "\"type\":\"agent\",\"backend\":\"command\",\"command\":\"touch \(mark)\"",
                "\"type\":\"transcribe\",\"engine\":\"command\",\"command\":\"touch \(mark)\"",
                "\"type\":\"agent\",\"backend\":\"openai\",\"model\":\"m\",\"url\":\"http://127.0.0.1:1/v1\"",
                "\"type\":\"agent\",\"backend\":\"openai\",\"model\":\"m\",\"key_env\":\"HOME\"",
                "\"type\":\"agent\",\"backend\":\"openai\",\"model\":\"m\",\"key_file\":\"/etc/passwd\"",
                "\"type\":\"agent\",\"rules\":\"/etc/passwd\"", "\"type\":\"file\",\"path\":\"/etc/passwd\"",
                "\"type\":\"record\",\"path\":\"\(scratch.path)-elsewhere.wav\"",
                "\"type\":\"record\",\"path\":\"../elsewhere.wav\"",
                "\"type\":\"record\",\"path\":\"a.wav\",\"descriptor\":1",
                "\"type\":\"wake\",\"phrases\":\"a\",\"model\":\"/etc\"", "\"type\":\"tts\",\"voice\":\"../../x\"",
                "\"type\":\"lv2\",\"plugin\":\"urn:x\",\"params\":{\"ir\":\"/etc/passwd\"}",
                "\"type\":\"lv2\",\"plugin\":\"urn:x\",\"state\":\"/etc\"",
            ].enumerated().map { "{\"node\":{\"name\":\"n\(number)_\($0.offset)\",\($0.element)}}" }
        }
        let run = try start(scratch, ["--web", "0"])
        let link = try await link(run)
        for node in nodes(1) {
            let answer = try await post(link, "add", node)
            #expect(answer.status == "400" && answer.text.contains("trust = true"), "\(node): \(answer)")
        }
        mkdir(scratch.file("in"), 0o700)
        let inside = try await post(
            link, "add", "{\"node\":{\"name\":\"r\",\"type\":\"record\",\"path\":\"in/a.wav\",\"autostart\":false}}")
        #expect(inside.status == "200", "\(inside)")
        let started = try await post(
            link, "do", "{\"node\":\"r\",\"action\":\"start\",\"arguments\":{\"path\":\"\(mark).wav/../../x.wav\"}}")
        #expect(started.status == "400" && started.text.contains("trust = true"), "\(started)")
        // Who is at the machine may do all of it.
        let local = try await runTool(
            [Program.voicegraph, "ctl", "add", "local", "tts", "engine=command", "command=cat"],
            environment: environment(scratch))
        #expect(local.status == 0, "\(local.output)")
        #expect(access(mark, F_OK) != 0)
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")

        let trusting = try start(scratch, [], graph: endless + "[web]\nlisten = 0\ntrust = true\ntokens = \"tokens\"\n")
        let kept = try await self.link(trusting)
        let added = try await post(kept, "add", nodes(2)[0])
        #expect(added.status == "200", "\(added)")
        trusting.signal(SIGINT)
        #expect(try await trusting.end() == 0, "\(trusting.errors)")
        // With a file for tokens the link of the next run is the same, but for its port.
        let next = try start(scratch, [], graph: endless + "[web]\nlisten = 0\ntokens = \"tokens\"\n")
        #expect(try await self.link(next).split(separator: "=").last == kept.split(separator: "=").last)
        for right in ["visitor", "operator"] {
            let told = try await runTool(
                [Program.voicegraph, "web", "--no-open", "--right", right], environment: environment(scratch))
            #expect(
                try told.output.contains(
                    String(contentsOfFile: scratch.file("tokens"), encoding: .utf8)
                        .firstMatch(of: Regex("\(right) ([0-9a-f]{32})"))?.output[1].substring ?? "?"), "\(told.output)"
            )
        }
        next.signal(SIGINT)
        #expect(try await next.end() == 0, "\(next.errors)")
    }

    @Test("What opens the browser is not started with the link, which everybody on the machine would see")
    func opened() async throws {
        let scratch = try Scratch()
        let run = try start(scratch, ["--web", "0"])
        let link = try await link(run)
        let opener = try scratch.write("xdg-open", "#!/bin/sh\necho \"$@\" > \(scratch.path)/arguments\n")
        chmod(opener, 0o755)
        let told = try await runTool(
            [Program.voicegraph, "web"],
            environment: environment(scratch).merging(
                ["DISPLAY": ":9", "PATH": scratch.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")]
            ) { $1 })
        #expect(told.status == 0 && told.output == link + "\n", "\(told.output)")
        let page = try String(contentsOfFile: scratch.file("arguments"), encoding: .utf8).trimmingCharacters(
            in: .newlines)
        #expect(page.hasPrefix(scratch.path) && !page.contains("token"), "\(page)")
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains(link))
        var about = stat()
        #expect(stat(page, &about) == 0 && about.st_mode & 0o777 == 0o600)
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")
    }
}
