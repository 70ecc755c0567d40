// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Below this, -100 dBFS, a tail counts as gone, so that a feedback loop ends some time.
private let audible: UInt32 = 0x3727_C5AC  // the bits of 1e-5 as Float
/// The bits of infinity; those of NaN are above.
private let infinite: UInt32 = 0x7F80_0000

@_noLocks
func delayAbsorb(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Delay.Processor.self)
    let position = cycle.pointee.position
    let frames = cycle.frames
    let size = Int(state.pointee.mask) + 1
    let start = Int(position & state.pointee.mask)
    let first = min(frames, size - start)
    var loudest: UInt32 = 0
    for channel in 0..<io.inputCount {
        let input = io.input(channel)
        let line = state.pointee.line + channel * size
        vg_copy(line + start, input, UInt32(first))
        vg_copy(line, input + first, UInt32(frames - first))
        if io.isSilent(input: channel) { continue }
        // The order of positive floats is that of their bits: a maximum that needs no order of evaluation.
        var peak: UInt32 = 0
        for frame in 0..<frames { peak = max(peak, input[frame].bitPattern & 0x7FFF_FFFF) }
        if peak >= infinite {
            // A number that is none would go round a feedback loop for ever.
            for frame in 0..<frames where input[frame].bitPattern & 0x7FFF_FFFF >= infinite {
                line[Int((position + UInt64(frame)) & state.pointee.mask)] = 0
            }
        }
        loudest = max(loudest, peak)
    }
    let end = position + UInt64(frames)
    state.pointee.end = end
    if loudest > 0 {
        state.pointee.soundEnd = end
        state.pointee.heard = true
    }
    if loudest > audible {
        state.pointee.audibleEnd = end
        state.pointee.isAudible = true
    }
    tellRemaining(state)
}

/// Tells the control half when what is in the line will be out, with the time that it has now. [audio]
@_noLocks
private func tellRemaining(_ state: UnsafeMutablePointer<Delay.Processor>) {
    let end = state.pointee.audibleEnd + UInt64(state.pointee.reach)
    let left = state.pointee.isAudible && end > state.pointee.end ? end - state.pointee.end : 0
    state.pointee.remaining.pointee.store(Int(left), ordering: .releasing)
}

@_noLocks
func delayProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Delay.Processor.self)
    let frames = cycle.frames
    let isSteady = state.pointee.clock.begin(io, frames)
    // In a feedback loop this block has not been taken in yet.
    let isLoop = state.pointee.end != cycle.pointee.position + UInt64(frames)
    let least = isLoop ? Int(state.pointee.block) : 0
    if !state.pointee.hasBegun || least != state.pointee.least { begin(state, least) }
    if isLoop, let note = state.pointee.shortNote, state.pointee.clock.target(frames - 1) < Double(least) {
        _ = vg_note_push(io, VG_NOTE_LOG, note, Double(least), cycle.pointee.position)
        state.pointee.shortNote = nil
    }
    state.pointee.reach = 0
    if !state.pointee.glides {
        fadeThrough(state, io, cycle)
    } else if isSteady, state.pointee.glide.rests(at: state.pointee.clock.target(0)) {
        for channel in 0..<io.outputCount { read(state, state.pointee.tap, channel, io, cycle, from: 0, frames) }
    } else {
        glideThrough(state, io, cycle)
    }
    state.pointee.reach = max(state.pointee.reach, state.pointee.tap.oldest)
    tellRemaining(state)
    // Nothing but zeros was read if even the oldest frame of all came after the last sound.
    let isSilent =
        !state.pointee.heard || state.pointee.soundEnd + UInt64(state.pointee.reach) <= cycle.pointee.position
    if isSilent { for channel in 0..<io.outputCount { io.markSilent(output: channel) } }
}

/// At the first block, and when the node has come into a loop or out of one: no fade, no glide. [audio]
@_noLocks
private func begin(_ state: UnsafeMutablePointer<Delay.Processor>, _ least: Int) {
    state.pointee.least = least
    let place = state.pointee.hasBegun ? state.pointee.wanted : state.pointee.clock.target(0)
    state.pointee.hasBegun = true
    state.pointee.faded = 0
    state.pointee.wanted = place
    state.pointee.glide.begin(at: place)
    state.pointee.tap.move(to: place, least: least, state.pointee.sinc)
}

/// A block with fades from one time to the next. [audio]
@_noLocks
private func fadeThrough(_ state: UnsafeMutablePointer<Delay.Processor>, _ io: BlockIO, _ cycle: Cycle) {
    let frames = cycle.frames
    var frame = 0
    while frame < frames {
        if state.pointee.faded == 0 {
            let target = state.pointee.clock.target(frame)
            if target == state.pointee.wanted {
                let until = state.pointee.clock.nextChange(frame, frames)
                for channel in 0..<io.outputCount {
                    read(state, state.pointee.tap, channel, io, cycle, from: frame, until - frame)
                }
                frame = until
                continue
            }
            state.pointee.wanted = target
            state.pointee.next.move(to: target, least: state.pointee.least, state.pointee.sinc)
        }
        let count = min(frames - frame, state.pointee.fadeFrames - state.pointee.faded)
        let fade = state.pointee.fade + state.pointee.faded
        let scratch = state.pointee.scratch
        let size = Int(state.pointee.mask) + 1
        for channel in 0..<io.outputCount {
            read(state, state.pointee.tap, channel, io, cycle, from: frame, count)
            state.pointee.next.read(
                state.pointee.line + channel * size, mask: state.pointee.mask,
                position: cycle.pointee.position + UInt64(frame), scratch, count)
            let output = io.output(channel) + frame
            for index in 0..<count { output[index] += (scratch[index] - output[index]) * fade[index] }
        }
        state.pointee.reach = max(state.pointee.reach, max(state.pointee.tap.oldest, state.pointee.next.oldest))
        frame += count
        state.pointee.faded += count
        if state.pointee.faded == state.pointee.fadeFrames {
            state.pointee.faded = 0
            let old = state.pointee.tap
            state.pointee.tap = state.pointee.next
            state.pointee.next = old
        }
    }
}

/// A block in which the time moves from frame to frame. [audio]
@_noLocks
private func glideThrough(_ state: UnsafeMutablePointer<Delay.Processor>, _ io: BlockIO, _ cycle: Cycle) {
    for frame in 0..<cycle.frames {
        if state.pointee.glide.follow(state.pointee.clock.place(io, frame)) {
            state.pointee.tap.move(
                to: state.pointee.glide.place, least: state.pointee.least, state.pointee.sinc)
        }
        for channel in 0..<io.outputCount { read(state, state.pointee.tap, channel, io, cycle, from: frame, 1) }
        state.pointee.reach = max(state.pointee.reach, state.pointee.tap.oldest)
    }
    state.pointee.wanted = state.pointee.clock.target(cycle.frames - 1)
}

/// Reads `count` frames of a channel from a frame of the block on. [audio]
@_noLocks @inline(__always)
private func read(
    _ state: UnsafeMutablePointer<Delay.Processor>, _ tap: LineReader, _ channel: Int, _ io: BlockIO, _ cycle: Cycle,
    from frame: Int, _ count: Int
) {
    let size = Int(state.pointee.mask) + 1
    tap.read(
        state.pointee.line + channel * size, mask: state.pointee.mask, position: cycle.pointee.position + UInt64(frame),
        io.output(channel) + frame, count)
}
