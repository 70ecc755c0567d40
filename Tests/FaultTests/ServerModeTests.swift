// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// What a server may be told while a run plays through it, and what it does not do.
@Suite("Modes of the server", .serialized, .timeLimit(.minutes(5)))
struct ServerModeTests {
    private let recorded = """
        [graph]
        name = "faulted"
        links = ["tone -> take", "tone -> out"]
        [node.tone]
        type = "tone"
        frequency = 1000
        level_db = -6
        [node.take]
        type = "record"
        path = "take.wav"
        [node.out]
        type = "output"
        """

    /// The largest step of a tone of 1 kHz at -6 dBFS and 48 kHz.
    private let steepest: Float = 0.5012 * 2 * .pi / 48 * 1.01

    @Test("Another block, of the server that runs and of one that follows it, leaves no jump in what plays")
    func block() async throws {
        let server = try await Jackd.start(block: 256)
        let session = try Session(recorded, server: server.name)
        try await session.plays()
        func goesOn(_ block: Int) async throws {
            let now = try await session.until("blocks of \(block)") { $0.block == block && $0.state == "running" }
            try await session.until("it goes on") { $0.blocks > now.blocks + 10 }
        }
        for block in [512, 128, 1024, 256] {
            try await server.tool("jack_bufsize", "\(block)")
            try await goesOn(block)
        }
        server.crash()
        try server.restart(block: 2048)
        try await goesOn(2048)
        try await session.end()
        let take = try SoundFile(session.scratch.file("take.wav")).samples[0]
        let steps = zip(take, take.dropFirst()).map { abs($0 - $1) }
        #expect(take.count > 10_000 && (steps.max() ?? 1) <= steepest)
        server.stop()
    }

    @Test("In freewheel files are waited for, and recordings lose nothing")
    func freewheel() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        // At another rate, so that it has to be worked for.
        let noise = Signal.noise(frames: 44_100, seed: 3, amplitude: 0.5)
        let loud = noise.map { $0 + ($0 < 0 ? -0.01 : 0.01) }
        try SoundFile(rate: 44_100, samples: [loud]).write(scratch.file("loop.wav"))
        let graph = recorded.replacing("type = \"tone\"", with: "type = \"file\"\npath = \"loop.wav\"\nloop = true")
            .replacing("frequency = 1000\nlevel_db = -6\n", with: "")
        let session = try Session(graph, server: server.name, in: scratch)
        try await session.plays()
        try await server.tool("jack_freewheel", "y")
        let before = try await session.status().blocks
        // Half a minute of sound.
        try await session.until("it has gone far") { $0.blocks > before + 6000 }
        try await server.tool("jack_freewheel", "n")
        let after = try await session.status().blocks
        try await session.until("it goes on") { $0.blocks > after + 20 }
        try await session.end()
        #expect(session.count("file.gap") == 0 && session.losses == [])
        #expect(session.count("stalled") == 0 && session.count("reactivated") == 0)
        let take = try SoundFile(scratch.file("take.wav")).samples[0]
        var longest = 0
        var run = 0
        for sample in take.drop(while: { $0 == 0 }) {
            run = sample == 0 ? run + 1 : 0
            longest = max(longest, run)
        }
        #expect(take.count > 6000 * 256 && longest < 16)
        server.stop()
    }

    @Test("A server that makes no connections of its clients is told as that", arguments: ["a", "E"])
    func selfConnect(_ mode: String) async throws {
        let turn = try await JackTurn.wait()
        let name = "vgt-own"
        let server = try Program(["jackd", "-a", mode, "-n", name, "-r", "-d", "dummy"])
        let session = try Session(server: name)
        try await session.run.wait("it is told") { _ in session.count("connection.refused") == 3 }
        #expect(session.count("connected") == 0)
        try await session.end()
        server.signal(SIGTERM)
        _ = try await server.end()
        turn.end()
    }

    @Test("An output that is connected to nothing is told once, with what `connect` names in vain")
    func unheard() async throws {
        let server = try await Jackd.start()
        let links = "\"tone -> out\", \"tone -> card\", \"tone -> heard\", \"keys -> synth\""
        let more = """

            [node.card]
            type = "output"
            connect = ["hw:1"]
            [node.heard]
            type = "output"
            connect = ["system:playback_1"]
            [node.keys]
            type = "midi-input"
            [node.synth]
            type = "midi-output"
            """
        let graph = recorded.replacing("\"tone -> out\"", with: links) + more
        let session = try Session(graph, server: server.name)
        @Sendable func told() -> [String] {
            session.run.lines.filter { $0.contains("\"log\"") && $0.contains("nothing is connected to it") }
        }
        try await session.run.wait("all are told") { _ in told().count >= 4 }
        let text = try await session.call("status").output
        #expect(text.contains("card: nothing is connected to it, so nobody hears it: `connect` names what is"))
        #expect(text.contains("out: nothing is connected to it") && !text.contains("heard: "))
        // They are looked at every second, and told of once.
        try await server.tool("jack_connect", "faulted:out_1", "system:playback_2")
        try await eventually("the status follows") {
            try await !session.call("status").output.contains("out: nothing")
        }
        #expect(told().count == 4 && told().contains { $0.contains("qjackctl") }, "\(told())")
        try await session.end()
        server.stop()
    }

    @Test("Escape sequences in names of other programs do not reach the terminal")
    func escapes() async throws {
        let server = try await Jackd.start()
        let metro = try JackPeer("metro\u{1b}]0;owned\u{7}", server: server, plays: [[0]])
        let graph = toneGraph.replacing("system:capture_1", with: "*metro*")
        let scratch = try Scratch()
        let run = try Program(
            [Program.voicegraph, "run", try scratch.write("g.conf", graph), "--plain"]
                + ["--driver", "jack", "--server", server.name],
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await run.wait("the connection is told") { $0.output.contains("owned") }
        #expect(!run.output.unicodeScalars.contains { $0.value == 0x1b || $0.value == 7 })
        run.signal(SIGTERM)
        #expect(try await run.end() == 0)
        metro.close()
        server.stop()
    }

    @Test("A node whose name is too long for a port is refused by check and by edits, and leaves no port")
    func longName() async throws {
        let server = try await Jackd.start()
        let session = try Session(server: server.name)
        try await session.plays()
        let before = try await server.tool("jack_lsp")
        let name = String(repeating: "y", count: 300)
        let refused = try await session.call("ctl", "add", name, "output")
        #expect(refused.code == 1 && refused.output.contains("too long for its ports"), "\(refused.output)")
        #expect(try await server.tool("jack_lsp") == before)
        try session.scratch.write(
            "long.conf",
            recorded.replacing("[node.out]", with: "[node.\(name)]").replacing("-> out", with: "-> \(name)"))
        let check = try Program([Program.voicegraph, "check", session.scratch.file("long.conf")])
        #expect(try await check.end() == 1)
        #expect(check.output.contains("too long for its ports"))
        try await session.end()
        server.stop()
    }
}
