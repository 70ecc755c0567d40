// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import System
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("Our own server starts, works, and ends with the driver")
    func ownServer() async throws {
        let turn = try await JackTurn.wait()
        let driver = try await chosen(DriverRequest(kind: .dummy, server: "vgt-own", rate: 44100, block: 64))
        #expect(driver.info.kind == .dummy)
        #expect(driver.info.ownServer)
        #expect(driver.info.server == "vgt-own")
        #expect(driver.info.rate == 44100)
        #expect(driver.info.block == 64)
        let through = try PassThrough(driver, channels: 1)
        try await eventually("cycles come") { driver.status.cycles > 10 }
        let server = try #require((driver as? JackDriver)?.server)
        if Scheduling.isPermitted(priority: 70) {
            #expect(driver.status.scheduling.isRealtime)
            #expect(driver.status.scheduling.priority > 0)
        }
        #expect(getpgid(server.processID) == server.processID)
        through.stop()
        #expect(!server.isRunning)
        turn.end()
    }

    @Test("Our own server is started again when it dies")
    func ownServerDies() async throws {
        let turn = try await JackTurn.wait()
        let driver = try await chosen(DriverRequest(kind: .dummy, server: "vgt-own"))
        let through = try PassThrough(driver, channels: 1, to: ["system:playback_1"])
        let server = try #require((driver as? JackDriver)?.server)
        let before = server.processID
        try await eventually("cycles come") { driver.status.cycles > 10 }
        kill(before, SIGKILL)
        try await eventually("audio flows again") { through.events.all.contains(.serverBack) }
        #expect(server.processID != before)
        through.stop()
        turn.end()
    }

    @Test("A running server is used, and a second one of its name refused")
    func runningServer() async throws {
        let server = try await Jackd.start()
        let driver = try DriverChooser.open(DriverRequest(kind: .auto, client: "chosen", server: server.name))
        #expect(driver.info.kind == .jack)
        #expect(!driver.info.ownServer)
        #expect(driver.info.client == "chosen")
        #expect(driver.info.notice == "")
        driver.stop()
        let error = #expect(throws: DriverError.self) {
            try DriverChooser.open(DriverRequest(kind: .dummy, server: server.name))
        }
        #expect(error?.fault.message == "a JACK server named '\(server.name)' is running already")
        server.stop()
    }

    @Test("A rate and a block that a running server does not have are told as not heeded")
    func otherFormat() async throws {
        let server = try await Jackd.start(rate: 44100, block: 64)
        for (rate, block, isHeeded) in [(44100, 64, true), (48000, 64, false), (44100, 128, false)] {
            let driver = try DriverChooser.open(
                DriverRequest(kind: .jack, server: server.name, rate: rate, block: block))
            #expect(driver.info.notice.isEmpty == isHeeded)
            #expect(isHeeded || driver.info.notice.hasSuffix("it runs at 44100 Hz in blocks of 64"))
            driver.stop()
        }
        server.stop()
    }

    @Test("Names are read from libjack's memory as it lays them out, and rubbish there is none")
    func serverNames() async throws {
        let server = try await Jackd.start()
        let own = ServerNames.entries().first { $0.name == server.name }
        #expect(own == ServerNames.Entry(name: server.name, user: geteuid(), process: server.processID))
        #expect(own?.isDead == false && ServerNames.running.contains(server.name))
        server.stop()
        #expect(!ServerNames.running.contains(server.name))
        #expect(ServerNames.entries([]) == [])
        #expect(ServerNames.entries(Array("jack-0:x:".utf8)[...]) == [])
        #expect(ServerNames.entries(Array("....jack-:jack-jack-0:jack-x:y:".utf8)[...]) == [])
        #expect(ServerNames.entries(Array("....jack-7:a:b:\0".utf8)[...]).map(\.name) == ["a:b"])
    }

    @Test("Without the server it was told to use, the jack driver says what to do")
    func missingServer() async throws {
        let turn = try await JackTurn.wait()
        let error = #expect(throws: DriverError.self) {
            try DriverChooser.open(DriverRequest(kind: .jack, server: "vgt-nobody"))
        }
        #expect(error?.fault.message == "no JACK server named 'vgt-nobody' is running")
        #expect(error?.fault.hint.contains("--driver dummy") == true)
        turn.end()
    }

    @Test("A name that JACK cannot take is made one that it can")
    func clientName() async throws {
        let server = try await Jackd.start()
        let long = String(repeating: "ä", count: 100)
        let driver = try JackDriver(name: "a:" + long, server: server.name)
        #expect(driver.info.client.hasPrefix("a-ä"))
        #expect(driver.info.client.utf8.count < 64)
        driver.stop()
        server.stop()
    }

    @Test("A second server in the same process is refused instead of mixing the two up")
    func secondServer() async throws {
        let server = try await Jackd.start()
        let peer = try JackPeer("peer", server: server)
        let error = #expect(throws: DriverError.self) { try JackDriver(name: "other", server: "vgt-other") }
        #expect(error?.fault.message.contains("'\(server.name)'") == true)
        peer.close()
        server.stop()
    }

    @Test("A server that cannot run tells what it printed")
    func serverFails() async throws {
        let turn = try await JackTurn.wait()
        let server = try ServerProcess(name: "vgt-own", format: .init(rate: -1, block: 3))
        let error = #expect(throws: DriverError.self) { try server.client(named: "x") }
        #expect(error?.fault.message == "the JACK server 'vgt-own' ended while it started")
        #expect(error?.details.isEmpty == false)
        turn.end()
    }

    @Test("The status tells how the kernel schedules the audio thread")
    func scheduling() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(server: server, channels: 1)
        try await eventually("cycles come") { through.driver.status.cycles > 10 }
        // The test server does not run in realtime, and so neither do its clients.
        let scheduling = through.driver.status.scheduling
        #expect(scheduling.policy == .other)
        #expect(!scheduling.isRealtime)
        #expect(scheduling.text == "SCHED_OTHER")
        // Whoever may have realtime threads is told of the server, others of the limits.
        #expect(scheduling.isPermitted == Scheduling.isPermitted(priority: 1))
        #expect(scheduling.advice.contains(scheduling.isPermitted ? "jackd -R" : "rtprio"))
        through.stop()
        server.stop()
    }

    @Test(
        "A realtime thread is told as one, whatever the server says", .enabled(if: Scheduling.isPermitted(priority: 1)))
    func realtimeThread() throws {
        let thread = try SystemThread.run(name: "rt") {
            var parameter = sched_param(sched_priority: 42)
            pthread_setschedparam(pthread_self(), SCHED_RR, &parameter)
            let scheduling = Scheduling(thread: vg_thread_id())
            return scheduling.policy == .roundRobin && scheduling.priority == 42 && scheduling.isRealtime
                && scheduling.text == "SCHED_RR 42"
        }
        #expect(thread)
    }

    @Test("There is advice exactly where something is to be done")
    func advice() {
        var scheduling = Scheduling()
        #expect(scheduling.advice == "")
        scheduling.policy = .other
        for word in ["limits.d", "@audio - rtprio", "memlock", "rtkit", "LimitRTPRIO", "LimitMEMLOCK"] {
            #expect(scheduling.advice.contains(word))
        }
        scheduling.isPermitted = true
        #expect(scheduling.advice.contains("jackd -R") && !scheduling.advice.contains("limits.d"))
        scheduling.policy = .fifo
        #expect(scheduling.advice.contains("memlock unlimited") && scheduling.advice.contains("LimitMEMLOCK"))
        scheduling.lockableMemory = nil
        #expect(scheduling.advice == "")
    }

    /// Opens a driver, waiting for the name to be free of other tests.
    func chosen(_ request: DriverRequest) async throws -> any Driver {
        var result: (any Driver)?
        let name = try #require(request.server)
        try await eventually("the name \(name) is free") { ServerNameLock(name) != nil }
        result = try DriverChooser.open(request)
        return try #require(result)
    }
}
