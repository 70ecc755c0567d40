// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@testable import LV2

/// The plainest of plugins: one input, one output, one gain.
@Suite(needs(Plugins.amp, package: "lv2-examples"))
struct AmpTests {
    @Test("A gain of 0 dB leaves every bit as it was, in blocks of any length")
    func unityIsExact() throws {
        let input = noise(6000)
        for plan in [BlockPlan.fixed(1), .fixed(64), .fixed(1000), .random(max: 1024, seed: 7)] {
            let harness = try NodeHarness(lv2NodeType(), settings(Plugins.amp, params: ["gain": .number(0)]))
            #expect(harness.run(6000, inputs: [input], plan: plan) == [input])
        }
    }

    @Test("A gain of -6 dB is exact to the float", arguments: [-6, -90, 24.0])
    func gainIsExact(decibels: Double) throws {
        let input = noise(4096)
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.amp, params: ["gain": .number(decibels)]))
        // What eg-amp computes: silence at -90 dB and below.
        let linear = decibels > -90 ? powf(10, Float(decibels) * 0.05) : 0
        #expect(harness.run(4096, inputs: [input]) == [input.map { $0 * linear }])
    }

    @Test("The ports and the parameter are those of the plugin's data")
    func layoutFollowsData() throws {
        let harness = try NodeHarness(lv2NodeType(), settings("eg-amp"))
        #expect(harness.instance.ports.map(\.symbol) == ["in", "out"])
        let gain = try #require(harness.instance.parameters.first)
        #expect(gain.key == "gain")
        #expect(gain.range == -90...24)
        #expect(gain.defaultValue == 0)
        #expect(gain.unit == "dB")
        #expect(gain.scale == VG_DECIBEL)
    }

    @Test("A ramp reaches the plugin once a block, with the value at the block's end")
    func rampIsFollowed() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.amp, params: ["gain": .integer(0)]))
        harness.set("gain", -20, over: 256)
        let output = harness.run([64, 64, 64, 64, 64], inputs: [[Float](repeating: 1, count: 320)])[0]
        for (block, decibels) in [Float(-5), -10, -15, -20, -20].enumerated() {
            #expect(output[block * 64] == powf(10, decibels * 0.05))
            #expect(output[block * 64 + 63] == output[block * 64])
        }
    }

    @Test("It runs at once again after a new preparation for another rate and block")
    func preparesAgain() throws {
        let harness = try NodeHarness(lv2NodeType(), settings(Plugins.amp))
        let input = noise(512)
        #expect(harness.run(512, inputs: [input]) == [input])
        try harness.prepare(Preparation(rate: 96000, maxBlock: 128))
        #expect(harness.run(512, inputs: [input]) == [input])
    }
}
