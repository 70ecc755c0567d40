// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import Drivers

@Suite("Other programs at a server", .timeLimit(.minutes(2)))
struct JackProgramsTests {
    @Test("Sound cards are no programs, and only a program that is heard comes before this one")
    func neighbours() async throws {
        let server = try await Jackd.start()
        let through = try PassThrough(
            server: server, channels: 1, from: ["system:capture_1"], to: ["system:playback_1"])
        let driver = through.driver
        let alone = OtherPrograms(exist: false, precede: false)
        #expect(driver.otherPrograms == alone)
        let peer = try JackPeer("peer", server: server, plays: [[1]], inputs: 1)
        #expect(peer.connect("through:speakers_1", "peer:in_1"))
        try await eventually("it is seen") { driver.otherPrograms.exist }
        #expect(!driver.otherPrograms.precede)
        #expect(peer.connect("peer:out_1", "through:mic_1"))
        try await eventually("it is heard") { driver.otherPrograms.precede }
        peer.close()
        try await eventually("it is gone") { driver.otherPrograms == alone }
        through.stop()
        server.stop()
    }

    @Test("What has gone counts for a second more")
    func memory() {
        var known = KnownPrograms()
        known.set(OtherPrograms(exist: true, precede: true))
        known.set(OtherPrograms(exist: true, precede: false))
        #expect(known.lately == OtherPrograms(exist: true, precede: true))
    }
}
