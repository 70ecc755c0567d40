// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Below this, -100 dBFS, a tail counts as gone, so that a feedback loop ends some time.
private let audible: UInt32 = 0x3727_C5AC  // the bits of 1e-5 as Float
/// The bits of infinity; those of NaN are above.
private let infinite: UInt32 = 0x7F80_0000

extension Delay {
    @_noLocks
    static func absorb(_ state: inout Processor, _ block: borrowing Block) {
        let position = block.position
        let frames = block.frames
        let size = state.size
        let start = Int(position & state.mask)
        let first = min(frames, size - start)
        var loudest: UInt32 = 0
        for channel in block.inputs {
            let input = block.input(channel)
            let line = state.line.part(channel * size..<(channel + 1) * size)
            line.samples(start..<start + first).copy(input.part(0..<first))
            line.samples(0..<frames - first).copy(input.part(first..<frames))
            if block.isSilent(channel) { continue }
            // The order of positive floats is that of their bits: a maximum that needs no order of evaluation.
            var peak: UInt32 = 0
            for frame in 0..<frames { peak = max(peak, input[frame].bitPattern & 0x7FFF_FFFF) }
            if peak >= infinite {
                // A number that is none would go round a feedback loop for ever.
                for frame in 0..<frames where input[frame].bitPattern & 0x7FFF_FFFF >= infinite {
                    line[Int((position + UInt64(frame)) & state.mask)] = 0
                }
            }
            loudest = max(loudest, peak)
        }
        let end = position + UInt64(frames)
        state.end = end
        if loudest > 0 {
            state.soundEnd = end
            state.heard = true
        }
        if loudest > audible {
            state.audibleEnd = end
            state.isAudible = true
        }
        tellRemaining(state)
    }
}

/// Tells the control half when what is in the line will be out, with the time that it has now. [audio]
@_noLocks
private func tellRemaining(_ state: Delay.Processor) {
    let end = state.audibleEnd + UInt64(state.reach)
    let left = state.isAudible && end > state.end ? end - state.end : 0
    state.remaining.value.store(Int(left), ordering: .releasing)
}

extension Delay {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        let isSteady = state.clock.begin(block, frames)
        // In a feedback loop this block has not been taken in yet.
        let isLoop = state.end != block.position + UInt64(frames)
        let least = isLoop ? Int(state.block) : 0
        if !state.hasBegun || least != state.least { begin(&state, least) }
        if isLoop, !state.isShortTold, state.clock.target(frames - 1) < Double(least) {
            block.log("a delay in a feedback loop lasts at least one block; it was raised to (frames)", Double(least))
            state.isShortTold = true
        }
        state.reach = 0
        if !state.glides {
            fadeThrough(&state, block)
        } else if isSteady, state.glide.rests(at: state.clock.target(0)) {
            for channel in block.outputs {
                read(state, state.tap, channel, block.position + UInt64(0), block.output(channel).part(0..<frames))
            }
        } else {
            glideThrough(&state, block)
        }
        state.reach = max(state.reach, state.tap.oldest)
        tellRemaining(state)
        // Nothing but zeros was read if even the oldest frame of all came after the last sound.
        let isSilent =
            !state.heard || state.soundEnd + UInt64(state.reach) <= block.position
        if isSilent { for channel in block.outputs { block.markSilent(channel) } }
    }
}

/// At the first block, and when the node has come into a loop or out of one: no fade, no glide. [audio]
@_noLocks
private func begin(_ state: inout Delay.Processor, _ least: Int) {
    state.least = least
    let place = state.hasBegun ? state.wanted : state.clock.target(0)
    state.hasBegun = true
    state.faded = 0
    state.wanted = place
    state.glide.begin(at: place)
    state.tap.move(to: place, least: least, state.sinc)
}

/// A block with fades from one time to the next. [audio]
@_noLocks
private func fadeThrough(_ state: inout Delay.Processor, _ block: borrowing Block) {
    let frames = block.frames
    var frame = 0
    while frame < frames {
        if state.faded == 0 {
            let target = state.clock.target(frame)
            if target == state.wanted {
                let until = state.clock.nextChange(frame, frames)
                for channel in block.outputs {
                    read(
                        state, state.tap, channel, block.position + UInt64(frame),
                        block.output(channel).part(frame..<until))
                }
                frame = until
                continue
            }
            state.wanted = target
            state.next.move(to: target, least: state.least, state.sinc)
        }
        let count = min(frames - frame, state.fade.count - state.faded)
        let weights = state.faded..<state.faded + count
        let fade = state.fade.part(weights)
        let scratch = state.scratch.samples(0..<count)
        for channel in block.outputs {
            read(
                state, state.tap, channel, block.position + UInt64(frame),
                block.output(channel).part(frame..<frame + count))
            read(state, state.next, channel, block.position + UInt64(frame), scratch)
            let output = block.output(channel).part(frame..<frame + count)
            for index in 0..<count { output[index] += (scratch[index] - output[index]) * fade[index] }
        }
        state.reach = max(state.reach, max(state.tap.oldest, state.next.oldest))
        frame += count
        state.faded += count
        if state.faded == state.fade.count {
            state.faded = 0
            let old = state.tap
            state.tap = state.next
            state.next = old
        }
    }
}

/// A block in which the time moves from frame to frame. [audio]
@_noLocks
private func glideThrough(_ state: inout Delay.Processor, _ block: borrowing Block) {
    for frame in 0..<block.frames {
        if state.glide.follow(state.clock.place(block, frame)) {
            state.tap.move(
                to: state.glide.place, least: state.least, state.sinc)
        }
        for channel in block.outputs {
            read(
                state, state.tap, channel, block.position + UInt64(frame), block.output(channel).part(frame..<frame + 1)
            )
        }
        state.reach = max(state.reach, state.tap.oldest)
    }
    state.wanted = state.clock.target(block.frames - 1)
}

/// Reads a channel from a position on. [audio]
@_noLocks @inline(__always)
private func read(
    _ state: Delay.Processor, _ tap: LineReader, _ channel: Int, _ position: UInt64, _ output: borrowing OutputSamples
) {
    let line = state.line.part(channel * state.size..<(channel + 1) * state.size)
    tap.read(line, mask: state.mask, position: position, output)
}
