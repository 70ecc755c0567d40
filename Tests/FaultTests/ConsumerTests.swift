// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Whoever shows or keeps what is played may stand still. Row 15, and who may not ask at all.
@Suite("Consumers that stand still", .serialized, .timeLimit(.minutes(5)))
struct ConsumerTests {
    /// A wire whose signal also goes to so many meters.
    private func wire(meters: Int = 0, more: String = "", links: [String] = []) -> String {
        let names = (0..<meters).map { "m\($0)" }
        let all = ["mic -> out"] + names.map { "mic -> \($0)" } + links
        return """
            [graph]
            name = "faulted"
            links = [\(all.map { "\"\($0)\"" }.joined(separator: ", "))]
            [node.mic]
            type = "input"
            channels = 1
            [node.out]
            type = "output"
            channels = 1
            \(names.map { "[node.\($0)]\ntype = \"meter\"\n" }.joined())
            \(more)
            """
    }

    private func status(_ session: Session) async throws -> [String: Any] {
        let answer = try await session.call("status", "--json").output
        let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        return try #require(object?["control"] as? [String: Any])
    }

    @Test("15: control clients, top and a subscriber that are stopped for 3 s cost no sample; what they lose is told")
    func stoppedClients() async throws {
        let server = try await Jackd.start()
        let session = try Session(wire(meters: 40), server: server.name)
        try await session.plays()
        let clients = try [["top", "--json"], ["ctl", "events", "series", "events.lost"], ["ctl", "events"]].map {
            try Program([Program.voicegraph] + $0, environment: session.environment)
        }
        for client in clients { try await client.wait("it hears something") { $0.lines.count > 1 } }
        let noise = Signal.noise(frames: 160_000, seed: 15, amplitude: 0.5)
        let player = try JackPeer("player", server: server, plays: [noise])
        let ear = try JackPeer("ear", server: server, inputs: 1, recordingFrames: 20 * 48000)
        #expect(player.connect("player:out_1", "faulted:mic_1") && ear.connect("faulted:out_1", "ear:in_1"))
        let cycles = ear.cycles
        try await eventually("the server has ordered its graph") { ear.cycles > cycles + 20 }
        let before = try await session.status()
        for client in clients { client.signal(SIGSTOP) }
        player.play()
        try await eventually("three seconds and more are played") { player.hasPlayed }
        let played = ear.recordedFrames
        try await eventually("they have passed") { ear.recordedFrames > played + 2048 }
        // Who takes nothing for ten seconds is left, and a machine may be busy.
        for client in clients { client.signal(SIGCONT) }
        let after = try await session.status()
        #expect((after.dropouts["node"] ?? 0) + (after.dropouts["graph"] ?? 0) == 0)
        #expect(after.blocks - before.blocks > 500)
        let lost = try #require(try await status(session)["events_lost"] as? Int)
        print("figure: stopped clients lost \(lost) events, the audio nothing")
        #expect(lost > 0)
        try await clients[1].wait("its loss is told") { $0.output.contains("{\"event\":\"events.lost\"") }
        try expectSame(noise, ear.recording(0))
        player.close()
        ear.close()
        try await session.end()
        for client in clients { try await client.end() }
        server.stop()
    }

    private let recorder = """
        [node.tape]
        type = "record"
        path = "tape.wav"
        """

    private func slowDisk(_ scratch: Scratch) async throws -> [String: String] {
        let preload = try await compile("preload/slow-disk", in: scratch, as: "slow-disk.so")
        return ["LD_PRELOAD": preload, "SLOW_DISK": scratch.file("disk-stands-still")]
    }

