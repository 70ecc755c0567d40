// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Clients that do harm, or nothing at all; and who may be one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientTests {
    @Test("A thousand clients that stall keep nobody else out") func stalledClients() async throws {
        let run = try await Playing()
        let before = try run.nodes()
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(run.program.processID)/task").count
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(4096, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var stalled: [SocketClient] = []
        for _ in 0..<1000 {
            let client = try run.client()
            client.send("{\"call\":\"stat".utf8)
            stalled.append(client)
        }
        let blocks = try #require(try run.status()["blocks"] as? Int)
        let control = try run.status("control")
        let clients = try #require(control["clients"] as? Int)
        #expect(clients <= 64)
        #expect(try #require(control["dropped_clients"] as? Int) >= 1000 - 64)
        #expect(try run.nodes() == before)
        // The first one was told.
        let error = try stalled[0].line()?["error"] as? [String: Any]
        #expect((error?["message"] as? String)?.hasPrefix("too many clients") == true)
        #expect(try stalled[0].line() == nil)
        // Those that are left are served as ever.
        let last = try #require(stalled.last)
        #expect(try last.call("us\"}")["ok"] as? Bool == true)
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(run.program.processID)/task").count
        #expect(after < threads + 8)
        try await eventually("the audio goes on") { try #require(try run.status()["blocks"] as? Int) > blocks }
        try await run.end()
    }

    @Test("One process leaves room for others, and clients that have left keep nobody out") func waitingClients()
        async throws
    {
        let graph = """
            [graph]
            name = "wired"
            links = ["mic -> out"]
            [node.mic]
            type = "input"
            [node.out]
            type = "output"

            """
        let run = try await Playing(graph)
        var waiting: [SocketClient] = []
        for _ in 0..<80 {
            let client = try run.client()
            client.send("{\"call\":\"judge\",\"seconds\":60}\n".utf8)
            waiting.append(client)
        }
        let error = try waiting[79].line()?["error"] as? [String: Any]
        #expect(error?["message"] as? String == "too many clients")
        let other = try Program(
            [Program.voicegraph, "ctl", "get", "out"], environment: ["XDG_RUNTIME_DIR": run.scratch.path])
        #expect(try await other.end() == 0, "\(other.errors)")
        waiting = []
        try await eventually("they have left", seconds: 20) {
            try run.client().line(after: "{\"call\":\"nodes\"}")?["ok"] as? Bool == true
        }
        try await run.end()
    }

    @Test("Whoever does not read answers is dropped") func deafClient() async throws {
        let run = try await Playing()
        let deaf = try run.client()
        // Far more answers than the socket holds.
        deaf.send((0..<20_000).flatMap { _ in Array("{\"call\":\"nodes\"}\n".utf8) })
        try await eventually("it is dropped", seconds: 60) { try run.status("control")["dropped_clients"] as? Int == 1 }
        // Those that asked before may not have been seen to leave.
        try await eventually("only who asks is left") { try run.status("control")["clients"] as? Int == 1 }
        try await run.end()
    }

    @Test("Events that are not read are lost, counted and told") func lostEvents() async throws {
        // Sixty meters: more than any buffer holds for long.
        var graph = "[graph]\nname = \"wired\"\nlinks = ["
        graph += (0..<60).map { "\"tone -> m\($0)\"" }.joined(separator: ", ") + "]\n[node.tone]\ntype = \"tone\"\n"
        graph += (0..<60).map { "[node.m\($0)]\ntype = \"meter\"\n" }.joined()
        let run = try await Playing(graph)
        let sleeper = try run.client()
        #expect(try sleeper.call("{\"id\":5,\"call\":\"events\"}")["id"] as? Int == 5)
        try await eventually("events are lost", seconds: 60) {
            try #require(try run.status("control")["events_lost"] as? Int) > 0
        }
        // It wakes up, reads, and is told.
        var lost = 0
        for _ in 0..<100_000 where lost == 0 {
            let line = try #require(try sleeper.line())
            if line["event"] as? String == "events.lost" { lost = try #require(line["count"] as? Int) }
        }
        #expect(lost > 0)
        let first = try #require(try run.status()["blocks"] as? Int)
        try await eventually("the audio goes on") { try #require(try run.status()["blocks"] as? Int) > first }
        try await run.end()
    }

    @Test("Events are those of the run, and can be chosen") func chosenEvents() async throws {
        let run = try await Playing()
        let all = try run.client()
        _ = try all.call("{\"call\":\"events\"}")
        let some = try run.client()
        _ = try some.call("{\"call\":\"events\",\"only\":[\"graph.changed\"]}")
        var seen: Set<String> = []
        while !seen.isSuperset(of: ["series", "status"]) {
            seen.insert(try #require(try all.line()?["event"] as? String))
        }
        _ = try run.client().call("{\"call\":\"mute\",\"node\":\"gain\"}")
        let change = try #require(try some.line())
        #expect(change["event"] as? String == "graph.changed")
        #expect(change["switched"] as? [String: String] == ["gain": "muted"])
        run.program.signal(SIGTERM)
        #expect(try some.line() == nil)
        let code = try await run.program.end()
        #expect(code == 0)
    }

    @Test("The socket is for the user alone, and so is its folder") func permissions() async throws {
        let run = try await Playing()
        func mode(_ path: String) -> mode_t {
            var entry = stat()
            return lstat(path, &entry) == 0 ? entry.st_mode & 0o7777 : 0
        }
        #expect(mode(run.socket) == 0o600)
        #expect(mode(run.scratch.file("voicegraph")) == 0o700)
        try await run.end()
        #expect(mode(run.socket) == 0)
    }

    @Test("A folder that others could reach is not used", arguments: ["link", "open", "file"])
    func openFolder(_ how: String) async throws {
        let scratch = try Scratch()
        let folder = scratch.file("voicegraph")
        switch how {
        case "link":
            mkdir(scratch.file("elsewhere"), 0o700)
            symlink(scratch.file("elsewhere"), folder)
        case "open":
            mkdir(folder, 0o700)
            chmod(folder, 0o755)
        default: try scratch.write("voicegraph", "")
        }
        let run = try await Playing(toneGraph, in: scratch)
        #expect(run.program.errors.contains("this run cannot be controlled: \(folder) is "), "\(run.program.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("elsewhere/wired.sock")))
        let ctl = try Program(
            [Program.voicegraph, "ctl", "status"], environment: ["XDG_RUNTIME_DIR": scratch.path])
        let code = try await ctl.end()
        #expect(code == 1 && ctl.errors.contains("\(folder) is "), "\(ctl.errors)")
        try await run.end()
    }

    @Test("Sockets of the dead are removed, and those of the living are not") func deadSockets() async throws {
        let scratch = try Scratch()
        let killed = try await Playing(toneGraph, in: scratch)
        killed.program.signal(SIGKILL)
        _ = try await killed.program.end()
        #expect(FileManager.default.fileExists(atPath: killed.socket))
        let first = try await Playing(toneGraph, in: scratch)
        #expect(try first.status()["pid"] as? Int == Int(first.program.processID))
        // A second one of the same name is found under another.
        let second = try await Playing(toneGraph, in: scratch)
        let other = try SocketClient(scratch.file("voicegraph/wired-2.sock"))
        let status = try #require(try other.call("{\"call\":\"status\"}")["status"] as? [String: Any])
        #expect(status["pid"] as? Int == Int(second.program.processID))
        #expect(try first.status()["pid"] as? Int == Int(first.program.processID))
        try await second.end()
        try await first.end()
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.file("voicegraph"))
        #expect(left == [".lock"])
    }
}
