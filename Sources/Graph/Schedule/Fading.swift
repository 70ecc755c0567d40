// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime
import Synchronization

/// How far a transition has come; one for all fades of a schedule.
struct FadeClock: BitwiseCopyable {
    /// Whether every fade has ended, for the control side. It is behind a pointer because changing one part of this
    /// structure counts as changing all of it.
    let settled: UnsafeMutablePointer<Atomic<Bool>>
    /// Frames since the schedule began.
    var position = 0
    /// Frames of a fade.
    let ramp: Int
    /// Frames before links enter.
    let entering: Int
    /// Frames before links rise and fall.
    let rising: Int

    init(_ fades: ResolvedGraph.Fades, ramp: Int, settled: UnsafeMutablePointer<Atomic<Bool>>) {
        self.settled = settled
        self.ramp = max(1, ramp)
        entering = fades.entering
        rising = fades.rising
    }
}

/// One input of a sum that fades. Its gain is that of the term times (`from` + `change` x how far the fade has come).
struct FadingTerm: BitwiseCopyable {
    var term: MixTerm
    var from: Float
    var change: Float
    /// Whether it begins at once.
    var isEarly: Bool

    init(_ term: MixTerm, _ fade: ResolvedGraph.Fade) {
        self.term = term
        from = fade == .steady || fade == .falling ? 1 : 0
        change = fade == .steady ? 0 : fade == .falling ? -1 : 1
        isEarly = fade == .entering
    }
}

struct FadingMixState: BitwiseCopyable {
    var terms: UnsafeMutablePointer<FadingTerm>
    var count: Int
    var target: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    var silent: UnsafeMutablePointer<UInt8>
    var clock: UnsafeMutablePointer<FadeClock>
}

/// target = sum of gain x fade x source. What falls and what rises add up to one, so that a link whose gain changes goes
/// from one to the other without a detour.
@_noLocks
func fadingMixStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: FadingMixState.self)
    let target = state.pointee.target.pointee.unsafelyUnwrapped
    let frames = cycle.frames
    let clock = state.pointee.clock
    let step = 1 / Double(clock.pointee.ramp)
    vg_zero(target, UInt32(truncatingIfNeeded: frames))
    var empty = true
    for index in 0..<state.pointee.count {
        let term = state.pointee.terms + index
        if term.pointee.term.silent.pointee != 0 { continue }
        let source = term.pointee.term.source.pointee.unsafelyUnwrapped
        let from = term.pointee.term.gain * term.pointee.from
        let change = term.pointee.term.gain * term.pointee.change
        // Where in this block the fade begins and ends.
        let start = (term.pointee.isEarly ? clock.pointee.entering : clock.pointee.rising) &- clock.pointee.position
        let first = min(frames, max(0, start))
        let last = change == 0 ? first : min(frames, max(0, start &+ clock.pointee.ramp))
        if from != 0 { for frame in 0..<first { target[frame] += source[frame] * from } }
        for frame in first..<last {
            let part = Float(raisedCosine(Double(frame &- start) * step))
            target[frame] += source[frame] * (from + change * part)
        }
        let after = from + change
        if after != 0 { for frame in last..<frames { target[frame] += source[frame] * after } }
        empty = false
    }
    if empty { state.pointee.silent.pointee = 1 }
}

/// Several steps that count as one.
struct SequenceState: BitwiseCopyable {
    var steps: UnsafeMutablePointer<ScheduleStep>
    var count: Int
}

/// Takes steps one after the other.
@_noLocks
func sequenceStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: SequenceState.self)
    for index in 0..<state.pointee.count {
        let step = state.pointee.steps + index
        vg_call_process(step.pointee.process, step.pointee.state, step.pointee.io, cycle)
    }
}

/// Ends a block of a transition.
@_noLocks
func fadeClockStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let clock = memory.assumingMemoryBound(to: FadeClock.self)
    let end = max(clock.pointee.entering, clock.pointee.rising) &+ clock.pointee.ramp
    if clock.pointee.position >= end { return }
    clock.pointee.position &+= cycle.frames
    if clock.pointee.position >= end { clock.pointee.settled.pointee.store(true, ordering: .releasing) }
}
