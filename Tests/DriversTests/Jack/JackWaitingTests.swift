// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("A driver whose server is not there waits for it, tells that, and plays through it as soon as it is")
    func waitsForServer() async throws {
        let server = try await Jackd.start()
        server.end(SIGTERM)
        var request = DriverRequest(kind: .jack, client: "through", server: server.name)
        request.waits = true
        let driver = try DriverChooser.open(request)
        #expect(driver.info.kind == .jack && driver.info.notice.contains("'\(server.name)' is not running"))
        let through = try PassThrough(driver, channels: 1)
        #expect(driver.status.state == .waiting && driver.status.cycles == 0)
        try server.restart(rate: 44100, block: 128)
        try await eventually("audio flows") { driver.status.state == .running && driver.status.cycles > 10 }
        try await eventually("it is told") { through.events.all.contains(.serverFound) }
        #expect(driver.info.rate == 44100 && driver.info.block == 128 && driver.info.notice == "")
        #expect(!through.events.all.contains(.serverBack))
        try await expectExact(through, server, seed: 37)
        // From then on it comes back like any other.
        server.crash()
        try server.restart()
        try await eventually("it is back") { through.events.all.contains(.serverBack) }
        through.stop()
        server.stop()
    }

    @Test(
        "A server that goes between its choice and the start is waited for, or is an error", arguments: [true, false])
    func goneAtStart(waits: Bool) async throws {
        let server = try await Jackd.start()
        var request = DriverRequest(kind: .jack, client: "through", server: server.name)
        request.waits = waits
        let driver = try DriverChooser.open(request)
        server.crash()
        guard waits else {
            let error = #expect(throws: DriverError.self) { try PassThrough(driver, channels: 1) }
            #expect(error?.fault.message == "the JACK server did not activate the client")
            return server.stop()
        }
        let through = try PassThrough(driver, channels: 1)
        try await eventually("it is told") {
            through.events.all.contains { if case .serverLost = $0 { true } else { false } }
        }
        #expect(driver.status.state == .lost && driver.status.cycles == 0)
        try server.restart()
        try await eventually("it is back") { through.events.all.contains(.serverBack) }
        try await expectExact(through, server, seed: 41)
        through.stop()
        server.stop()
    }

    @Test("One that waits ends at once when it is told to")
    func waitingEnds() async throws {
        let turn = try await JackTurn.wait()
        var request = DriverRequest(kind: .jack, server: "vgt-nobody")
        request.waits = true
        let through = try PassThrough(DriverChooser.open(request), channels: 1)
        through.stop()
        #expect(through.driver.status.state == .stopped)
        turn.end()
    }

    @Test("A server of our own that nobody hears gives way to one that comes, and ends")
    func ownServerGivesWay() async throws {
        let server = try await Jackd.start()
        server.end(SIGTERM)
        let request = DriverRequest(kind: .dummy, client: "through", server: "vgt-own")
        let driver = try #require(try await chosen(request) as? JackDriver)
        driver.hope(for: [ServerPlace(name: server.name, library: .any)], request)
        let own = try #require(driver.server)
        let through = try PassThrough(driver, channels: 1)
        try await eventually("it plays by itself") { driver.status.cycles > 10 }
        #expect(driver.info.kind == .dummy && own.isRunning)
        try server.restart(rate: 48000, block: 512)
        try await eventually("it plays through the other") { through.events.all.contains(.serverFound) }
        #expect(driver.info.kind == .jack && !driver.info.ownServer && driver.info.server == server.name)
        #expect(!own.isRunning)
        try await expectExact(through, server, seed: 24)
        through.stop()
        server.stop()
    }

    @Test("Where no server of our own can be, a timer plays until one comes")
    func timerGivesWay() async throws {
        let server = try await Jackd.start()
        server.end(SIGTERM)
        let driver = JackDriver(
            hoping: [ServerPlace(name: server.name, library: .any)], DriverRequest(client: "through"), isTimed: true,
            notice: "nobody hears it")
        let through = try PassThrough(driver, channels: 1)
        try await eventually("the timer calls") { driver.status.cycles > 10 }
        #expect(driver.info.kind == .timer && driver.status.state == .running)
        try server.restart()
        try await eventually("it plays through the server") { through.events.all.contains(.serverFound) }
        #expect(driver.info.kind == .jack && driver.info.notice == "")
        try await expectExact(through, server, seed: 25)
        through.stop()
        server.stop()
    }
}
