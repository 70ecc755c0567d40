// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct DelayTests {
    @Test("An impulse comes out at the exact frame", arguments: [0, 1, 63, 64, 480, 5000], BlockPlan.all)
    func exactFrame(_ delay: Int, _ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(Int64(delay))])
        let output = harness.run(6000, inputs: [Signal.impulse(at: 7, frames: 10)], plan: plan)[0]
        #expect(output == Signal.impulse(at: 7 + delay, frames: 6000))
    }

    @Test("Milliseconds follow the rate, and whole times are exact", arguments: testRates + [8000, 384_000])
    func milliseconds(_ rate: Double) throws {
        let harness = try NodeHarness(type("delay"), rate: rate)
        // 1/48 ms has no exact Float: what is so near to a whole number of frames is meant as that.
        for (ms, frames) in [(Float(10), rate / 100), (1234 * 1000 / Float(rate), 1234)] {
            try harness.prepare(harness.preparation)
            harness.set("ms", ms)
            let input = Signal.noise(frames: 6000, seed: 3)
            let output = harness.run(6000, inputs: [input])[0]
            #expect(Array(output[Int(frames)...]) == Array(input[..<(6000 - Int(frames))]))
        }
    }

    @Test("Every channel has its own line", arguments: BlockPlan.all) func channels(_ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(777), "channels": .integer(3)])
        harness.positionOffset = 123_456_789
        let inputs = (1...3).map { Signal.noise(frames: 4000, seed: UInt64($0)) }
        let outputs = harness.run(4000, inputs: inputs, plan: plan)
        for (input, output) in zip(inputs, outputs) {
            #expect(Signal.peak(output[..<777]) == 0)
            #expect(Array(output[777...]) == Array(input[..<(4000 - 777)]))
        }
    }

    /// Block by block: process gives what was taken in, then the output goes back to the input.
    ///
    ///     x -> (+) -> delay -> y
    ///           ^------ 0.5 ----'
    @Test(
        "A feedback loop repeats the impulse",
        arguments: [BlockPlan.fixed(1), .fixed(64), .fixed(100), .random(max: 100, seed: 4)])
    func feedback(_ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(1000)], maxBlock: 128)
        harness.order = .loop(gain: 0.5)
        let output = harness.run(4500, inputs: [Signal.impulse(at: 3, frames: 4)], plan: plan)[0]
        var expected = Signal.constant(0, frames: 4500)
        (expected[1003], expected[2003], expected[3003], expected[4003]) = (1, 0.5, 0.25, 0.125)
        #expect(output == expected)
        #expect(harness.takeNotes().isEmpty)
    }

    @Test(
        "A delay shorter than the longest block lasts that long in a loop, and says so once",
        arguments: [100, 128, 200])
    func shortLoop(_ longest: Int) throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(99)], maxBlock: longest)
        harness.order = .loop(gain: 0.5)
        let plan = BlockPlan.random(max: longest, seed: 8)
        let output = harness.run(1000, inputs: [Signal.impulse(at: 0, frames: 1)], plan: plan)[0]
        let loud = output.indices.filter { output[$0] != 0 }
        #expect(loud == Array(stride(from: longest, to: 1000, by: longest)))
        let notes = harness.takeNotes()
        #expect(notes.count == 1)
        #expect(Int(notes.first?.value ?? 0) == longest)
        #expect(notes.first?.kind == VG_NOTICE_LOG.rawValue)
    }

    @Test(
        "A delay of the longest block is exact in a loop", arguments: [BlockPlan.fixed(1), .random(max: 128, seed: 2)])
    func shortestLoop(_ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(128)], maxBlock: 128)
        harness.order = .loop(gain: 0.5)
        let output = harness.run(512, inputs: [Signal.impulse(at: 1, frames: 2)], plan: plan)[0]
        #expect(output.indices.filter { output[$0] != 0 } == [129, 257, 385])
        #expect(harness.takeNotes().isEmpty)
    }

    @Test("Nonsense in a loop dies out") func nonsenseInALoop() throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(256)], maxBlock: 128)
        harness.order = .loop(gain: 0.9)
        _ = harness.run(256, inputs: [[.nan, .infinity, -.infinity, 0.5]])
        #expect(harness.run(5000)[0].allSatisfy { $0.isFinite })
    }

    @Test("It is silent only after the tail") func silence() throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(640)])
        _ = harness.run(1280, inputs: [Signal.constant(1, frames: 10)], plan: .fixed(64))
        #expect(harness.silentOutputs[10] == [false])
        #expect(harness.silentOutputs[11...].allSatisfy { $0 == [true] })
    }

    @Test("It is idle once the tail is out") func idle() throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(640)])
        #expect(harness.instance.isIdle)
        _ = harness.run(64, inputs: [Signal.constant(0.5, frames: 10)])
        #expect(!harness.instance.isIdle)
        _ = harness.run(576)
        #expect(!harness.instance.isIdle)
        _ = harness.run(64)
        #expect(harness.instance.isIdle)
    }

    @Test("A loop ends when nothing audible is left") func loopEnd() throws {
        let harness = try NodeHarness(type("delay"), ["frames": .integer(64)], maxBlock: 64)
        harness.order = .loop(gain: 0.5)
        _ = harness.run(64, inputs: [[1]])
        #expect(!harness.instance.isIdle)
        _ = harness.run(64 * 20)
        #expect(harness.instance.isIdle)
    }

    @Test("Preparing again starts with an empty line") func preparedAgain() throws {
        let harness = try NodeHarness(type("delay"))
        harness.set("ms", 10)
        _ = harness.run(256, inputs: [Signal.constant(1, frames: 256)])
        try harness.prepare(Preparation(rate: 96000, maxBlock: 256))
        let output = harness.run(2000, inputs: [Signal.impulse(at: 0, frames: 1)])[0]
        #expect(output == Signal.impulse(at: 960, frames: 2000))
    }

    @Test("`ms` and `frames` together are refused") func msAndFrames() throws {
        let error = #expect(throws: NodeError.self) {
            try NodeHarness(type("delay"), ["ms": .number(1), "frames": .integer(1)])
        }
        #expect(error?.key == "frames")
    }
}
