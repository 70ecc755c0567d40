// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime
import Synchronization

/// The audio half of an isolated node, in the host. `IsolatedNode` owns the memory that it points to.
struct IsolatedProcessor: BitwiseCopyable {
    let block: SharedBlock
    let link: UnsafeMutablePointer<LinkState>
    let budget: UnsafeMutablePointer<WaitBudget>
    /// Wakes the control side, which then looks at `link`.
    let alarm: Int32
    let shape: Counts
    var notes: IsolatedNotes
    /// How long to wait for a live block, in nanoseconds per frame; and for an offline one, in all.
    let waitPerFrame: Double
    let offlineWait: UInt64
    /// Frames that a change between the node and its bypass takes.
    let fadeFrames: Int32
    /// The last block that was asked for.
    var sent: UInt32 = 0
    /// 0...fadeFrames: how much of the node is heard, and how much of the sample from which the fade began.
    var wet: Int32
    var held: Int32 = 0
    /// Per output: the sample from which the fade began, and the last one that was heard.
    let hold, last: UnsafeMutablePointer<Float>
    /// Per control output: what it holds while there is no child.
    let absent: UnsafePointer<Float>
    var latency: UInt32

    /// Ports by kind.
    struct Counts: BitwiseCopyable {
        let audioInputs, audioOutputs, controlInputs, controlOutputs, parameters: Int
        /// Whether the inputs are heard in the node's place; else silence is.
        var passes: Bool { audioInputs == audioOutputs }
    }
}

/// One block: asks the child, waits, and takes what it gives; or goes past it. [audio]
@_noLocks
func isolatedProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let node = memory.assumingMemoryBound(to: IsolatedProcessor.self)
    if node.pointee.link.pointee.audioThread.load(ordering: .relaxed) == 0 {
        node.pointee.link.pointee.audioThread.store(vg_thread_id(), ordering: .releasing)
        vg_event_alarm(node.pointee.alarm)
    }
    // The child still works on the last block and reads its inputs, so they must stay as they are.
    let isFree = node.pointee.block.response.pointee.load(ordering: .acquiring) == node.pointee.sent
    if isFree {
        ask(node, io, cycle)
        if answer(node, cycle), isSound(node, cycle) {
            take(node, io, cycle)
            return
        }
    }
    bypass(node, io, cycle, wasAsked: isFree)
}

/// Lays the block out for the child and wakes it.
@_noLocks
private func ask(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ io: BlockIO, _ cycle: Cycle) {
    let block = node.pointee.block
    let counts = node.pointee.shape
    let frames = cycle.pointee.frames
    block.cycle.pointee = cycle.pointee
    for index in 0..<counts.audioInputs {
        vg_copy(block.input(index), io.input(index), frames)
        block.silentInputs[index] = io.isSilent(input: index) ? 1 : 0
    }
    for index in 0..<counts.controlInputs { block.controlInputs[index] = io.control(index) }
    for index in 0..<counts.controlOutputs {
        block.controlOutputs[index] = io.pointee.control_out[index].unsafelyUnwrapped.pointee
    }
    for index in 0..<counts.parameters { block.ramps[index] = io.pointee.parameters[index] }
    node.pointee.notes.give(io, block)
    LinkState.add(node.pointee.link.pointee.asked)
    node.pointee.sent = (node.pointee.sent &+ 1) & ~SharedBlock.failed
    block.request.pointee.store(node.pointee.sent, ordering: .releasing)
    vg_shared_wake(block.request)
}

/// Waits for the answer, less than a block; false: there is none.
@_noLocks
private func answer(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ cycle: Cycle) -> Bool {
    let response = node.pointee.block.response
    let sent = node.pointee.sent
    let started = vg_nanoseconds()
    let due = started &+ allowance(node, cycle)
    while true {
        let value = response.pointee.load(ordering: .acquiring)
        if value == sent {
            if node.pointee.link.pointee.missedSince.load(ordering: .relaxed) != 0 {
                node.pointee.link.pointee.missedSince.store(0, ordering: .relaxed)
            }
            return true
        }
        // The child is gone: its answer will not come.
        let now = vg_nanoseconds()
        if value & SharedBlock.failed != 0 || now >= due {
            miss(node, cycle, waited: now &- started)
            return false
        }
        vg_shared_wait(response, value, due)
    }
}

/// Nanoseconds that this block may be waited for.
@_noLocks
private func allowance(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ cycle: Cycle) -> UInt64 {
    if cycle.isOffline || cycle.isFreewheeling { return node.pointee.offlineWait }
    let whole = UInt64(node.pointee.waitPerFrame * Double(cycle.pointee.frames))
    let spent = node.pointee.budget.pointee.spent(cycle.pointee.position)
    if spent == 0 { return whole }
    // The other isolated nodes in this block work as before, and answer long before that.
    return max(whole / 8, whole > spent ? whole &- spent : 0)
}

@_noLocks
private func miss(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ cycle: Cycle, waited: UInt64) {
    let link = node.pointee.link
    LinkState.add(link.pointee.timeouts)
    if waited > link.pointee.longestWait.load(ordering: .relaxed) {
        link.pointee.longestWait.store(waited, ordering: .relaxed)
    }
    node.pointee.budget.pointee.add(waited, cycle.pointee.position)
    link.pointee.missedSince.store(vg_nanoseconds(), ordering: .releasing)
    vg_event_alarm(node.pointee.alarm)
}

