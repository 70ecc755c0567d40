// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// What can be done to a voice while it plays.
@Suite(.serialized) struct SpeechActionTests {
    private func harness(_ settings: [String: SettingValue] = [:]) throws -> NodeHarness {
        try NodeHarness(pluginType("tts"), byEspeak(settings), offline: true)
    }

    @Test("Text is the only main message input") func ports() throws {
        let ports = try harness().instance.ports.filter { $0.kind == VG_MESSAGE_PORT && $0.bus == nil }
        #expect(ports.map(\.symbol) == ["text"])
    }

    @Test("A spoken text has an item, and every event about it carries it", .timeLimit(.minutes(5)))
    func item() throws {
        let node = try harness()
        let result = try node.perform("speak", ["text": .string("one two"), "rate": .number(300)])
        guard case .integer(let item)? = result["item"] else {
            Issue.record("\(result)")
            return
        }
        _ = node.renderUntilIdle(limit: 480_000)
        let events = node.capture.events.filter { $0.name != "speech.state" }
        #expect(events.map { $0.integer("item") } == Array(repeating: Int(item), count: 6))
        let states = node.capture.events("speech.state")
        #expect(states.map { $0.bool("speaking") } == [true, false])
        #expect(states.map { $0.integer("item") } == [Int(item), 0])
        #expect(states.map { $0.string("text") } == ["one two", ""])
    }

    @Test("Speaking interrupts or waits, as its mode or else the setting says", .timeLimit(.minutes(5)))
    func mode() throws {
        let node = try harness()
        func say(_ text: String, _ mode: String?) throws {
            try node.perform(
                "speak", ["text": .string(text), "mode": mode.map { .string($0) }].compactMapValues(\.self))
        }
        func ended() -> [String?] {
            defer { node.capture.clear() }
            _ = node.renderUntilIdle(limit: 960_000)
            return node.capture.events.filter { $0.name == "speech.finished" }.map { $0.string("text") }
        }
        try say("one", nil)
        try say("two", "queue")
        #expect(ended() == ["one", "two"])
        try say("three", nil)
        try say("four", nil)
        #expect(ended() == ["four"])
        try node.set(setting: "queue", to: .bool(true))
        try say("five", nil)
        try say("six", nil)
        #expect(ended() == ["five", "six"])
        try say("seven", nil)
        try say("eight", "interrupt")
        #expect(ended() == ["eight"])
    }

    @Test("Every text that is cut short or given up is told", .timeLimit(.minutes(5))) func stopped() throws {
        let node = try harness(["queue": .bool(true), "text": .string("one two three four five")])
        try node.perform("speak", ["text": .string("never heard")])
        _ = node.render(48000)
        let heard = try #require(node.capture.events("speech.word").last?.integer("offset"))
        try node.perform("stop")
        let stopped = node.capture.events("speech.stopped")
        #expect(stopped.map { $0.string("text") } == ["one two three four five", "never heard"])
        #expect(stopped.map { $0.integer("heard") } == [heard, 0] && heard > 0)
        #expect(stopped[0].frame == 48000)
        #expect(node.capture.events.last?.name == "speech.state" && node.capture.events.last?.bool("speaking") == false)
        #expect(node.render(4800)[0][240...].allSatisfy { $0 == 0 })
        #expect(node.instance.askIdle())
        try node.perform("stop")
        #expect(node.capture.events("speech.stopped").count == 2)
    }

    @Test("Pieces of one item are spoken one after another, and another item stops them", .timeLimit(.minutes(5)))
    func pieces() throws {
        let node = try harness()
        node.instance.receive(Message(.text("one"), item: 7, partial: true), port: 0)
        node.instance.receive(Message(.text("two"), item: 7), port: 0)
        _ = node.renderUntilIdle(limit: 480_000)
        let finished = node.capture.events("speech.finished")
        #expect(finished.map { $0.string("text") } == ["one", "two"] && finished.map { $0.integer("item") } == [7, 7])
        node.capture.clear()
        node.instance.receive(Message(.text("three"), item: 8), port: 0)
        node.instance.receive(Message(.text("four"), item: 9), port: 0)
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(node.capture.events("speech.finished").map { $0.integer("item") } == [9])
    }

