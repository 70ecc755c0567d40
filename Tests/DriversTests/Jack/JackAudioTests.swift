// SPDX-License-Identifier: Apache-2.0
import Graph
import TestSupport

@testable import Drivers

@Suite("JACK driver", .serialized, .timeLimit(.minutes(15)))
struct JackDriverTests {}

extension JackDriverTests {
    @Test("Ports carry the client's name, the node's name and a number from 1")
    func portNames() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(name: "voice", server: server, channels: 2)
        let list = try await server.tool("jack_lsp", "-p", "-t")
        let lines = list.split(separator: "\n").map(String.init)
        for (name, direction) in [
            ("mic_1", "input"), ("mic_2", "input"), ("speakers_1", "output"), ("speakers_2", "output"),
        ] {
            let index = try #require(lines.firstIndex(of: "voice:\(name)"), "\(list)")
            #expect(lines[index + 1].contains("properties: \(direction),"))
            #expect(lines[index + 2].contains("32 bit float mono audio"))
        }
        through.stop()
        server.stop()
    }

    @Test("What one program plays reaches another bit for bit", arguments: [64, 256, 1024])
    func bitExact(block: Int) async throws {
        let server = try await Jackd.start(block: block)
        let through = try PassThrough(server: server, channels: 2)
        try await expectExact(through, server, seed: UInt64(block))
        through.stop()
        server.stop()
    }

    @Test("The audio thread has a name by which others find it") func threadName() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        try await eventually("it is called vg-audio") {
            let path = "/proc/self/task/\(through.driver.audioThread)/comm"
            return (try? String(contentsOfFile: path, encoding: .utf8)) == "vg-audio\n"
        }
        through.stop()
        server.stop()
    }

    @Test("Two drivers work on one server at once, under names of their own")
    func twoDrivers() async throws {
        let server = try await Jackd.start()
        let first = try PassThrough(server: server, channels: 1)
        let second = try PassThrough(server: server, channels: 1)
        #expect(first.driver.info.client == "through")
        #expect(second.driver.info.client != "through")
        try await expectExact(first, server, seed: 1)
        try await expectExact(second, server, seed: 2)
        first.stop()
        try await expectExact(second, server, seed: 3)
        second.stop()
        server.stop()
    }

    @Test("A port of the same name and kind is kept with its connections, one of another kind is replaced")
    func registerAgain() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        let peer = try JackPeer("peer", server: server, plays: [[0]])
        #expect(peer.connect("peer:out_1", "through:mic_1"))
        let mic = ExternalPort(node: "mic", number: 1, isCapture: true)
        #expect(try through.driver.register([mic]) == [through.handles[0]])
        // What the server did is seen by its clients from one of its next cycles on.
        try await eventually("connected") { peer.connections(of: "peer:out_1") == ["through:mic_1"] }
        var midi = mic
        midi.isMIDI = true
        _ = try through.driver.register([midi])
        try await eventually("disconnected") { peer.connections(of: "peer:out_1") == [] }
        let list = try await server.tool("jack_lsp", "-t")
        #expect(list.contains("through:mic_1\n\t8 bit raw midi"), "\(list)")
        through.driver.retire([midi])
        #expect(try await !server.tool("jack_lsp").contains("through:mic_1"))
        through.stop()
        server.stop()
    }

    @Test("The first cycle waits for the connections, but no connection for the block of the one before")
    func quickConnections() async throws {
        let server = try await Jackd.start(block: 2048)
        let peer = try JackPeer("peer", server: server, inputs: 12)
        let through = try PassThrough(server: server, channels: 12, to: ["peer:in_*"])
        // Callbacks before the graph's first cycle.
        let waited = Int(through.driver.status.cycles) - Int(through.engine.counters.cycles)
        print("figure: \(waited) blocks until 12 connections stood")
        #expect(waited < 8)
        #expect(peer.connections(of: "peer:in_12") == ["through:speakers_12"])
        through.stop()
        peer.close()
        server.stop()
    }

    @Test("Another block size while running leaves the audio exact, and the owner hears of it first")
    func blockSizeChange() async throws {
        let server = try await Jackd.start(block: 256)
        let through = try PassThrough(server: server, channels: 1)
        let events = through.events
        for block in [64, 1024, 8192, 128] {
            try await server.tool("jack_bufsize", "\(block)")
            #expect(events.all.contains(.rateOrBlockChanged(rate: 48000, block: block)))
            #expect(through.driver.info.block == block)
            try await expectExact(through, server, seed: UInt64(block))
        }
        through.stop()
        server.stop()
    }
}
