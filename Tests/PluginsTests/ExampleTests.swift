// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct ExampleTests {
    @Test("`tremolo` follows its formula over blocks", arguments: [1, 64, 1000]) func tremolo(block: Int) throws {
        let node = try NodeHarness(pluginType("tremolo"))
        node.set("rate_hz", 8)
        node.set("depth", 0.8)
        let output = node.run(10_000, inputs: [[Float](repeating: 1, count: 10_000)], plan: .fixed(block))[0]
        for frame in output.indices {
            let expected = 0.6 + 0.4 * cos(2 * .pi * 8 * Double(frame) / 48000)
            #expect(abs(Double(output[frame]) - expected) < 1e-5)
        }
    }

    @Test("`tremolo` works in place and treats channels alike") func tremoloInPlace() throws {
        let node = try NodeHarness(pluginType("tremolo"), ["channels": .integer(2)])
        node.inPlace = true
        let output = node.run(5000, inputs: [noise(5000), noise(5000)])
        #expect(output[0] == output[1])
    }

    @Test("`bitcrush` rounds to its levels and repeats samples") func bitcrush() throws {
        let node = try NodeHarness(pluginType("bitcrush"))
        node.set("bits", 3)
        let input = noise(4000)
        let output = node.run(4000, inputs: [input])[0]
        #expect(zip(input, output).allSatisfy { ($0 * 4).rounded(.toNearestOrEven) / 4 == $1 })
        node.set("bits", 24)
        node.set("share", 0.25)
        let held = node.run(4000, inputs: [input])[0]
        let changes = (1..<4000).count { held[$0] != held[$0 - 1] }
        #expect((990...1010).contains(changes))
    }

    @Test("`bitcrush` gives 2^bits levels, no more and no fewer", arguments: [1, 2, 3, 8, 12])
    func bitcrushLevels(bits: Int) throws {
        let node = try NodeHarness(pluginType("bitcrush"))
        node.set("bits", Float(bits))
        // From beyond one end to beyond the other, in steps that are finer than a level.
        let count = 3 << bits
        let ramp = (0...count).map { 1.2 * (2 * Float($0) / Float(count) - 1) }
        let output = node.run(ramp.count, inputs: [ramp])[0]
        let levels = (0..<(1 << bits)).map { Float($0) / Float(1 << (bits - 1)) - 1 }
        #expect(Set(output).sorted() == levels)
        let silence = node.run(128)[0]
        #expect(silence.dropFirst().allSatisfy { $0 == 0 })
    }

    @Test("`bitcrush` passes silence on as silence, and recovers from what is no number")
    func bitcrushSilence() throws {
        let node = try NodeHarness(pluginType("bitcrush"))
        _ = node.run(256)
        #expect(!node.silentOutputs.contains([false]))
        _ = node.run(64, inputs: [[.nan, .infinity, 0.5]])
        #expect(node.run(64)[0].allSatisfy { $0 == 0 })
    }
}
