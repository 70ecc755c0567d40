// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import Nodes
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("MIDI passes from one program to another: every byte, every frame", arguments: [64, 1024])
    func midi(block: Int) async throws {
        let server = try await Jackd.start(block: block)
        let driver = try JackDriver(name: "through", server: server.name)
        let engine = try startMIDIThrough(driver)
        let peer = try JackMIDIPeer("peer", server: server)
        #expect(peer.connect("peer:out", "through:keys_1"))
        #expect(peer.connect("through:synth_1", "peer:in"))
        let before = peer.cycles
        try await eventually("the graph is in order") { peer.cycles > before + 8 }
        let sent = moments(seed: UInt64(block))
        peer.play(sent)
        try await eventually("all has come") { peer.heard.count >= sent.count }
        let heard = peer.heard
        #expect(heard.map(\.bytes) == sent.map(\.bytes))
        // A program that feeds itself through another hears itself a whole number of blocks later, always the same.
        let delays = Set(zip(heard, sent).map { $0.frame - $1.frame })
        #expect(delays.count == 1 && delays.allSatisfy { $0 >= 0 && $0 % block == 0 }, "\(delays)")
        driver.stop()
        peer.close()
        server.stop()
        withExtendedLifetime(engine) {}
    }

    @Test("What is held ends when its source is disconnected, and when its program ends", arguments: [false, true])
    func sourceGoes(isClosed: Bool) async throws {
        let server = try await Jackd.start()
        let driver = try JackDriver(name: "through", server: server.name)
        let engine = try startMIDIThrough(driver)
        let keys = try JackMIDIPeer("keys-of", server: server)
        let ear = try JackMIDIPeer("ear", server: server)
        #expect(keys.connect("keys-of:out", "through:keys_1") && ear.connect("through:synth_1", "ear:in"))
        let before = ear.cycles
        try await eventually("the graph is in order") { ear.cycles > before + 8 }
        ear.play([])
        let held: [[UInt8]] = [[0x90, 40, 100], [0x91, 41, 100], [0x90, 42, 1], [0xB0, 64, 127], [0xE1, 0, 80]]
        keys.play((held + [[0x80, 42, 0]]).map { MIDIMoment(0, $0) })
        try await eventually("it has come") { ear.heard.count == held.count + 1 }
        if isClosed {
            keys.close()
        } else {
            try await server.tool("jack_disconnect", "keys-of:out", "through:keys_1")
        }
        let ends: [[UInt8]] = [[0x80, 40, 64], [0x81, 41, 64], [0xB0, 64, 0], [0xE1, 0, 64]]
        try await eventually("all of it ends: \(ear.heard.map(\.bytes))") {
            ear.heard.dropFirst(held.count + 1).map(\.bytes) == ends
        }
        driver.stop()
        ear.close()
        keys.close()
        server.stop()
        withExtendedLifetime(engine) {}
    }

    @Test("A block carries as much as a port of JACK: 20000 bytes of system exclusive, and a thousand events")
    func large() async throws {
        let server = try await Jackd.start(block: 1024)
        let driver = try JackDriver(name: "through", server: server.name)
        let engine = try startMIDIThrough(driver)
        let peer = try JackMIDIPeer("peer", server: server)
        #expect(peer.connect("peer:out", "through:keys_1") && peer.connect("through:synth_1", "peer:in"))
        let before = peer.cycles
        try await eventually("the graph is in order") { peer.cycles > before + 8 }
        let long = MIDIMoment(0, [0xF0] + Array(repeating: 0x55, count: 20_000) + [0xF7])
        peer.play([long])
        try await eventually("the long one has come") { peer.heard.map(\.bytes) == [long.bytes] }
        peer.play((0..<1000).map { MIDIMoment($0, [0xB0, UInt8($0 % 120), UInt8($0 / 120)]) })
        try await eventually("all have come") { peer.heard.count == 1000 }
        #expect(engine.counters.lostMIDI == 0)
        driver.stop()
        peer.close()
        server.stop()
    }

    /// Notes, controllers and system exclusive messages at scattered frames, some on the same.
    private func moments(seed: UInt64) -> [MIDIMoment] {
        var random = TestRandom(seed: seed)
        var frame = 0
        return (0..<400).map { index in
            frame += Int.random(in: 0...90, using: &random)
            let value = UInt8.random(in: 0...127, using: &random)
            switch index % 4 {
            case 0: return MIDIMoment(frame, [0x90, value, 100])
            case 1: return MIDIMoment(frame, [0x80, value, 0])
            case 2: return MIDIMoment(frame, [0xB3, 7, value])
            default: return MIDIMoment(frame, [0xF0] + Array(repeating: value, count: Int(value) / 4) + [0xF7])
            }
        }
    }

    private func startMIDIThrough(_ driver: JackDriver) throws -> Engine {
        func end(_ type: String, _ name: String) throws -> ResolvedGraph.Node {
            ResolvedGraph.Node(
                instance: try NodeInstance(
                    type: try #require(builtInNodeType(type)), name: name, settings: Settings([:])),
                description: NodeDescription(name: name, type: type))
        }
        let graph = ResolvedGraph(
            nodes: [try end("midi-input", "keys"), try end("midi-output", "synth")],
            links: [ResolvedGraph.Link(fromNode: 0, fromPort: 0, toNode: 1, target: .port(0), kind: VG_MIDI_PORT)])
        let schedule = try Compiler.compile(graph, rate: driver.info.rate, maxBlock: 8192)
        let engine = Engine()
        schedule.setHandles(try driver.register(schedule.externals))
        engine.publish(schedule)
        try driver.start(engine.audio, onEvent: { _ in })
        return engine
    }
}
