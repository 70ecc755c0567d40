// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A plugin in a process of its own beside a signal that must not suffer, live on a server. Row 10; what becomes of the
/// plugin's own signal and state is looked at, block by block, in IsolationTests.
@Suite("Faults of an isolated plugin, live", .serialized, .timeLimit(.minutes(5)))
struct IsolatedPluginTests {
    @Test("10: a plugin that crashes, ends, hangs or is stopped is back, and not a sample beside it is another")
    func contained() async throws {
        // Where it may: whoever is not realtime waits for everybody else's work as well.
        let server = try await Jackd.start(block: 128, realtime: nil)
        let scratch = try Scratch()
        _ = try await compile("plugins/unruly", in: scratch, as: "libvg-unruly.so")
        let session = try Session(
            """
            [graph]
            name = "faulted"
            links = ["mic -> out", "tone -> wild -> level"]
            [node.mic]
            type = "input"
            channels = 1
            [node.out]
            type = "output"
            channels = 1
            [node.tone]
            type = "tone"
            [node.wild]
            type = "unruly"
            isolate = true
            [node.level]
            type = "meter"

            """, ["--plugin-path", scratch.path], server: server.name, in: scratch)
        try await session.plays()
        let noise = Signal.noise(frames: 200_000, seed: 10, amplitude: 0.5)
        let player = try JackPeer("player", server: server, plays: [noise])
        let ear = try JackPeer("ear", server: server, inputs: 1, recordingFrames: 60 * 48000)
        #expect(player.connect("player:out_1", "faulted:mic_1") && ear.connect("faulted:out_1", "ear:in_1"))
        let cycles = ear.cycles
        try await eventually("the server has ordered its graph") { ear.cycles > cycles + 20 }
        player.play()
        for (number, trouble) in ["segv", "exit", "loop", "stop"].enumerated() {
            let begin = ContinuousClock.now
            try await session.done("ctl", "send", "wild", "do", trouble)
            try await session.run.wait("the plugin is back after \(trouble)") { _ in
                session.count("plugin.started") > number
            }
            within(0.3, begin.duration(to: .now), "the plugin is back after \(trouble)")
        }
        #expect(session.count("plugin.failed") == 4)
        try await eventually("all is played") { player.hasPlayed }
        let played = ear.recordedFrames
        try await eventually("it has passed") { ear.recordedFrames > played + 2048 }
        try expectSame(noise, ear.recording(0))
        player.close()
        ear.close()
        try await session.end()
        let line = try #require(session.run.lines.last { $0.hasPrefix("{\"event\":\"finished\"") })
        let finished = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let wild = try #require((finished["nodes"] as? [String: Any])?["wild"] as? [String: Any])
        let longest = try #require(wild["maximum_us"] as? Double)
        // A third of a block is waited for at most; one that waited for the plugin would have waited for 150 ms.
        within(0.0011, .seconds(longest * 1e-6), "the longest block of the plugin's node", slack: 100)
        server.stop()
    }
}
