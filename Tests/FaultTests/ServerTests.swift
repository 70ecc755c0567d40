// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// What happens to the server happens to a run of the command, seen as its user sees it. Rows 1 to 3 and 11.
@Suite("Faults of the server", .serialized, .timeLimit(.minutes(5)))
struct ServerTests {
    private let connections = [
        "faulted:out_1\n   system:playback_1\n", "faulted:out_2\n   system:playback_2\n",
        "faulted:mic_1\n   system:capture_1\n",
    ]

    private func isConnected(_ server: Jackd) async throws -> Bool {
        let list = try await server.tool("jack_lsp", "-c", "faulted")
        return connections.allSatisfy { list.contains($0) }
    }

    @Test(
        "1: a server that dies and is started again gets its client back, the same process, with all connections",
        arguments: [SIGKILL, SIGTERM])
    func death(_ signal: Int32) async throws {
        let server = try await Jackd.start()
        let session = try Session(server: server.name)
        try await session.plays()
        try await eventually("all is connected") { try await isConnected(server) }
        try await session.done("ctl", "set", "gain", "gain_db", "-3")
        server.end(signal)
        try await session.run.wait("the loss is told") { _ in session.count("server.lost") == 1 }
        #expect(try await session.status().state == "lost")
        let before = try await session.status().blocks
        let start = ContinuousClock.now
        try server.restart()
        try await session.until("audio flows") { $0.state == "running" && $0.blocks > before }
        within(1, start.duration(to: .now), "audio after a new server's start")
        try await eventually("all is connected again") { try await isConnected(server) }
        within(1, start.duration(to: .now), "all connections after a new server's start")
        #expect(session.run.isRunning)
        #expect(try await session.call("ctl", "get", "gain", "gain_db").output == "-3\n")
        try await session.end()
        server.stop()
    }

