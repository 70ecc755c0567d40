// SPDX-License-Identifier: Apache-2.0
import CJack
import Foundation
import Graph
import Synchronization
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("Desired connections are made when a port appears, and again when it comes back")
    func connectionsComeBack() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 2, from: ["band:out_*"], to: ["room"])
        let sinks = try JackPeer("room", server: server, inputs: 2)
        try await eventually("the outputs are connected") {
            sinks.connections(of: "through:speakers_1") == ["room:in_1"]
                && sinks.connections(of: "through:speakers_2") == ["room:in_2"]
        }
        for _ in 0..<2 {
            let band = try JackPeer("band", server: server, plays: [[0], [0]])
            try await eventually("the inputs are connected") {
                sinks.connections(of: "through:mic_1") == ["band:out_1"]
                    && sinks.connections(of: "through:mic_2") == ["band:out_2"]
            }
            band.close()
            #expect(sinks.connections(of: "through:mic_1") == [])
        }
        try await eventually("they are told") {
            through.events.all.contains(.connected(from: "band:out_2", to: "through:mic_2"))
        }
        through.stop()
        sinks.close()
        server.stop()
    }

    @Test("A port that gets its name or an alias later is connected then", arguments: [false, true])
    func laterName(isAlias: Bool) async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1, from: [isAlias ? "usb:left" : "band:wanted"])
        let band = try JackPeer("band", server: server, plays: [[0]])
        try await eventually("it has been looked at") { band.cycles > 20 }
        #expect(band.connections(of: "through:mic_1") == [])
        #expect(band.call(0, isAlias ? "usb:left" : "wanted", isAlias: isAlias))
        try await eventually("it is connected") {
            band.connections(of: "through:mic_1") == [isAlias ? "band:out_1" : "band:wanted"]
        }
        through.stop()
        band.close()
        server.stop()
    }

    @Test("A desired connection that the user takes away stays away when other ports come")
    func userMayDisconnect() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1, to: ["room"])
        let room = try JackPeer("room", server: server, inputs: 1)
        try await eventually("it is connected") { room.connections(of: "through:speakers_1") == ["room:in_1"] }
        try await server.tool("jack_disconnect", "through:speakers_1", "room:in_1")
        let other = try JackPeer("other", server: server, inputs: 1)
        let sure = try PassThrough(name: "sure", server: server, channels: 1, to: ["other"])
        try await eventually("a later wish is served") { room.connections(of: "sure:speakers_1") == ["other:in_1"] }
        #expect(room.connections(of: "through:speakers_1") == [])
        for through in [through, sure] { through.stop() }
        for peer in [room, other] { peer.close() }
        server.stop()
    }

    @Test("Where one of two that are meant goes, the other takes its place, and what the user took away stays away")
    func nextInPlace() async throws {
        let server = try await Jackd.start()
        let first = try JackPeer("band-1", server: server, plays: [[0]])
        let through = try PassThrough(server: server, channels: 1, from: ["band*:out_1"], to: ["room"])
        let room = try JackPeer("room", server: server, inputs: 1)
        try await eventually("the first is connected") {
            room.connections(of: "through:mic_1") == ["band-1:out_1"]
                && room.connections(of: "through:speakers_1") == ["room:in_1"]
        }
        try await server.tool("jack_disconnect", "through:speakers_1", "room:in_1")
        let second = try JackPeer("band-2", server: server, plays: [[0]])
        // Whoever comes later is served later: what appeared before has been looked at then.
        let sure = try PassThrough(name: "sure", server: server, channels: 1, from: ["band-2"])
        try await eventually("a later wish is served") { room.connections(of: "sure:mic_1") == ["band-2:out_1"] }
        #expect(room.connections(of: "through:mic_1") == ["band-1:out_1"])
        first.close()
        try await eventually("the second takes its place") {
            room.connections(of: "through:mic_1") == ["band-2:out_1"]
        }
        #expect(room.connections(of: "through:speakers_1") == [])
        for through in [through, sure] { through.stop() }
        for peer in [second, room] { peer.close() }
        server.stop()
    }

    @Test("Other desired connections replace the old ones, and those that somebody else made stay")
    func otherWishes() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1, to: ["room:in_1"])
        let room = try JackPeer("room", server: server, inputs: 3)
        try await eventually("it is connected") { room.connections(of: "through:speakers_1") == ["room:in_1"] }
        #expect(room.connect("through:speakers_1", "room:in_3"))
        let wish = ExternalPort(node: "speakers", number: 1, isCapture: false, connect: ["room:in_2"])
        _ = try through.driver.register([wish])
        try await eventually("the new wish replaces the old") {
            room.connections(of: "through:speakers_1") == ["room:in_2", "room:in_3"]
        }
        through.stop()
        room.close()
        server.stop()
    }

    @Test("The server dies and starts again, at another rate and block: audio and connections are back")
    func serverDies() async throws {
        let server = try await Jackd.start(rate: 48000, block: 128)
        let through = try PassThrough(
            server: server, channels: 1, from: ["system:capture_1"], to: ["system:playback_*"])
        try await eventually("cycles come") { through.driver.status.cycles > 10 }
        for (rate, block) in [(44100, 256), (48000, 128)] {
            server.crash()
            try await eventually("the loss is noticed") { through.driver.status.state == .lost }
            try server.restart(rate: rate, block: block)
            try await eventually("audio flows again") { through.driver.status.state == .running }
            #expect(through.driver.info.rate == Double(rate))
            #expect(through.driver.info.block == block)
            #expect(through.events.all.contains(.rateOrBlockChanged(rate: Double(rate), block: block)))
            try await eventually("both connections are back") {
                let list = try await server.tool("jack_lsp", "-c", "through")
                return list.contains("through:mic_1\n   system:capture_1") && list.contains("system:playback_1")
            }
            try await expectExact(through, server, seed: UInt64(rate))
        }
        #expect(through.events.all.filter { $0 == .serverBack }.count == 2)
        through.stop()
        server.stop()
    }

    @Test("Two drivers of one process both come back")
    func bothComeBack() async throws {
        let server = try await Jackd.start()
        let graphs = try (1...2).map { _ in try PassThrough(server: server, channels: 1) }
        server.crash()
        try server.restart()
        for through in graphs {
            try await eventually("audio flows again") {
                through.events.all.contains(.serverBack) && through.driver.status.state == .running
            }
        }
        for through in graphs { try await expectExact(through, server, seed: 1) }
        for through in graphs { through.stop() }
        server.stop()
    }

    @Test("Ports that are asked for while there is no server are there when it is back")
    func registerWithoutServer() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        server.crash()
        try await eventually("the loss is noticed") { through.driver.status.state == .lost }
        let late = ExternalPort(node: "late", number: 1, isCapture: true)
        #expect(try through.driver.register([late]).count == 1)
        through.driver.retire([ExternalPort(node: "mic", number: 1, isCapture: true)])
        try server.restart()
        try await eventually("audio flows again") { through.driver.status.state == .running }
        let list = try await server.tool("jack_lsp")
        #expect(list.contains("through:late_1"))
        #expect(!list.contains("through:mic_1"))
        through.stop()
        server.stop()
    }

    @Test("Ports that are asked for before the end of the server is noticed are there when it is back")
    func registerAtTheEnd() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        for round in 1...5 {
            server.crash()
            let late = ExternalPort(node: "late", number: round, isCapture: true)
            #expect(try through.driver.register([late]).count == 1)
            try server.restart()
            try await eventually("the server is noticed to be back") {
                through.events.all.filter { $0 == .serverBack }.count == round
            }
            #expect(try await server.tool("jack_lsp").contains("through:late_\(round)\n"))
        }
        through.stop()
        server.stop()
    }

    @Test("A server that was started again before the driver starts is used as if it had been the first")
    func serverStartsAgainFirst() async throws {
        let server = try await Jackd.start()
        let driver = try JackDriver(name: "through", server: server.name)
        server.crash()
        try server.restart()
        try await eventually("the new server answers") { try await server.tool("jack_lsp").contains("system:") }
        let through = try PassThrough(driver, channels: 1, to: ["system:playback_1"])
        #expect(driver.status.state == .running)
        try await eventually("it is connected") {
            try await server.tool("jack_lsp", "-c", "through:speakers").contains("system:playback_1")
        }
        try await expectExact(through, server, seed: 9)
        through.stop()
        server.stop()
    }

    @Test("A hung server is told as stalled, its end as resumed, while status still answers")
    func serverHangs() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        try await eventually("cycles come") { through.driver.status.cycles > 10 }
        server.hang()
        // Its state changes before that is told.
        try await eventually("the hang is noticed") { through.events.all.contains(.stalled) }
        #expect(through.driver.status.state == .stalled)
        server.unhang()
        try await eventually("cycles come again") { through.events.all.contains(.resumed) }
        #expect(through.driver.status.state == .running)
        try await expectExact(through, server, seed: 5)
        #expect(!through.events.all.contains(.reactivated))
        through.stop()
        server.stop()
    }

    @Test("A driver that the server no longer calls puts itself back into the graph")
    func deactivated() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1, to: ["system:playback_1"])
        try await eventually("cycles come") { through.driver.status.cycles > 10 }
        let client = try #require((through.driver as? JackDriver)?.client)
        jack_deactivate(client)
        try await eventually("it is active again") { through.events.all.contains(.reactivated) }
        try await eventually("cycles come again") { through.driver.status.state == .running }
        try await eventually("the connection is back") {
            try await server.tool("jack_lsp", "-c", "through:speakers").contains("system:playback_1")
        }
        through.stop()
        server.stop()
    }

    /// A server waits up to ten times its patience, of half a second, for one client to leave or to come; several times here
    /// where the machine is busy.
    private static let longest = 150.0

    private func runs(_ driver: JackDriver) async throws {
        let cycles = driver.status.cycles
        try await eventually("cycles come", seconds: Self.longest) { driver.status.cycles > cycles + 10 }
    }

    @Test("A callback that fails, so that the server throws us out, is followed by another life in the graph")
    func callbackFails() async throws {
        // A server that waits for its clients waits up to 50 s for one that has left.
        let server = try await Jackd.start(synchronous: false)
        let through = try PassThrough(server: server, channels: 1, to: ["system:playback_1"])
        let driver = try #require(through.driver as? JackDriver)
        for _ in 1...2 {
            try await runs(driver)
            // On a busy machine it may have happened without us, too.
            let lives = through.events.all.count { $0 == .reactivated }
            driver.cycle.pointee.answer.store(1, ordering: .relaxed)
            try await eventually("it is active again", seconds: Self.longest) {
                through.events.all.count { $0 == .reactivated } > lives && driver.status.state == .running
            }
        }
        try await runs(driver)
        try await eventually("the connection is back") {
            try await server.tool("jack_lsp", "-c", "through:speakers").contains("system:playback_1")
        }
        let player = try JackPeer("player", server: server, plays: [noise(200_000, seed: 7)])
        let recorder = try JackPeer("recorder", server: server, inputs: 1, recordingFrames: 400_000)
        #expect(player.connect("player:out_1", "through:mic_1"))
        #expect(recorder.connect("through:speakers_1", "recorder:in_1"))
        player.play()
        try await eventually("the signal is played") { player.hasPlayed }
        player.close()
        recorder.close()
        #expect(recorder.recording(0).contains { $0 != 0 }, "silence came")
        through.stop()
        server.stop()
    }

    @Test("Ports are given back at once although the server hangs, and go when it goes on")
    func retireWhileHung() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        try await eventually("cycles come") { through.driver.status.cycles > 10 }
        server.hang()
        let isBack = Atomic(false)
        Thread {
            through.driver.retire([ExternalPort(node: "mic", number: 1, isCapture: true)])
            isBack.store(true, ordering: .releasing)
        }.start()
        try await eventually("it returns") { isBack.load(ordering: .acquiring) }
        server.unhang()
        try await eventually("the port is gone") {
            let list = try await server.tool("jack_lsp")
            return list.contains("through:speakers_1") && !list.contains("through:mic_1")
        }
        through.stop()
        server.stop()
    }

    @Test("`stop` returns although the server hangs")
    func stopWhileHung() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        try await eventually("cycles come") { through.driver.status.cycles > 10 }
        server.hang()
        try await eventually("the hang is noticed") { through.driver.status.state == .stalled }
        through.stop()
        #expect(through.driver.status.state == .stopped)
        server.unhang()
        try await eventually("the client leaves") { !JackLibrary.hasClients }
        server.stop()
    }
}
