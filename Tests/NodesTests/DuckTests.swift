// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct DuckTests {
    private func duck(
        _ settings: [String: SettingValue] = [:], rate: Double = 48000, _ values: [String: Float] = [:]
    ) throws -> NodeHarness {
        let harness = try NodeHarness(type("duck"), settings, rate: rate, maxBlock: 8192)
        harness.set(values)
        return harness
    }

    /// The key is loud from `half` on for as long; the gain follows from the time alone.
    @Test(
        "It goes down, stays, and comes up along a raised cosine in decibels", arguments: testRates, BlockPlan.all)
    func curve(_ rate: Double, _ plan: BlockPlan) throws {
        let times: [String: Float] = [
            "depth_db": -20, "threshold_db": -40, "attack_ms": 50, "hold_ms": 30, "release_ms": 100,
        ]
        let harness = try duck(rate: rate, times)
        let half = Int(rate / 4)
        let key =
            Signal.constant(0, frames: half) + Signal.constant(0.1, frames: half) + Signal.constant(0, frames: half)
        let output = harness.run(3 * half, inputs: [Signal.constant(0.5, frames: 3 * half), key], plan: plan)[0]
        func way(_ frame: Int) -> Double {
            let down = min(1, Double(frame + 1 - half) / (0.05 * rate))
            let up = Double(frame + 1 - 2 * half - frames(milliseconds: 30, rate: rate)) / (0.1 * rate)
            return max(0, min(1, frame < 2 * half ? down : 1 - max(0, up)))
        }
        for frame in stride(from: 0, to: 3 * half, by: 7) {
            let expected = 0.5 * linear(-20 * (0.5 - 0.5 * cos(way(frame) * .pi)))
            #expect(abs(Double(output[frame]) - expected) < 2e-4, "frame \(frame)")
        }
        #expect(output[..<half].allSatisfy { $0 == 0.5 })
        #expect(output.last == 0.5)
    }

    @Test("The control lowers it too, and so does each channel of the key") func told() throws {
        let harness = try duck(["key_channels": .integer(2)], ["depth_db": -120, "attack_ms": 1])
        let sound = Signal.constant(0.5, frames: 480)
        harness.controlInputs = [1]
        #expect(harness.run(480, inputs: [sound])[0].last.map { $0 < 1e-6 } == true)
        for loud in 0..<2 {
            let harness = try duck(["key_channels": .integer(2)], ["attack_ms": 1, "depth_db": -20])
            let keys = (0..<2).map { Signal.constant($0 == loud ? 0.5 : 0, frames: 480) }
            let last = try #require(harness.run(480, inputs: [sound] + keys)[0].last)
            #expect(abs(Double(last) - 0.5 * linear(-20)) < 1e-6)
        }
    }

    @Test("While nothing else sounds every sample passes, and silence is flagged", arguments: BlockPlan.all)
    func unchanged(_ plan: BlockPlan) throws {
        let harness = try duck(["channels": .integer(2)])
        let noise = (1...2).map { Signal.noise(frames: 3000, seed: UInt64($0), amplitude: 0.9) }
        let quiet = Signal.noise(frames: 3000, seed: 3, amplitude: 0.005)
        #expect(harness.run(3000, inputs: noise + [quiet], plan: plan) == noise)
        _ = harness.run(256, inputs: Array(repeating: Signal.constant(0, frames: 256), count: 3))
        #expect(harness.silentOutputs.last == [true, true])
    }

    @Test("A key that is no number lowers nothing for ever") func nonsense() throws {
        let harness = try duck([:], ["hold_ms": 0, "release_ms": 1])
        var key = Signal.constant(0, frames: 4800)
        key[10] = .nan
        key[11] = .infinity
        let output = harness.run(4800, inputs: [Signal.constant(0.5, frames: 4800), key])[0]
        #expect(output.allSatisfy { $0.isFinite } && output.last == 0.5)
    }

    @Test("Half way it turns round from where it is") func turns() throws {
        let harness = try duck([:], ["attack_ms": 100, "hold_ms": 0, "release_ms": 100, "depth_db": -40])
        let key = Signal.constant(0.5, frames: 2400) + Signal.constant(0, frames: 7200)
        let output = harness.run(9600, inputs: [Signal.constant(1, frames: 9600), key])[0]
        let steps = zip(output, output.dropFirst()).map { abs($1 - $0) }
        #expect(steps.max().map { $0 < 1.5e-3 } == true)
        #expect(abs(Double(output[2399]) - linear(-20)) < 1e-3)
        #expect(output[4900...].allSatisfy { $0 == 1 })
    }
}
