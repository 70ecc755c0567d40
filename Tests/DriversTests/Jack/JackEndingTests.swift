// SPDX-License-Identifier: Apache-2.0
import CJack
import Glibc
import Graph
import Synchronization
import System
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("The owner is told of another block size to the end, although the client is closed meanwhile")
    func toldToTheEnd() async throws {
        let server = try await Jackd.start(block: 256)
        let driver = try JackDriver(name: "told", server: server.name)
        let engine = Engine()
        let telling = Telling()
        try driver.start(engine.audio) { event in
            guard case .rateOrBlockChanged(_, 512) = event else { return }
            telling.hasBegun.store(true, ordering: .releasing)
            while !telling.mayEnd.load(ordering: .acquiring) { usleep(1_000) }
            telling.hasEnded.store(true, ordering: .releasing)
        }
        // The server answers when the owner knows of it, so this one waits and sees the server die.
        let change = Task { try? await server.tool("jack_bufsize", "512") }
        try await eventually("the owner is told") { telling.hasBegun.load(ordering: .acquiring) }
        server.crash()
        try await eventually("the dead server's client is closed") { !JackLibrary.hasClients }
        telling.mayEnd.store(true, ordering: .releasing)
        try await eventually("the owner was told to the end") { telling.hasEnded.load(ordering: .acquiring) }
        _ = await change.value
        try server.restart()
        try await eventually("audio flows again") { driver.status.state == .running }
        #expect(driver.info.block == 256)
        driver.stop()
        withExtendedLifetime(engine) {}
        server.stop()
    }

    @Test("A client that libjack does not close is told of for as long as it does not, and then the driver comes back")
    func closingIsTold() async throws {
        let server = try await Jackd.start()
        let driver = try JackDriver(name: "closing", server: server.name)
        let through = try PassThrough(driver, channels: 1)
        try await eventually("cycles come") { driver.status.cycles > 10 }
        server.hang()
        // As if the server had said its end, which libjack does not know of: it waits for the server's answer.
        driver.signals.lost.store(true, ordering: .releasing)
        driver.signals.wakeup.signal()
        try await eventually("it is told") { driver.info.notice.hasPrefix("libjack does not come back from closing") }
        #expect(driver.status.state == .lost)
        server.unhang()
        try await eventually("the driver is back") { driver.status.state == .running }
        try await eventually("nothing is told any more") { driver.info.notice == "" }
        through.stop()
        server.stop()
    }

    @Test("What libjack calls us for is done to the end, although it ends the thread meanwhile")
    func staysToTheEnd() throws {
        let lock = Monitor()
        let (isIn, mayGo) = (Wakeup(), Wakeup())
        let place = Unmanaged.passRetained(Held(lock, isIn, mayGo))
        defer { place.release() }
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { @Sendable argument in
                // As libjack's own threads are.
                pthread_setcanceltype(Int32(PTHREAD_CANCEL_ASYNCHRONOUS), nil)
                let stay = vg_jack_stay()
                Unmanaged<Held>.fromOpaque(argument!).takeUnretainedValue().wait()
                vg_jack_unstay(stay)
                while true { sched_yield() }
            }, place.toOpaque())
        try #require(failed == 0)
        isIn.wait(milliseconds: -1)
        pthread_cancel(thread)
        mayGo.signal()
        pthread_join(thread, nil)
        #expect(lock.tryAcquire())
        lock.release()
    }
}

/// How far a call to an owner is.
private final class Telling: Sendable {
    let hasBegun = Atomic(false)
    let mayEnd = Atomic(false)
    let hasEnded = Atomic(false)
}

/// A lock that a thread holds until it may go.
private final class Held: Sendable {
    private let lock: Monitor
    private let isIn: Wakeup
    private let mayGo: Wakeup
    init(_ lock: Monitor, _ isIn: Wakeup, _ mayGo: Wakeup) { (self.lock, self.isIn, self.mayGo) = (lock, isIn, mayGo) }

    func wait() {
        lock.acquire()
        isIn.signal()
        mayGo.wait(milliseconds: -1)
        lock.release()
    }
}