/// Whether the child's samples are all finite. Once they are not, the node is bypassed until its child was started
/// again: a filter that holds NaN in its memory keeps it.
@_noLocks
private func isSound(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ cycle: Cycle) -> Bool {
    let block = node.pointee.block
    for index in 0..<node.pointee.shape.audioOutputs {
        if vg_all_finite(block.output(index), cycle.pointee.frames) { continue }
        block.response.pointee.store(node.pointee.sent | SharedBlock.failed, ordering: .releasing)
        node.pointee.link.pointee.gaveNonsense.store(true, ordering: .releasing)
        vg_event_alarm(node.pointee.alarm)
        return false
    }
    return true
}

/// Passes on what the child gave, faded in if it was bypassed before.
@_noLocks
private func take(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ io: BlockIO, _ cycle: Cycle) {
    let block = node.pointee.block
    let counts = node.pointee.shape
    let frames = cycle.pointee.frames
    if node.pointee.wet < node.pointee.fadeFrames { return fade(node, io, cycle, isWet: true) }
    for index in 0..<counts.audioOutputs {
        let output = io.output(index)
        vg_copy(output, block.output(index), frames)
        if block.silentOutputs[index] != 0 { io.markSilent(output: index) }
        if frames > 0 { node.pointee.last[index] = output[Int(frames) - 1] }
    }
    takeRest(node, io, cycle)
}

/// Everything but audio.
@_noLocks
private func takeRest(_ node: UnsafeMutablePointer<IsolatedProcessor>, _ io: BlockIO, _ cycle: Cycle) {
    let block = node.pointee.block
    let counts = node.pointee.shape
    for index in 0..<counts.controlOutputs { io.setControl(index, block.controlOutputs[index]) }
    node.pointee.notes.take(io, block, frames: cycle.pointee.frames)
    let latency = block.latency.pointee.load(ordering: .relaxed)
    if latency != node.pointee.latency {
        node.pointee.latency = latency
        _ = vg_notice_push(io, VG_NOTICE_LATENCY, nil, Double(latency), cycle.pointee.position)
    }
}

/// Bypasses the child: fades from the sample that was heard last to the inputs, or to silence.
@_noLocks
private func bypass(
    _ node: UnsafeMutablePointer<IsolatedProcessor>, _ io: BlockIO, _ cycle: Cycle, wasAsked: Bool
) {
    let counts = node.pointee.shape
    node.pointee.notes.pass(io, wasAsked: wasAsked)
    LinkState.add(node.pointee.link.pointee.bypassed)
    // Of a child that is late the controls stay; one that is gone may have left a gate open.
    if node.pointee.block.response.pointee.load(ordering: .acquiring) & SharedBlock.failed != 0 {
        for index in 0..<counts.controlOutputs { io.setControl(index, node.pointee.absent[index]) }
    }
    if node.pointee.wet > 0 {
        node.pointee.wet = 0
        node.pointee.held = node.pointee.fadeFrames
        for index in 0..<counts.audioOutputs { node.pointee.hold[index] = node.pointee.last[index] }
    }
    if node.pointee.held > 0 { return fade(node, io, cycle, isWet: false) }
    let frames = cycle.pointee.frames
    for index in 0..<counts.audioOutputs {
        let output = io.output(index)
        if counts.passes, !io.isSilent(input: index) {
            vg_copy(output, io.input(index), frames)
        } else {
            vg_zero(output, frames)
            io.markSilent(output: index)
        }
        if frames > 0 { node.pointee.last[index] = output[Int(frames) - 1] }
    }
}

/// A block in which the node is faded in or out. From one sample to the next the output moves by no more than the
/// signals themselves do, and their difference divided by the length of the fade.
@_noLocks
private func fade(
    _ node: UnsafeMutablePointer<IsolatedProcessor>, _ io: BlockIO, _ cycle: Cycle, isWet: Bool
) {
    let counts = node.pointee.shape
    let frames = cycle.frames
    let length = node.pointee.fadeFrames
    let scale = 1 / Float(length)
    for index in 0..<counts.audioOutputs {
        // Output i may share its buffer with input i: each sample is read before it is written.
        let output = io.output(index)
        let wetSamples = node.pointee.block.output(index)
        let hold = node.pointee.hold[index]
        var wet = node.pointee.wet
        var held = node.pointee.held
        for frame in 0..<frames {
            if held > 0 { held -= 1 }
            if isWet, wet < length { wet += 1 }
            let dry = counts.passes ? io.input(index)[frame] : 0
            var value = dry + (hold - dry) * (Float(held) * scale)
            if isWet { value += (wetSamples[frame] - value) * (Float(wet) * scale) }
            output[frame] = value
        }
        if frames > 0 { node.pointee.last[index] = output[frames - 1] }
    }
    let step = Int32(truncatingIfNeeded: frames)
    node.pointee.held = max(0, node.pointee.held - step)
    if isWet {
        node.pointee.wet = min(length, node.pointee.wet + step)
        takeRest(node, io, cycle)
    }
}