    @Test(
        "A server that dies while libjack notes that another program came is left all the same, and its next one found")
    func noting() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let preload = try await compile("preload/slow-others", in: scratch, as: "slow-others.so")
        let session = try Session(
            server: server.name, environment: ["LD_PRELOAD": preload, "SLOW_OTHERS": scratch.file("slow")], in: scratch)
        try await session.plays()
        let slow = try scratch.write("slow", "")
        let other = try Program(["jack_lsp", "-s", server.name])
        defer { other.signal(SIGKILL) }
        try await eventually("libjack notes it") { FileManager.default.fileExists(atPath: slow + "-held") }
        server.end(SIGKILL)
        try await session.until("the client is being closed") { $0.notice.contains("does not come back from closing") }
        try FileManager.default.removeItem(atPath: slow)
        try server.restart()
        try await session.until("audio flows") { $0.state == "running" && $0.notice.isEmpty }
        try await session.end()
        server.stop()
    }

    @Test("2: a server that hangs is told as stalled while all calls are answered, and its end as running")
    func hang() async throws {
        let server = try await Jackd.start()
        let session = try Session(server: server.name)
        try await session.plays()
        server.hang()
        let start = ContinuousClock.now
        try await session.until("the hang is noticed") { $0.state == "stalled" }
        within(0.5, start.duration(to: .now), "stalled after the server's stop")
        var slowest = Duration.zero
        var answers = 0
        // Three seconds, and where the machine is busy as long as three rounds take.
        while start.duration(to: .now) < .seconds(3) || answers < 9 {
            let asked = ContinuousClock.now
            #expect(try await session.status().state == "stalled")
            try await session.done("ctl", "set", "gain", "gain_db", "-\(answers % 20 + 1)")
            try await session.done("ctl", answers % 2 == 0 ? "mute" : "bypass", "gain", answers % 4 < 2 ? "on" : "off")
            answers += 3
            slowest = max(slowest, asked.duration(to: .now))
        }
        print("figure: \(answers) calls answered while the server hung")
        within(1, slowest, "the slowest three calls to a run whose server hangs")
        let refused = try await session.call("ctl", "add", "more", "output")
        #expect(refused.code == 1 && refused.output.contains("the JACK server does not answer, so ports cannot change"))
        server.unhang()
        let resumed = ContinuousClock.now
        try await session.until("cycles come again") { $0.state == "running" }
        within(0.5, resumed.duration(to: .now), "running after the server goes on")
        #expect(session.count("stalled") == 1 && session.count("resumed") == 1 && session.count("server.lost") == 0)
        #expect(try await session.call("ctl", "get", "gain", "gain_db").output == "-\((answers - 3) % 20 + 1)\n")
        try await session.end()
        server.stop()
    }

    /// Upward crossings of zero in a quarter of a second of what comes to a port, beside those of a tone of 1 kHz.
    private func pitchIsRight(_ server: Jackd, rate: Int, block: Int) async throws {
        // A connection takes some cycles to be heard.
        let frames = 4 * block + 4096 + rate / 4
        let ear = try JackPeer("ear", server: server, inputs: 1, recordingFrames: frames)
        defer { ear.close() }
        #expect(ear.connect("faulted:out_1", "ear:in_1"))
        try await eventually("enough is heard") { ear.recordedFrames == frames }
        let crossings = Signal.upwardCrossings(Array(ear.recording(0).suffix(rate / 4)))
        #expect(abs(crossings - 250) <= 1, "\(crossings) at \(rate) Hz, \(block) frames")
    }

    @Test("3: at another rate or block size the pitch is right, and what was changed while it played stays changed")
    func format() async throws {
        let server = try await Jackd.start(rate: 48000, block: 128)
        let session = try Session(server: server.name)
        try await session.plays()
        try await session.done("ctl", "set", "gain", "gain_db", "-3")
        try await session.done("ctl", "add", "low", "gain", "gain_db=-20")
        try await session.done("ctl", "link", "tone -> low -> out")
        server.crash()
        try server.restart(rate: 44100, block: 256)
        try await session.until("the new format") { $0.rate == 44100 && $0.block == 256 && $0.state == "running" }
        try await eventually("all is connected again") { try await isConnected(server) }
        try await pitchIsRight(server, rate: 44100, block: 256)
        for block in [64, 100, 8192, 128] {
            try await server.tool("jack_bufsize", "\(block)")
            let status = try await session.until("blocks of \(block)") { $0.block == block && $0.state == "running" }
            try await session.until("cycles come") { $0.blocks > status.blocks }
            try await pitchIsRight(server, rate: 44100, block: block)
            #expect(try await isConnected(server))
        }
        #expect(try await session.call("ctl", "get", "gain", "gain_db").output == "-3\n")
        #expect(try await session.call("ctl", "nodes").output.contains("low  gain"))
        #expect(session.count("server.lost") == 1)
        try await session.end()
        server.stop()
    }

    @Test("11: twelve servers later nothing has grown: memory, descriptors, threads, shared memory")
    func leaks() async throws {
        let server = try await Jackd.start()
        let session = try Session(server: server.name)
        try await session.plays()
        var settled: Resources?
        var times: [Duration] = []
        for round in 1...12 {
            let before = try await session.status().blocks
            if round % 3 == 0 { server.end(SIGTERM) } else { server.crash() }
            try await session.run.wait("the loss is told") { _ in session.count("server.lost") == round }
            let start = ContinuousClock.now
            try server.restart(rate: round % 2 == 0 ? 48000 : 44100, block: round % 2 == 0 ? 256 : 128)
            do { try await session.until("audio flows") { $0.state == "running" && $0.blocks > before } } catch {
                throw NeverHappened(
                    description: "round \(round): \(error); \(server.report); threads: \(session.threads)")
            }
            times.append(start.duration(to: .now))
            try await eventually("all is connected again") { try await isConnected(server) }
            // The first rounds fill caches and make what is kept.
            if round == 4 { settled = session.resources }
        }
        let first = try #require(settled)
        // What a call or a pool of threads holds just now comes and goes; eight servers' leftovers would be eight.
        @Sendable func isFlat(_ now: Resources) -> Bool {
            max(now.descriptors - first.descriptors, now.threads - first.threads, now.shared - first.shared) < 4
        }
        try await eventually("descriptors, threads and shared memory are what they were: \(first)") {
            isFlat(session.resources)
        }
        let last = session.resources
        let sorted = times.sorted()
        print("figure: after 4 servers \(first); after 12 \(last); back after \(sorted[0]) to \(sorted[11])")
        #expect(last.kilobytes - first.kilobytes < 1024)
        #expect(session.count("server.back") == 12)
        try await session.end()
        server.stop()
    }
}
