// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import Drivers

@Suite("Timer driver", .timeLimit(.minutes(5)))
struct TimerDriverTests {
    @Test("Cycles come by the clock until stop, and none after it")
    func cycles() async throws {
        let driver = TimerDriver(name: "timer", rate: 48000, block: 64)
        let through = try PassThrough(driver, channels: 2)
        try await eventually("cycles come") { driver.status.cycles > 100 }
        #expect(driver.status.state == .running)
        #expect(driver.status.scheduling.policy != .unknown)
        through.stop()
        let cycles = driver.status.cycles
        #expect(driver.status.state == .stopped)
        driver.stop()
        #expect(driver.status.cycles == cycles)
    }
}
