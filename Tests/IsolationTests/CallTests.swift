// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Graph
import NodeKit
import System
import Testing

@testable import Isolation

/// Isolated nodes have actions, settings, events and the rest like others.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CallTests {
    @Test("An action gives its results, at once or later, and others are done meanwhile")
    func results() throws {
        let node = try LoneNode()
        #expect(try node.perform("property", ["key": .string("word")]) == ["value": .string("")])
        let later = node.begin("later")
        #expect(try node.perform("property", ["key": .string("word"), "value": .string("calm")]).isEmpty)
        #expect(try node.perform("property", ["key": .string("word")]) == ["value": .string("calm")])
        #expect(later.withLock { $0 == nil })
        node.tell("release")
        try waitUntil("it ends") { later.withLock { $0 != nil } }
        #expect(try later.withLock { $0 }?.get() == ["text": .string("at last")])
        let error = #expect(throws: NodeError.self) { try node.perform("property", ["key": .string("sword")]) }
        #expect(error?.message == "no property sword")
    }

    @Test("An action that has not ended ends with the process, with the reason")
    func orphan() throws {
        let node = try LoneNode()
        let later = node.begin("later")
        _ = try node.perform("host")
        node.tell("at once segv")
        try waitUntil("it ends") { later.withLock { $0 != nil } }
        let error = #expect(throws: NodeError.self) { try later.withLock { $0 }?.get() }
        #expect(error?.message == "libvg-unruly.so crashed in receive (SIGSEGV)")
    }

    @Test("An urgent action overtakes those that the process has not begun")
    func urgent() throws {
        let node = try LoneNode()
        let slow = node.begin("property", ["key": .string("word"), "value": .string("slow")])
        try waitUntil("it has begun") { node.told.withLock { $0.events.contains { $0.name == "slow.begun" } } }
        let preset = node.begin("preset", ["preset": .string("3")])
        try waitUntil("it is sent") { node.instance.hasNoWork }
        let hush = node.begin("hush")
        try waitUntil("all are done") { [slow, preset, hush].allSatisfy { $0.withLock { $0 != nil } } }
        #expect(try node.who()["history"] == .string("word slow, hush now, preset 3"))
    }

    @Test("What the host knows reaches the node, and the way to the ear and what is read also when they change")
    func host() throws {
        let node = try LoneNode()
        #expect(
            try node.perform("host")
                == [
                    "graph": .string("lone"), "models": .string("/models of a test"), "latency": .integer(64),
                    "wanted": .integer(5),
                ])
        node.told.withLock { $0.outputLatency = 480 }
        try waitUntil("the new latency is told") { try node.perform("host")["latency"] == .integer(480) }
        node.told.withLock { $0.wanted = 6 }
        try waitUntil("what is read is told") { try node.perform("host")["wanted"] == .integer(6) }
        try node.crash()
        let known = try node.perform("host")
        #expect(known["latency"] == .integer(480) && known["wanted"] == .integer(6))
    }

    @Test("A live setting is changed or refused, and changed again after a crash")
    func settings() throws {
        let node = try LoneNode(settings: ["mood": .string("fine")])
        #expect(try node.who()["mood"] == .string("fine"))
        try node.set("mood", "bright")
        let error = #expect(throws: NodeError.self) { try node.set("mood", "gloomy") }
        #expect(error?.message == "no mood today")
        try node.crash()
        let who = try node.who()
        #expect(who["mood"] == .string("bright") && who["history"] == .string("mood bright"))
    }

    @Test("Messages, events, series and audio arrive as they were sent")
    func publications() throws {
        let node = try LoneNode()
        let message = Message(.text("who"), item: 7, position: 1234, partial: true, urgent: true)
        node.instance.receive(message, port: 0)
        try waitUntil("it answers") { node.told.withLock { !$0.messages.isEmpty } }
        #expect(node.told.withLock(\.messages) == [message])
        #expect(node.events("who").first?.position == 1234)
        node.instance.receive(Message(.text("measure"), position: 99), port: 0)
        try waitUntil("it measures") { node.told.withLock { !$0.audio.isEmpty } }
        let (frame, audio) = node.told.withLock { ($0.frames.first, $0.audio.first) }
        #expect(frame?.rows == [[0.5, 0.25], [0.75]] && frame?.position == 99)
        #expect(audio?.samples == [0.5, 0.25] && audio?.rate == 48_000 && audio?.position == 99)
        node.tell("count")
        try waitUntil("it counts") { node.told.withLock { $0.counters["asked"] == 3 } }
    }

    @Test("What a node says of its health is told, and while its process is away, that")
    func health() throws {
        let node = try LoneNode(testPolicy { $0.saveInterval = 1000 })
        node.tell("unwell")
        try waitUntil("it is unwell") { node.told.withLock { $0.health.count == 1 } }
        try node.crash()
        node.tell("unwell")
        try waitUntil("it is unwell again") { node.told.withLock { $0.health.count >= 4 } }
        node.tell("well")
        try waitUntil("it is well") { node.told.withLock { $0.health.count >= 5 } }
        let told = node.told.withLock(\.health)
        #expect(told.map(\.name) == ["degraded", "failed", "ok", "degraded", "ok"])
        #expect(told[0] == .degraded("it has a headache") && told[3] == told[0])
        #expect(told[1].reason?.contains("libvg-unruly.so crashed") == true, "\(told[1])")
    }

    @Test("The last words of a node arrive before its end", arguments: [false, true])
    func finish(offline: Bool) throws {
        let node = try LoneNode(offline: offline)
        node.instance.finish()
        #expect(node.events("finish.told").count == 1 && node.told.withLock { $0.messages == [.text("who")] })
    }

    @Test("A type in a process of its own declares what the type declares, and what is told of its process")
    func declarations() throws {
        let (type, path) = try unrulyType()
        let isolated = try #require(Isolator(Isolation()).isolated(type, path: path, isGroup: false))
        let (real, second) = (NodeDeclarations(type), NodeDeclarations(isolated))
        #expect(real.settings.map(\.key) == second.settings.map(\.key))
        #expect(real.settings.map(\.isLive) == second.settings.map(\.isLive))
        #expect(real.actions.map(\.name) == second.actions.map(\.name))
        #expect(real.actions.map(\.isLasting) == second.actions.map(\.isLasting))
        #expect(real.actions.map(\.isUrgent) == second.actions.map(\.isUrgent))
        #expect(real.series == second.series)
        #expect(second.events == real.events + second.events.suffix(3))
        #expect(second.events.suffix(3).map(\.name) == ["plugin.failed", "plugin.started", "plugin.late"])
        let node = try LoneNode()
        try node.crash()
        for event in second.events.suffix(2).dropLast() + second.events.suffix(3).prefix(1) {
            let told = try #require(node.events(event.name).first)
            #expect(Set(told.fields.keys) == Set(event.fields.map(\.name)))
        }
    }
}
