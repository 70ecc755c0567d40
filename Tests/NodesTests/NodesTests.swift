// SPDX-License-Identifier: Apache-2.0
import Nodes
import TestSupport

@Suite struct BuiltInTests {
    @Test func theListIsMadeOnce() {
        #expect(builtInNodeTypes == builtInNodeTypes)
        #expect(builtInNodeType("gain") != nil)
        #expect(builtInNodeType("no-such-type") == nil)
    }
}

@Suite struct GainTests {
    @Test func aGainOfHalfTakesSixDecibelsAway() throws {
        let harness = try NodeHarness(builtInNodeType("gain")!)
        harness.set("gain_db", -6.0206)
        let sine = Signal.sine(440, rate: 48000, frames: 4800)
        let output = harness.run(4800, inputs: [sine], plan: .random(max: 256, seed: 3))[0]
        #expect(Signal.difference(output, sine.map { $0 * 0.5 }) < 1e-5)
    }
}
