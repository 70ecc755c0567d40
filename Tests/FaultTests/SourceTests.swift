// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What is recorded may be unplugged, and plugged in again.
@Suite("Sources that go", .serialized, .timeLimit(.minutes(3))) struct SourceTests {
    private static let graph = """
        [graph]
        name = "faulted"
        links = ["mic -> take", "mic -> both", "tone -> both"]
        [node.mic]
        type = "input"
        connect = ["player:out_1"]
        [node.tone]
        type = "tone"
        level_db = -40
        [node.take]
        type = "record"
        path = "take.wav"
        [node.both]
        type = "record"
        path = "both.wav"
        """

    private func states(_ node: String, _ session: Session) throws -> [String] {
        try session.run.lines.filter { $0.hasPrefix("{\"event\":\"record.state\"") }.compactMap { line in
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let reason = event["reason"] as? String ?? ""
            guard event["node"] as? String == node, let state = event["state"] as? String else { return nil }
            return reason.isEmpty ? state : "\(state): \(reason)"
        }
    }

    @Test(
        "R7: a recording waits while its source is gone, unless something else is heard, and as long as the user says")
    func gone() async throws {
        let server = try await Jackd.start()
        let session = try Session(Self.graph, server: server.name)
        try await session.plays()
        let noise = Signal.noise(frames: 48000, seed: 7, amplitude: 0.5)
        var told = ["recording"]
        func plug() throws -> JackPeer { try JackPeer("player", server: server, plays: [noise]) }
        func until(_ what: String, _ event: String, _ count: Int) async throws {
            try await session.run.wait(what) { _ in session.count(event) == count }
        }
        var player = try plug()
        try await until("it is connected", "connected", 1)
        player.close()
        try await until("the loss is told", "source.lost", 1)
        told.append("interrupted: nothing is connected to mic any more")
        try await session.run.wait("the recording waits") { [told] _ in try states("take", session) == told }
        player = try plug()
        try await until("it is back", "source.back", 1)
        told.append("recording")
        try await session.run.wait("the recording goes on") { [told] _ in try states("take", session) == told }
        try await session.done("ctl", "do", "take", "pause")
        player.close()
        try await until("the next loss is told", "source.lost", 2)
        player = try plug()
        try await until("it is back again", "source.back", 2)
        told.append("paused")
        #expect(try states("take", session) == told)
        try await session.done("ctl", "do", "take", "resume")
        player.close()
        try await session.end()
        told.append("recording")
        // At the end nothing is connected for the third time, which may be told yet.
        #expect(try states("take", session).starts(with: told))
        #expect(try states("take", session).last == "finished")
        #expect(try states("both", session) == ["recording", "finished"])
        let (take, both) = try (
            SoundFile(session.scratch.file("take.wav")).samples[0],
            SoundFile(session.scratch.file("both.wav")).samples[0]
        )
        #expect(take.count > 0 && take.count < both.count)
        server.stop()
    }

    @Test("R7: a recording waits while the server hangs or is gone, says so, and keeps the time with silence")
    func server() async throws {
        let server = try await Jackd.start()
        let session = try Session(
            """
            [graph]
            name = "faulted"
            links = ["tone -> take"]
            [node.tone]
            type = "tone"
            [node.take]
            type = "record"
            path = "take.wav"
            fill = true
            """, server: server.name)
        try await session.plays()
        func wait(_ what: String, _ told: [String]) async throws {
            try await session.run.wait(what) { _ in try states("take", session) == told }
        }
        let began = ContinuousClock.now
        server.hang()
        let hangs = "interrupted: the JACK server hangs"
        try await wait("the hang is told", ["recording", hangs])
        within(0.5, began.duration(to: .now), "the interruption of a recording by a server that hangs")
        server.unhang()
        try await wait("it goes on", ["recording", hangs, "recording"])
        server.hang()
        try await wait("the next hang is told", ["recording", hangs, "recording", hangs])
        server.crash()
        let gone = "interrupted: the JACK server is gone"
        try await wait("the end is told", ["recording", hangs, "recording", hangs, gone])
        try await session.until("it is known") { $0.state == "lost" }
        try server.restart()
        try await wait("it goes on again", ["recording", hangs, "recording", hangs, gone, "recording"])
        try await session.end()
        let dropped = session.run.lines.filter { $0.hasPrefix("{\"event\":\"record.dropped\"") }
        #expect(dropped.count { $0.contains("\"cause\":\"interruption\"") } == 2, "\(dropped)")
        server.stop()
    }
}
