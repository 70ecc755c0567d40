// SPDX-License-Identifier: Apache-2.0
import Graph
import TestSupport

@testable import Drivers

@Suite("Offline driver")
struct OfflineDriverTests {
    @Test("A signal passes unchanged, whatever the blocks", arguments: BlockPlan.all)
    func exact(plan: BlockPlan) throws {
        let driver = OfflineDriver(rate: 48000, maxBlock: plan.longest)
        let through = try PassThrough(driver, channels: 2)
        let signal = noise(5000, seed: 7)
        var heard: [Float] = []
        var position = 0
        for frames in plan.sizes(signal.count) {
            let input = try #require(driver.buffer(of: "mic_2"))
            for frame in 0..<frames { input[frame] = signal[position + frame] }
            driver.process(frames: frames)
            heard += try #require(driver.buffer(of: "speakers_2"))[..<frames]
            #expect(try #require(driver.buffer(of: "speakers_1"))[..<frames].allSatisfy { $0 == 0 })
            position += frames
        }
        let same = heard == signal
        #expect(same)
        #expect(driver.status.cycles == UInt64(plan.sizes(signal.count).count))
        through.stop()
    }

    @Test("Numbers too small for their exponent count as zero in a cycle, since they cost so much")
    func denormals() throws {
        let driver = OfflineDriver(rate: 48000, maxBlock: 64)
        let through = try PassThrough(driver, channels: 2, summed: true)
        let tiny = Float.leastNonzeroMagnitude * 1000
        for port in ["mic_1", "mic_2"] {
            let input = try #require(driver.buffer(of: port))
            for frame in 0..<64 { input[frame] = tiny }
        }
        driver.process(frames: 64)
        #expect(try #require(driver.buffer(of: "speakers_1")).allSatisfy { $0.bitPattern == 0 })
        through.stop()
    }

    @Test("A port that is not there has no buffer")
    func unknownPort() throws {
        let driver = OfflineDriver(rate: 48000, maxBlock: 64)
        #expect(driver.buffer(of: "mic_1") == nil)
        let port = ExternalPort(node: "mic", number: 1, isCapture: true)
        _ = try driver.register([port])
        #expect(driver.buffer(of: "mic_1")?.count == 64)
        driver.retire([port])
        #expect(driver.buffer(of: "mic_1") == nil)
    }
}
