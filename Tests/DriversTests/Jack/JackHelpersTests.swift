// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import Drivers

extension JackDriverTests {
    @Test("Two threads play what came in bit for bit, also on the server's next lives, and none is left over")
    func helpers() async throws {
        let server = try await Jackd.start(rate: 48000, block: 128)
        let through = try PassThrough(halvesOn: JackDriver(name: "halves", server: server.name))
        try await expectExact(through, server, seed: 1)
        try await expectHelp()
        for (rate, block) in [(44100, 512), (48000, 64)] {
            let before = helperThreads
            server.crash()
            try await eventually("the loss is noticed") { through.driver.status.state == .lost }
            try await eventually("nobody is to be helped") { helperThreads.isEmpty }
            try server.restart(rate: rate, block: block)
            try await eventually("audio flows again") { through.driver.status.state == .running }
            try await eventually("there is a new helper") { helperThreads.count == 1 && helperThreads != before }
            try await expectExact(through, server, seed: UInt64(rate))
            try await expectHelp()
        }
        through.driver.setHelpers(3)
        try await eventually("there are three helpers") { helperThreads.count == 3 }
        through.driver.setHelpers(0)
        try await eventually("there is none") { helperThreads.isEmpty }
        try await expectExact(through, server, seed: 2)
        through.driver.setHelpers(1)
        try await eventually("there is one") { helperThreads.count == 1 }
        through.stop()
        try await eventually("nothing is left") { helperThreads.isEmpty }
        server.stop()
    }

    /// A helper works, whenever the machine lets it.
    private func expectHelp() async throws {
        try await eventually("there is a helper") { helperThreads.count == 1 }
        let thread = try #require(helperThreads.first)
        let before = processorTime(of: thread)
        try await eventually("the helper has had a millisecond of work") {
            processorTime(of: thread) > before + 1_000_000
        }
    }
}

@Suite("Helpers of drivers", .serialized, .timeLimit(.minutes(2))) struct HelperTests {
    @Test("A timer has helpers from its start to its end")
    func timer() async throws {
        let driver = TimerDriver(name: "halves", rate: 48000, block: 256)
        let through = try PassThrough(halvesOn: driver)
        try await eventually("cycles come") { driver.status.cycles > 20 }
        #expect(through.engine.threads == 2)
        through.stop()
        #expect(through.engine.counters.cycles > 20)
    }

    @Test("An offline run with helpers gives what it gives without, sample by sample")
    func offline() throws {
        let signal = noise(10_000, seed: 3)
        let driver = OfflineDriver(rate: 48000, maxBlock: 200)
        let through = try PassThrough(halvesOn: driver)
        let (input, output) = (try #require(driver.buffer(of: "mic_1")), try #require(driver.buffer(of: "speakers_1")))
        for start in stride(from: 0, to: signal.count, by: 200) {
            for frame in 0..<200 { input[frame] = signal[start + frame] }
            driver.process(frames: 200)
            let same = (0..<200).allSatisfy { output[$0] == signal[start + $0] }
            #expect(same, "from frame \(start)")
        }
        through.stop()
    }
}
