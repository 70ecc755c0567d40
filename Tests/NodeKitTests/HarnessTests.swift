// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

/// A node that does one thing wrong.
final class Culprit: Node {
    static let descriptor = NodeDescriptor(
        "culprit", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        settings: [Setting("fault", VG_SET_INTEGER, "which")], process: culpritProcess)

    let fault: Int
    init(settings: Settings, host: NodeHost) throws(NodeError) { fault = settings.integer("fault") ?? 0 }
    func prepare(_ preparation: Preparation) throws(NodeError) -> Int { fault }
}

@_noLocks
private func culpritProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let fault = memory.assumingMemoryBound(to: Int.self).pointee
    vg_copy(io.output(0), io.input(0), UInt32(fault == 1 ? cycle.frames - 1 : cycle.frames))
    if fault == 2 { io.output(0)[cycle.frames] = 0 }
    if fault == 3 { io.markSilent(output: 0) }
    if fault == 4 { UnsafeMutablePointer(mutating: io.input(0))[-1] = 0 }
}

@Suite struct HarnessTests {
    @Test(
        "What no processor may do fails the test",
        arguments: [
            (1, "left frames of output 0 unwritten"), (2, "wrote outside the block of output 0"),
            (3, "flagged output 0 as silent; it is not"), (4, "wrote outside the block of input 0"),
        ])
    func forbidden(_ fault: Int, _ message: String) throws {
        let harness = try NodeHarness(makeNodeType(Culprit.self), ["fault": .integer(Int64(fault))])
        withKnownIssue {
            _ = harness.run(200, inputs: [Signal.constant(1, frames: 200)])
        } matching: { issue in
            issue.comments.contains { $0.rawValue == "culprit \(message)" }
        }
    }

    @Test("A processor without a fault passes") func faultless() throws {
        let harness = try NodeHarness(makeNodeType(Culprit.self))
        let noise = Signal.noise(frames: 200, seed: 1)
        #expect(harness.run(200, inputs: [noise], plan: .random(max: 50, seed: 2)) == [noise])
    }

    @Test("Plans add up", arguments: BlockPlan.all) func plans(_ plan: BlockPlan) {
        let sizes = plan.sizes(5001)
        #expect(sizes.reduce(0, +) == 5001)
        #expect(sizes.allSatisfy { (1...plan.longest).contains($0) })
    }

    @Test("A ramp crosses blocks") func ramp() throws {
        let harness = try NodeHarness(makeNodeType(Ramped.self))
        harness.set("value", 0)
        harness.set("value", 1, over: 100)
        let output = harness.run(150, plan: .random(max: 40, seed: 3))[0]
        for frame in 0..<100 { #expect(abs(output[frame] - Float(frame) / 100) < 1e-5) }
        #expect(output[100...].allSatisfy { $0 == 1 })
    }
}

/// Gives the value of its parameter.
final class Ramped: Node {
    static let descriptor = NodeDescriptor(
        "ramped", "for tests", ports: Port.audio(VG_OUTPUT, channels: 1),
        parameters: [Parameter("value", "what comes out", 0...1, default: 0)], process: rampedProcess)

    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

@_noLocks
private func rampedProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    for frame in 0..<cycle.frames { io.output(0)[frame] = io.parameter(0)[frame: frame] }
}
