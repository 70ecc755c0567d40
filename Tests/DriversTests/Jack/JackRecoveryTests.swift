// SPDX-License-Identifier: Apache-2.0
import CJack
import Graph
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("desired connections are made when a port appears, and again when it comes back")
    func connectionsComeBack() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 2, from: ["band:out_*"], to: ["room"])
        let sinks = try JackPeer("room", server: server, inputs: 2)
        try await eventually("the outputs are connected") {
            sinks.connections(of: "wire:speakers_1") == ["room:in_1"]
                && sinks.connections(of: "wire:speakers_2") == ["room:in_2"]
        }
        for _ in 0..<2 {
            let band = try JackPeer("band", server: server, plays: [[0], [0]])
            try await eventually("the inputs are connected") {
                sinks.connections(of: "wire:mic_1") == ["band:out_1"]
                    && sinks.connections(of: "wire:mic_2") == ["band:out_2"]
            }
            band.close()
            #expect(sinks.connections(of: "wire:mic_1") == [])
        }
        #expect(wire.events.all.contains(.connected(from: "band:out_2", to: "wire:mic_2")))
        wire.stop()
        sinks.close()
        server.stop()
    }

    @Test("a desired connection that the user takes away stays away when other ports come")
    func userMayDisconnect() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1, to: ["room"])
        let room = try JackPeer("room", server: server, inputs: 1)
        try await eventually("it is connected") { room.connections(of: "wire:speakers_1") == ["room:in_1"] }
        try await server.tool("jack_disconnect", "wire:speakers_1", "room:in_1")
        let other = try JackPeer("other", server: server, inputs: 1)
        let sure = try Wire(name: "sure", server: server, channels: 1, to: ["other"])
        try await eventually("a later wish is served") { room.connections(of: "sure:speakers_1") == ["other:in_1"] }
        #expect(room.connections(of: "wire:speakers_1") == [])
        for wire in [wire, sure] { wire.stop() }
        for peer in [room, other] { peer.close() }
        server.stop()
    }

    @Test("other desired connections replace the old ones, and those that somebody else made stay")
    func otherWishes() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1, to: ["room:in_1"])
        let room = try JackPeer("room", server: server, inputs: 3)
        try await eventually("it is connected") { room.connections(of: "wire:speakers_1") == ["room:in_1"] }
        #expect(room.connect("wire:speakers_1", "room:in_3"))
        let wish = ExternalPort(node: "speakers", number: 1, isCapture: false, connect: ["room:in_2"])
        _ = try wire.driver.register([wish])
        try await eventually("the new wish replaces the old") {
            room.connections(of: "wire:speakers_1") == ["room:in_2", "room:in_3"]
        }
        wire.stop()
        room.close()
        server.stop()
    }

    @Test("the server dies and starts again, at another rate and block: audio and connections are back")
    func serverDies() async throws {
        let server = try await Jackd.start(rate: 48000, block: 128)
        let wire = try Wire(server: server, channels: 1, from: ["system:capture_1"], to: ["system:playback_*"])
        try await eventually("cycles come") { wire.driver.status.cycles > 10 }
        for (rate, block) in [(44100, 256), (48000, 128)] {
            server.crash()
            try await eventually("the loss is noticed") { wire.driver.status.state == .lost }
            try server.restart(rate: rate, block: block)
            try await eventually("audio flows again") { wire.driver.status.state == .running }
            #expect(wire.driver.info.rate == Double(rate))
            #expect(wire.driver.info.block == block)
            #expect(wire.events.all.contains(.rateOrBlockChanged(rate: Double(rate), block: block)))
            try await eventually("both connections are back") {
                let list = try await server.tool("jack_lsp", "-c", "wire")
                return list.contains("wire:mic_1\n   system:capture_1") && list.contains("system:playback_1")
            }
            try await expectExact(wire, server, seed: UInt64(rate))
        }
        #expect(wire.events.all.filter { $0 == .serverBack }.count == 2)
        wire.stop()
        server.stop()
    }

    @Test("two drivers of one process both come back")
    func bothComeBack() async throws {
        let server = try await Jackd.start()
        let wires = try (1...2).map { _ in try Wire(server: server, channels: 1) }
        server.crash()
        try server.restart()
        for wire in wires {
            try await eventually("audio flows again") {
                wire.events.all.contains(.serverBack) && wire.driver.status.state == .running
            }
        }
        for wire in wires { try await expectExact(wire, server, seed: 1) }
        for wire in wires { wire.stop() }
        server.stop()
    }

    @Test("ports that are asked for while there is no server are there when it is back")
    func registerWithoutServer() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1)
        server.crash()
        try await eventually("the loss is noticed") { wire.driver.status.state == .lost }
        let late = ExternalPort(node: "late", number: 1, isCapture: true)
        #expect(try wire.driver.register([late]).count == 1)
        wire.driver.retire([ExternalPort(node: "mic", number: 1, isCapture: true)])
        try server.restart()
        try await eventually("audio flows again") { wire.driver.status.state == .running }
        let list = try await server.tool("jack_lsp")
        #expect(list.contains("wire:late_1"))
        #expect(!list.contains("wire:mic_1"))
        wire.stop()
        server.stop()
    }

    @Test("a hung server is told as stalled, its end as resumed, while status still answers")
    func serverHangs() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1)
        try await eventually("cycles come") { wire.driver.status.cycles > 10 }
        server.hang()
        try await eventually("the hang is noticed") { wire.driver.status.state == .stalled }
        #expect(wire.events.all.contains(.stalled))
        server.unhang()
        try await eventually("cycles come again") { wire.driver.status.state == .running }
        #expect(wire.events.all.contains(.resumed))
        try await expectExact(wire, server, seed: 5)
        #expect(!wire.events.all.contains(.reactivated))
        wire.stop()
        server.stop()
    }

    @Test("a driver that the server no longer calls puts itself back into the graph")
    func deactivated() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1, to: ["system:playback_1"])
        try await eventually("cycles come") { wire.driver.status.cycles > 10 }
        let client = try #require((wire.driver as? JackDriver)?.client)
        jack_deactivate(client)
        try await eventually("it is active again") { wire.events.all.contains(.reactivated) }
        try await eventually("cycles come again") { wire.driver.status.state == .running }
        try await eventually("the connection is back") {
            try await server.tool("jack_lsp", "-c", "wire:speakers").contains("system:playback_1")
        }
        wire.stop()
        server.stop()
    }

    @Test("a callback that fails, so that the server throws us out, is followed by another life in the graph")
    func callbackFails() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1, to: ["system:playback_1"])
        let driver = try #require(wire.driver as? JackDriver)
        for _ in 1...2 {
            let cycles = driver.status.cycles
            try await eventually("cycles come") { driver.status.cycles > cycles + 10 }
            // On a busy machine it may have happened without us, too.
            let lives = wire.events.all.count { $0 == .reactivated }
            driver.cycle.pointee.answer.store(1, ordering: .relaxed)
            // This server waits for a cycle while it throws us out, and if it misses that, ten times its patience of 5 s.
            try await eventually("it is active again", seconds: 150) {
                wire.events.all.count { $0 == .reactivated } > lives && driver.status.state == .running
            }
        }
        try await eventually("the connection is back") {
            try await server.tool("jack_lsp", "-c", "wire:speakers").contains("system:playback_1")
        }
        try await expectExact(wire, server, seed: 7)
        wire.stop()
        server.stop()
    }

    @Test("stop returns although the server hangs")
    func stopWhileHung() async throws {
        let server = try await Jackd.start()
        let wire = try Wire(server: server, channels: 1)
        try await eventually("cycles come") { wire.driver.status.cycles > 10 }
        server.hang()
        try await eventually("the hang is noticed") { wire.driver.status.state == .stalled }
        wire.stop()
        #expect(wire.driver.status.state == .stopped)
        server.unhang()
        try await eventually("the client leaves") { !JackLibrary.hasClients }
        server.stop()
    }
}