    @Test("15: a recorder whose disk stands still for 3 s loses no sample, and holds up nobody")
    func stalledDisk() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let session = try Session(
            wire(more: recorder, links: ["mic -> tape"]), server: server.name,
            environment: try await slowDisk(scratch), in: scratch)
        try await session.plays()
        let noise = Signal.noise(frames: 180_000, seed: 16, amplitude: 0.5)
        let player = try JackPeer("player", server: server, plays: [noise])
        let ear = try JackPeer("ear", server: server, inputs: 1, recordingFrames: 20 * 48000)
        #expect(player.connect("player:out_1", "faulted:mic_1") && ear.connect("faulted:out_1", "ear:in_1"))
        let cycles = ear.cycles
        try await eventually("the server has ordered its graph") { ear.cycles > cycles + 20 }
        player.play()
        let size = try fileSize(scratch.file("tape.part.wav"))
        try await eventually("it is written") { try fileSize(scratch.file("tape.part.wav")) > size }
        try scratch.write("disk-stands-still", "")
        // One write may have been under way, for as long as a busy machine likes.
        try await eventually("the recorder waits for it") {
            access(scratch.file("disk-stands-still-held"), F_OK) == 0
        }
        let stopped = try fileSize(scratch.file("tape.part.wav"))
        let start = ear.recordedFrames
        try await eventually("three seconds pass") { ear.recordedFrames > start + 3 * 48000 }
        #expect(try fileSize(scratch.file("tape.part.wav")) == stopped, "the disk did not stand still")
        #expect(try await session.status().state == "running")
        unlink(scratch.file("disk-stands-still"))
        try await eventually("all is played") { player.hasPlayed }
        let played = ear.recordedFrames
        try await eventually("it has passed") { ear.recordedFrames > played + 2048 }
        try expectSame(noise, ear.recording(0))
        // Before who plays is gone, which would be an interruption.
        try await session.end()
        player.close()
        ear.close()
        try expectSame(noise, SoundFile(scratch.file("tape.wav")).samples[0])
        #expect(session.losses == [])
        server.stop()
    }

    @Test("15: a disk that stands still for longer than memory lasts costs what is told, to the frame, and no more")
    func overflow() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let session = try Session(
            wire(more: recorder, links: ["mic -> tape"]), server: server.name,
            environment: try await slowDisk(scratch), in: scratch)
        try await session.plays()
        try scratch.write("disk-stands-still", "")
        // A server that does not wait plays half a minute in no time.
        try await server.tool("jack_freewheel", "y")
        try await session.run.wait("the overflow is told") { _ in session.count("record.dropped") > 0 }
        try await server.tool("jack_freewheel", "n")
        unlink(scratch.file("disk-stands-still"))
        let blocks = try await session.status().blocks
        try await session.until("it goes on") { $0.blocks > blocks + 20 }
        try await session.end()
        let line = try #require(session.run.lines.first { $0.hasPrefix("{\"event\":\"record.finished\"") })
        let finished = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let (frames, dropped) = (finished["frames"] as? Int ?? 0, finished["dropped"] as? Int ?? 0)
        print("figure: \(frames) frames kept, \(dropped) dropped while the disk stood still")
        let kept = try SoundFile(scratch.file("tape.wav")).samples[0].count
        #expect(dropped > 0 && frames > 10 * 48000 && frames == kept)
        #expect(session.run.output.contains("the disk is too slow"))
        let told = session.run.lines.filter { $0.hasPrefix("{\"event\":\"record.dropped\"") }.compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(told.reduce(0) { $0 + ($1["frames"] as? Int ?? 0) } == dropped)
        server.stop()
    }

    @Test(
        "Another user cannot ask, neither through the closed folder nor past an open one",
        .enabled(if: isRoot && isInstalled("setpriv", "perl"), "needs root, setpriv and perl"))
    func foreignUser() async throws {
        let turn = try await JackTurn.wait()
        let session = try Session(toneGraph, ["--driver", "dummy"])
        try await session.plays()
        let folder = session.scratch.file("voicegraph")
        let ask = """
            use IO::Socket::UNIX; $SIG{PIPE} = 'IGNORE'; \
            my $host = IO::Socket::UNIX->new(Peer => $ARGV[0]) or do { print "closed: $!"; exit 0 }; \
            print $host "{\\"id\\":1,\\"call\\":\\"set\\",\\"node\\":\\"gain\\",\\"parameter\\":\\"gain_db\\",\\"value\\":-9}\\n"; \
            $host->flush; my $answer = <$host>; print defined $answer ? "answer: $answer" : "refused";
            """
        func foreign(_ user: Int) async throws -> String {
            let result = try await runTool([
                "setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "perl", "-e", ask,
                folder + "/faulted.sock",
            ])
            return result.output
        }
        #expect(try await foreign(65534).hasPrefix("closed: "))
        // Somebody has opened all doors.
        for path in [session.scratch.path, folder] { chmod(path, 0o777) }
        chmod(folder + "/faulted.sock", 0o777)
        #expect(try await foreign(65534) == "refused")
        #expect(try await foreign(0).hasPrefix("answer: {\"id\":1,\"ok\":true"))
        for path in [session.scratch.path, folder] { chmod(path, 0o700) }
        #expect(try await status(session)["refused_clients"] as? Int == 1)
        try await session.end()
        turn.end()
    }
}
