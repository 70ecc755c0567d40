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
}
