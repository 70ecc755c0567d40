// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import NodeKit
import TestSupport

/// How listening starts, stops, is given up, and what an engine that misbehaves does to it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TranscribeSessionTests {
    private let phrase = "go forward ten meters"

    private func states(_ node: NodeHarness) -> [String] {
        node.capture.events("transcribe.state").compactMap { $0.string("state") }
    }

    @Test("V1: One toggle starts and stops, and a second start while it listens is refused")
    func toggle() throws {
        let node = try transcribe(["engine": .string("pocketsphinx"), "autostart": .bool(false)])
        try node.hear(spoken("five five") + silence(1))
        #expect(states(node) == ["idle"] && node.capture.events("transcribe.final").isEmpty)
        let early = #expect(throws: NodeError.self) { try node.perform("stop") }
        #expect(early?.message == "it does not listen")
        try node.perform("start")
        let second = #expect(throws: NodeError.self) { try node.perform("start") }
        #expect(second?.message == "it listens already")
        try node.hear(silence(0.3) + spoken(phrase) + silence(1))
        let result = try node.perform("stop")
        #expect(result["text"] == .string(phrase) && result["items"] == .integer(1))
        #expect(states(node) == ["idle", "listening", "hearing", "finishing", "listening", "idle"])
        // What is said now nobody hears; what is said after the next start is an item of its own.
        try node.hear(spoken("five five") + silence(1))
        #expect(try node.perform("toggle") == ["listening": .bool(true)])
        try node.hear(silence(0.3) + spoken("seven of clubs") + silence(1))
        let toggled = try node.perform("toggle")
        #expect(toggled["text"] == .string("seven of clubs") && toggled["listening"] == .bool(false))
        #expect(early?.kind == "not-listening" && second?.kind == "already-listening")
        #expect(node.capture.events("transcribe.final").map { $0.integer("item") } == [1, 2])
    }

    @Test("Fix: Stop in the middle of what is said returns its final text, and another session may begin")
    func stopGivesFinal() throws {
        let node = try transcribe(["engine": .string("pocketsphinx")])
        // No pause has ended it.
        try node.hear(silence(0.3) + spoken(phrase))
        #expect(states(node).last == "hearing")
        let result = try node.perform("stop")
        #expect(result["text"] == .string(phrase))
        #expect(node.capture.events("transcribe.final").map { $0.string("text") } == [phrase])
        #expect(states(node).last == "idle" && node.instance.askIdle())
        try node.perform("start")
        #expect(states(node).last == "idle" || states(node).last == "listening")
        node.instance.wait(frames: 1)
        #expect(states(node).last == "listening")
    }

    @Test("Fix: The end of the audio gives the final text too, live and offline", arguments: [true, false])
    func finish(offline: Bool) throws {
        // Live it is waited for four seconds. Where the machine is too busy for that, which is told, it is tried again.
        for _ in 0..<5 {
            let node = try transcribe(["engine": .string("pocketsphinx")], offline: offline)
            try node.hear(silence(0.3) + spoken(phrase))
            if !offline {
                // What is left to do then is little.
                node.instance.wait(frames: 1)
                #expect(node.capture.events("transcribe.final").isEmpty && states(node).last == "hearing")
            }
            node.instance.finish()
            if !offline, node.capture.logs.contains(where: { $0.text.contains("the final text was not there") }) {
                continue
            }
            #expect(node.capture.events("transcribe.final").map { $0.string("text") } == [phrase])
            #expect(node.capture.messages.last?.message.content == .text(phrase))
            // To the last frame, whatever resampling and windows hold back.
            let end = try #require(node.capture.events("transcribe.final").first?.integer("end_frame"))
            #expect(abs(end - node.position) <= 3, "\(end) of \(node.position)")
            return
        }
        Issue.record("the machine was too busy five times")
    }

    @Test("Fix: An engine that fails does not leave it listening for ever") func failedEngine() throws {
        let node = try transcribe(["command": .string("echo broken >&2; exit 3")])
        try node.hear(silence(0.3) + spoken(phrase) + silence(1))
        let failed = try #require(node.capture.events("transcribe.failed").first)
        #expect(failed.integer("item") == 1)
        #expect(failed.string("reason") == "the command ended with 3: broken")
        guard case .degraded? = node.capture.health.last else {
            Issue.record("\(node.capture.health)")
            return
        }
        // The next item is tried all the same, and whoever stops is told why there is no text.
        try node.hear(silence(0.3) + spoken(phrase))
        let error = #expect(throws: NodeError.self) { try node.perform("stop") }
        #expect(error?.message == "the command ended with 3: broken")
        #expect(node.capture.events("transcribe.failed").map { $0.integer("item") } == [1, 2])
        #expect(states(node).last == "idle")
        try node.perform("start")
    }

    @Test("Cancel throws away what is under way, also in an engine that hangs") func cancel() async throws {
        let node = try transcribe(["engine": .string("pocketsphinx")])
        try node.hear(silence(0.3) + spoken(phrase))
        try node.perform("cancel")
        node.instance.wait(frames: 1)
        #expect(node.capture.events("transcribe.final").isEmpty)
        #expect(node.capture.events("transcribe.cancelled").map { $0.integer("item") } == [1])
        // A partial text was sent: it is taken back.
        #expect(
            node.capture.messages.last?.message
                == Message(.text(""), item: 1, position: node.capture.messages.last!.message.position))
        #expect(states(node).last == "idle")

        let hanging = try transcribe(["command": .string("sleep 1000")], offline: false)
        try hanging.hear(silence(0.3) + spoken(phrase) + silence(0.2))
        let capture = hanging.capture
        try await eventually("it hears") { capture.events("transcribe.state").last?.string("state") == "hearing" }
        let stopped = Lock<ActionResult?>(nil)
        hanging.instance.perform("stop", patience: 1000) { result in stopped.withLock { $0 = result } }
        try hanging.perform("cancel")
        // Whichever of the two came first.
        try await eventually("stop fails") { if case .failure? = stopped.withLock({ $0 }) { true } else { false } }
        hanging.instance.wait(frames: 1)
        #expect(hanging.capture.events("transcribe.cancelled").count == 1)
        #expect(states(hanging).last == "idle")
    }

    @Test(
        "A command that hangs, dies, or says too much is ended and told",
        arguments: [
            ("sleep 1000", "took more than 0.5 s"), ("kill -SEGV $$", "ended by SIGSEGV"),
            ("exec 1>&- 2>&-; sleep 1000", "took more than 0.5 s"), ("yes", "wrote more than 1 MiB"),
        ])
    func badCommand(line: String, reason: String) throws {
        let limit = line == "yes" ? 60.0 : 0.5
        let node = try transcribe(["command": .string(line), "time_limit": .number(limit)])
        try node.hear(silence(0.3) + spoken("five") + silence(1))
        let told = node.capture.events("transcribe.failed").first?.string("reason") ?? ""
        #expect(told.contains(reason), "\(told)")
        #expect(node.capture.counts["failed items"] == 1 && states(node).last == "listening")
    }

    @Test("A command reads the whole segment as WAV and gives the text") func command() throws {
        let scratch = try Scratch()
        let path = scratch.file("heard.wav")
        let node = try transcribe(["command": .string("cat > '\(path)'; printf '  two\\n words \\n'")])
        let speech = try spoken(phrase)
        try node.hear(silence(1) + speech + silence(1))
        #expect(node.capture.events("transcribe.final").map { $0.string("text") } == ["two words"])
        let heard = try SoundFile(path)
        #expect(heard.rate == 16000 && heard.samples.count == 1)
        // The speech, a little before it, and the pause that ended it.
        #expect(abs(heard.samples[0].count - speech.count - 14400) < 8000, "\(heard.samples[0].count) \(speech.count)")
        #expect((heard.samples[0].map { abs($0) }.max() ?? 0) > 0.1)
    }

    @Test("Another rate ends the item under way with its text, and listening goes on") func otherRate() throws {
        let node = try transcribe(["engine": .string("pocketsphinx")])
        try node.hear(silence(0.3) + spoken(phrase))
        try node.prepare(Preparation(rate: 44100, maxBlock: 1024, offline: true))
        try node.hear(silence(0.5) + spoken("seven of clubs") + silence(1))
        let texts = node.capture.events("transcribe.final").map { $0.string("text") }
        #expect(texts == [phrase, "seven of clubs"])
    }

    @Test("How far it is behind is told, it catches up, and nothing is lost") func behind() throws {
        // All of it comes at once.
        let node = try transcribe(
            ["command": .string("sleep 0.1; echo done"), "silence": .number(0.3)], offline: false)
        try node.hear(silence(0.3) + spoken("five") + silence(8) + spoken("five") + silence(10))
        let behind = node.capture.events("transcribe.behind").compactMap { $0.number("seconds") }
        #expect(behind.count >= 2 && behind[0] > 1 && behind.last == 0, "\(behind)")
        #expect(node.capture.events("transcribe.final").map { $0.string("text") } == ["done", "done"])
        #expect(node.capture.counts["dropped"] == nil)
    }

    @Test("What is too much to catch up with is dropped, counted and told") func dropped() throws {
        let node = try transcribe(
            [
                "command": .string("sleep 0.3; echo done"), "behind": .string("drop"), "max_behind": .number(1),
                "silence": .number(0.2),
            ], offline: false)
        try node.hear(silence(0.3) + spoken("five") + silence(30))
        let dropped = node.capture.events("transcribe.dropped").compactMap { $0.integer("frames") }.reduce(0, +)
        #expect(dropped > 0 && node.capture.counts["dropped"] == UInt64(dropped))
        #expect(node.capture.events("transcribe.dropped").last?.integer("total") == dropped)
    }
}
