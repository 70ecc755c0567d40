// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// The work between nodes: sums, delays, parameters that follow controls. Each is a process function like a node's; its
/// state lies in the schedule's memory.

/// One input of a sum.
struct MixTerm: BitwiseCopyable {
    var source: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    var silent: UnsafeMutablePointer<UInt8>
    var gain: Float
}

struct MixState: BitwiseCopyable {
    var terms: UnsafeMutablePointer<MixTerm>
    var count: Int
    var target: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    var silent: UnsafeMutablePointer<UInt8>
}

/// target = sum of gain x source. Terms known to be silent are skipped.
@_noLocks
func mixStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: MixState.self)
    let target = state.pointee.target.pointee.unsafelyUnwrapped
    let frames = cycle.frames
    var empty = true
    for index in 0..<state.pointee.count {
        let term = state.pointee.terms + index
        if term.pointee.silent.pointee != 0 { continue }
        let source = term.pointee.source.pointee.unsafelyUnwrapped
        let gain = term.pointee.gain
        if !empty {
            for frame in 0..<frames { target[frame] += source[frame] * gain }
        } else if gain == 1 {
            vg_copy(target, source, UInt32(frames))
        } else {
            for frame in 0..<frames { target[frame] = source[frame] * gain }
        }
        empty = false
    }
    if empty {
        vg_zero(target, UInt32(frames))
        state.pointee.silent.pointee = 1
    }
}

struct DelayState: BitwiseCopyable {
    var source: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    var target: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    var line: UnsafeMutablePointer<DelayLineState>
}

/// The samples that a delay line holds.
struct DelayLineState: BitwiseCopyable {
    /// As long as the delay.
    var samples: UnsafeMutablePointer<Float>
    var frames: Int
    var position = 0
}

/// A delay line. Schedules that follow each other share it, so that what is under way arrives.
final class DelayLine: @unchecked Sendable {
    // Sendable: only the audio thread touches the samples, in whichever schedule it runs.
    let state: UnsafeMutablePointer<DelayLineState>

    init(frames: Int) {
        let samples = UnsafeMutablePointer<Float>.allocate(capacity: frames)
        samples.initialize(repeating: 0, count: frames)
        state = .allocate(capacity: 1)
        state.initialize(to: DelayLineState(samples: samples, frames: frames))
    }

    deinit {
        state.pointee.samples.deallocate()
        state.deallocate()
    }
}

/// target = source, as many frames ago as the line is long.
@_noLocks
func delayStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: DelayState.self)
    let source = state.pointee.source.pointee.unsafelyUnwrapped
    let target = state.pointee.target.pointee.unsafelyUnwrapped
    let line = state.pointee.line.pointee.samples
    let length = state.pointee.line.pointee.frames
    var position = state.pointee.line.pointee.position
    for frame in 0..<cycle.frames {
        let sample = source[frame]
        target[frame] = line[position]
        line[position] = sample
        position += 1
        if position == length { position = 0 }
    }
    state.pointee.line.pointee.position = position
}

struct SumState: BitwiseCopyable {
    var sources: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    var count: Int
    var target: UnsafeMutablePointer<Float>
}

/// cell = sum of cells.
@_noLocks
func sumStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: SumState.self)
    var total: Float = 0
    for index in 0..<state.pointee.count { total += state.pointee.sources[index].pointee }
    state.pointee.target.pointee = total
}

struct DriveState: BitwiseCopyable {
    var source: UnsafeMutablePointer<Float>
    var ramp: UnsafeMutablePointer<vg_ramp>
    var minimum: Float
    var maximum: Float
    var abrupt: Bool
    /// Frames of a move; see `ScheduleHeader`.
    var grid: UInt32
    /// The control's value at the end of the piece before; no number: there was none.
    var latest = Float.nan
}

/// Where a piece begins on the grid, a parameter starts for the value that its control had just before, and is there at the
/// grid's next point: the same at any block. Values that are no numbers change nothing.
@_noLocks
func driveStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: DriveState.self)
    let wanted = state.pointee.latest
    state.pointee.latest = state.pointee.source.pointee
    let frames = state.pointee.grid
    if cycle.pointee.position & UInt64(frames &- 1) != 0 { return }
    let ramp = state.pointee.ramp
    let from = ramp.pointee.target
    let to = wanted.isNaN ? from : min(max(wanted, state.pointee.minimum), state.pointee.maximum)
    let moves = to != from && !state.pointee.abrupt
    ramp.pointee.value = moves ? from : to
    ramp.pointee.step = moves ? evenStep(from, to, frames) : 0
    ramp.pointee.target = to
    ramp.pointee.frames = moves ? frames : 0
    ramp.pointee.start = 0
    ramp.pointee.length = 0
}

struct MergeState: BitwiseCopyable {
    var sources: UnsafeMutablePointer<UnsafeMutablePointer<vg_midi>>
    var count: Int
    var target: UnsafeMutablePointer<vg_midi>
    /// How far each source has been read; as many as sources.
    var next: UnsafeMutablePointer<UInt32>
    /// What ends first; nil: nothing.
    var ending: UnsafeMutablePointer<EndingState>?
}

/// All events of several buffers in order of time; at the same frame, in the order of the links.
@_noLocks
func mergeStep(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: MergeState.self)
    let target = state.pointee.target
    target.pointee.count = 0
    target.pointee.used = 0
    if let ending = state.pointee.ending { endNotes(ending, target) }
    for index in 0..<state.pointee.count { state.pointee.next[index] = 0 }
    while true {
        var earliest = -1
        var frame = UInt32.max
        for index in 0..<state.pointee.count {
            let source = state.pointee.sources[index]
            let next = state.pointee.next[index]
            if next < source.pointee.count, earliest < 0 || source.pointee.events[Int(next)].frame < frame {
                earliest = index
                frame = source.pointee.events[Int(next)].frame
            }
        }
        if earliest < 0 { return }
        let source = state.pointee.sources[earliest]
        let event = source.pointee.events[Int(state.pointee.next[earliest])]
        state.pointee.next[earliest] += 1
        _ = vg_midi_write(target, event.frame, source.pointee.bytes + Int(event.offset), event.size)
    }
}
