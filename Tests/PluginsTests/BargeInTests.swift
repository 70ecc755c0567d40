// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// What a voice does while somebody else speaks.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BargeInTests {
    private static let text = "one two three four five six seven"

    private func speaker(_ settings: [String: SettingValue] = [:]) throws -> NodeHarness {
        try NodeHarness(pluginType("tts"), byEspeak(settings), offline: true)
    }

    private func heard(_ node: NodeHarness) -> [Message] { node.capture.messages.map(\.message) }

    @Test(
        "The control hold silences the voice within a block and 5 ms, and nothing of it is lost", arguments: [64, 1024])
    func hold(block: Int) throws {
        let whole = try speaker(["text": .string(Self.text)]).renderUntilIdle(limit: 480_000, block: block)[0]
        let node = try speaker(["text": .string(Self.text)])
        var output = node.render(24 * 1024, block: block)[0]
        node.controlInputs = [1]
        let held = node.render(48 * 1024, block: block)[0]
        #expect(held[240...].allSatisfy { $0 == 0 } && held[..<240].contains { $0 != 0 })
        let states = node.capture.events("speech.state")
        #expect(states.last?.bool("paused") == true && states.last?.bool("speaking") == true)
        #expect(states.last?.frame == 24 * 1024)
        // It has not ended.
        #expect(node.controlOutputs.last == [1])
        // It goes on half a second after that.
        node.controlInputs = [0]
        let rest = node.render(24000, block: block)[0]
        #expect(rest[..<(24000 / block * block)].allSatisfy { $0 == 0 })
        output += held[..<240] + node.renderUntilIdle(limit: 480_000, block: block)[0].drop { $0 == 0 }
        #expect(node.capture.events("speech.state").contains { $0.bool("paused") == false && $0.frame > 72 * 1024 })
        #expect(node.capture.events("speech.gap").isEmpty && node.capture.counts["missing"] == nil)
        let tail = whole[(24 * 1024 + 480)...].suffix(40_000)
        #expect(output.suffix(60_000).contains { $0 != 0 })
        let end = (output.lastIndex { $0 != 0 }!, whole.lastIndex { $0 != 0 }!)
        #expect(output[(end.0 - 30_000)...end.0].elementsEqual(whole[(end.1 - 30_000)...end.1]), "\(tail.count)")
    }

    @Test("What is shorter than hold_after_ms holds nothing") func cough() throws {
        let node = try speaker(["text": .string(Self.text), "hold_after_ms": .number(150)])
        _ = node.render(24 * 1024)
        node.controlInputs = [1]
        _ = node.render(6912)
        node.controlInputs = [0]
        _ = node.render(4800)
        #expect(node.controlOutputs.allSatisfy { $0 == [1] } || !node.controlOutputs.suffix(40).contains([0]))
        #expect(!node.capture.events("speech.state").contains { $0.bool("paused") == true })
        // And what is as long does.
        node.controlInputs = [1]
        _ = node.render(7680)
        #expect(node.capture.events("speech.state").last?.bool("paused") == true)
    }

    @Test("A text that comes when nothing was held, or after a stop, does not wait for the release") func next() throws
    {
        let node = try speaker()
        node.controlInputs = [1]
        _ = node.render(9600)
        node.controlInputs = [0]
        node.instance.receive(Message(.text("one two three"), item: 1), port: 0)
        #expect(node.render(9600)[0].contains { $0 != 0 })
        node.controlInputs = [1]
        _ = node.render(9600)
        node.controlInputs = [0]
        node.instance.receive(Message(.text("four five"), item: 2), port: 0)
        #expect(node.render(9600)[0][480...].contains { $0 != 0 })
    }

    @Test("What was heard of a text that was stopped is sent on, to the last whole word") func stopped() throws {
        let node = try speaker()
        node.instance.receive(Message(.text("first part."), item: 5, partial: true), port: 0)
        node.instance.receive(Message(.text(Self.text), item: 5, partial: true), port: 0)
        node.instance.receive(Message(.text("never heard"), item: 5), port: 0)
        while !node.capture.events("speech.word").contains(where: { $0.string("text") == "four" }) {
            _ = node.render(1024)
        }
        node.instance.receive(Message(.text(""), item: 5, urgent: true), port: 0)
        #expect(heard(node).map(\.content) == [.text("first part."), .text("one two three"), .text("")])
        #expect(heard(node).map(\.item) == [5, 5, 5] && heard(node).map(\.isPartial) == [true, true, false])
        // What comes of it later is dropped; another item is spoken.
        node.capture.clear()
        node.instance.receive(Message(.text("too late"), item: 5), port: 0)
        node.instance.receive(Message(.text("next"), item: 6), port: 0)
        node.instance.receive(Message(.text("too late again"), item: 5), port: 0)
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(node.capture.events("speech.finished").map { $0.string("text") } == ["next"])
        #expect(node.capture.counts["late"] == 2)
        #expect(heard(node) == [Message(.text("next"), item: 6, position: heard(node).first?.position ?? 0)])
    }

    @Test("Stopping before anything was heard is answered with nothing heard") func unheard() throws {
        let node = try speaker()
        node.instance.receive(Message(.text("one"), item: 3, partial: true), port: 0)
        node.instance.receive(Message(.text("two"), item: 3), port: 0)
        try node.perform("stop")
        #expect(heard(node).map(\.content) == [.text("")] && heard(node).map(\.item) == [3])
        #expect(heard(node).map(\.isPartial) == [false])
    }

    @Test("While it is muted a vad hears nobody, nor for a while after") func muted() throws {
        let words = try spoken("go forward ten meters")
        let node = try NodeHarness(
            pluginType("vad"), ["detector": .string("webrtc")], rate: 16000, maxBlock: 1024, offline: true)
        node.controlInputs = [1]
        _ = node.render(words.count / 512 * 512, block: 512, inputs: [words])
        node.controlInputs = [0]
        // The last sound in the room.
        _ = node.render(3584, block: 512, inputs: [Array(words[8000..<11584])])
        #expect(node.capture.events("vad.started").isEmpty)
        #expect(node.controlOutputs.allSatisfy { $0[0] == 0 })
        _ = node.render(8192, block: 512)
        _ = node.render(words.count / 512 * 512, block: 512, inputs: [words])
        #expect(node.capture.events("vad.started").count == 1)
    }
}
