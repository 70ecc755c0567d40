// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Synchronization

/// A node without a guard: how loud it is can be told all the same.
struct MeasuredStepState: BitwiseCopyable {
    var node: ScheduleStep
    var levels: UnsafeMutablePointer<GuardStepState>
}

/// Runs the node, and measures it while somebody listens.
@_noLocks
func measuredStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: MeasuredStepState.self)
    vg_call_process(state.pointee.node.process, state.pointee.node.state, state.pointee.node.io, cycle)
    let levels = state.pointee.levels
    if levels.pointee.node.pointee.findings.pointee.attention.load(ordering: .relaxed) != 0 {
        measure(levels, cycle.frames)
    }
}

/// Looks for the loudest sample of a block.
@_noLocks
func measure(_ state: UnsafeMutablePointer<GuardStepState>, _ frames: Int) {
    let before = state.pointee.node.pointee.findings.pointee.loudest.load(ordering: .relaxed)
    var largest = before == GuardFindings.nothing ? 0 : before
    for channel in 0..<state.pointee.count {
        // What is heard of it, in the place of which a capture node's own buffer stays as it is.
        let samples = state.pointee.slots[channel]?.pointee.bound ?? state.pointee.channels[channel]
        largest = max(largest, largestBits(samples.unsafelyUnwrapped, frames))
    }
    state.pointee.node.pointee.findings.pointee.loudest.store(largest, ordering: .relaxed)
}

/// The bits of the largest sample, without its sign.
@_noLocks
func largestBits(_ samples: UnsafeMutablePointer<Float>, _ frames: Int) -> UInt32 {
    let bits = UnsafeRawPointer(samples).assumingMemoryBound(to: UInt32.self)
    var largest: UInt32 = 0
    for frame in 0..<frames { largest = max(largest, bits[frame] & 0x7FFF_FFFF) }
    return largest
}