    @Test("A live setting and an argument change the voice; what cannot be is refused", .timeLimit(.minutes(5)))
    func voice() throws {
        let node = try harness()
        func frames(_ arguments: [String: SettingValue] = [:]) throws -> Int {
            node.capture.clear()
            try node.perform("speak", arguments.merging(["text": .string("one two three four")]) { $1 })
            _ = node.renderUntilIdle(limit: 960_000)
            return try #require(node.capture.events("speech.synthesized").first?.integer("frames"))
        }
        let normal = try frames()
        #expect(try frames(["rate": .number(350)]) < normal * 3 / 4)
        #expect(try abs(frames() - normal) < 4800)
        try node.set(setting: "rate", to: .integer(350))
        #expect(try frames() < normal * 3 / 4)
        let voice = #expect(throws: NodeError.self) { try node.set(setting: "voice", to: .string("klingon-opera")) }
        #expect(voice?.message == "espeak-ng has no voice called \"klingon-opera\"")
        let rate = #expect(throws: NodeError.self) { try frames(["rate": .number(20)]) }
        #expect(rate?.key == "rate")
        try node.set(setting: "voice", to: .string("de"))
        #expect(try frames() > 0)
    }

    @Test("A message of another kind is refused with a word") func wrongKind() throws {
        let node = try harness()
        node.instance.receive(.number(3), port: 0)
        #expect(node.capture.logs.map(\.text) == ["cannot say a message with a number; it is ignored"])
        #expect(node.capture.counts == ["refused": 1])
    }

    @Test("A text that cannot be spoken is told, and the health with it, until one can", .timeLimit(.minutes(5)))
    func failing() async throws {
        let scratch = try Scratch()
        let copied = try await runTool(["cp", "-r", espeakData(), scratch.file("espeak-ng-data")])
        #expect(copied.status == 0, "\(copied.output)")
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            setenv("ESPEAK_DATA_PATH", folder, 1)
            let node = try NodeHarness(pluginType("tts"), byEspeak(), offline: true)
            func say() throws {
                node.capture.clear()
                try node.perform("speak", ["text": .string("eins")])
                _ = node.renderUntilIdle(limit: 480_000)
            }
            try say()
            // A voice of one's own, which goes away after it was chosen.
            let (voices, voice) = (folder + "/espeak-ng-data/voices", folder + "/espeak-ng-data/voices/mine")
            try FileManager.default.createDirectory(atPath: voices, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: folder + "/espeak-ng-data/lang/gmw/de", toPath: voice)
            try node.set(setting: "voice", to: .string("mine"))
            try say()
            #expect(node.capture.events("speech.finished").count == 1 && node.capture.health.isEmpty)
            try FileManager.default.moveItem(atPath: voice, toPath: folder + "/gone")
            try say()
            let failed = try #require(node.capture.events("speech.failed").first)
            #expect(failed.string("reason") == "espeak-ng has no voice called \"mine\"")
            #expect(node.capture.events("speech.finished").isEmpty)
            guard case .degraded? = node.capture.health.last else {
                Issue.record("\(node.capture.health)")
                return
            }
            try FileManager.default.moveItem(atPath: folder + "/gone", toPath: voice)
            try say()
            #expect(node.capture.events("speech.finished").count == 1)
            #expect(node.capture.health.last == .ok)
        }
    }
}

/// Where espeak-ng keeps its voices.
private func espeakData() throws -> String {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    return try #require(
        (folders.map { "/usr/lib/\($0)/espeak-ng-data" } + ["/usr/share/espeak-ng-data"]).first {
            FileManager.default.fileExists(atPath: $0)
        })
}
