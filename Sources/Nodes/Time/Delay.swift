// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Delays its channels by a fixed time, exact to the frame; only the delayed signal comes out. Infinite samples and
/// NaN become 0.
///
/// It may close a feedback loop: there the host calls `process` before `absorb`, and what comes out can only be what
/// went in at least one block earlier. So a delay that is shorter than `maxBlock` lasts `maxBlock` frames in a loop, and
/// the log says so. Nothing else depends on the block size.
final class Delay: Node {
    static let calls: NodeCalls = .idle
    static let descriptor = NodeDescriptor(
        "delay", "delays its channels; may close a feedback loop",
        doc: "Give ms or frames. Only the delayed signal comes out: mix it with the original for an echo. "
            + "In a feedback loop it lasts at least one block.",
        ports: Layout.through(channels: 1, output: "the input, delayed").ports,
        settings: [
            .channels(),
            Setting("ms", VG_SET_NUMBER, "how long", default: "250.0", range: 0...60_000, unit: "ms"),
            Setting(
                "frames", VG_SET_INTEGER, "how long, exact to the frame; instead of ms", range: 0...11_520_000,
                unit: "frames"),
        ],
        process: delayProcess, absorb: delayAbsorb)

    /// A delay line: channel c has the frame at position p at `line[c * (mask + 1) + (p & mask)]`.
    struct Processor: BitwiseCopyable {
        var line: UnsafeMutablePointer<Float>
        var mask: UInt64
        var delay: UInt64
        /// The shortest delay in a feedback loop.
        var block: UInt64
        /// The position after the last frame taken in. None yet: no position is ever this far.
        var end = UInt64.max
        /// The position after the last block that was not all zeros, and whether there was one.
        var soundEnd: UInt64 = 0
        var heard = false
        /// Frames until nothing audible is left in the line, for the control half.
        var remaining: UnsafeMutablePointer<Atomic<Int>>
        var audibleEnd: UInt64 = 0
        /// What to log when a loop is shorter than a block; nil once told. Static text.
        var shortNote: UnsafePointer<CChar>?
    }

    let layout: Layout
    private let time: Time
    private let remaining = SharedCount()
    private var line: UnsafeMutablePointer<Float>?

    private enum Time { case frames(Int), milliseconds(Double) }

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = .through(channels: try settings.channels(), output: "the input, delayed")
        if settings.values["frames"] != nil {
            if settings.values["ms"] != nil {
                throw NodeError("has both ms and frames", hint: "give one of the two", key: "frames")
            }
            time = .frames(try settings.whole("frames", default: 0, in: 0...11_520_000))
        } else {
            time = .milliseconds(try settings.finite("ms", default: 250, in: 0...60_000))
        }
    }

    deinit { line?.deallocate() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let delay =
            switch time {
            case .frames(let frames): frames
            case .milliseconds(let ms): Int(ms * preparation.rate / 1000 + 0.5)
            }
        let needed = max(delay, preparation.maxBlock) + preparation.maxBlock
        var size = 1
        while size < needed { size *= 2 }
        let channels = layout.ports.count / 2
        line?.deallocate()
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: size * channels)
        memory.initialize(repeating: 0, count: size * channels)
        line = memory
        remaining.value = 0
        let note: StaticString = "a delay in a feedback loop lasts at least one block; it was raised to (frames)"
        return Processor(
            line: memory, mask: UInt64(size - 1), delay: UInt64(delay), block: UInt64(preparation.maxBlock),
            remaining: remaining.cell,
            shortNote: UnsafeRawPointer(note.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    /// Not before the echo of the last sound has come out.
    var isIdle: Bool { remaining.value <= 0 }
}

/// Below this, -100 dBFS, a tail counts as gone, so that a feedback loop ends some time.
private let audible: UInt32 = 0x3727_C5AC  // the bits of 1e-5 as Float
/// The bits of infinity; those of NaN are above.
private let infinite: UInt32 = 0x7F80_0000

@_noLocks
private func delayAbsorb(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
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
    state.pointee.end = position + UInt64(frames)
    if loudest > 0 {
        state.pointee.soundEnd = state.pointee.end
        state.pointee.heard = true
    }
    if loudest > audible { state.pointee.audibleEnd = state.pointee.end + state.pointee.delay }
    let left = state.pointee.audibleEnd > state.pointee.end ? state.pointee.audibleEnd - state.pointee.end : 0
    state.pointee.remaining.pointee.store(Int(left), ordering: .releasing)
}

@_noLocks
private func delayProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Delay.Processor.self)
    let position = cycle.pointee.position
    let frames = cycle.frames
    var delay = state.pointee.delay
    if state.pointee.end != position + UInt64(frames), delay < state.pointee.block {
        // In a feedback loop: this block has not been taken in yet.
        delay = state.pointee.block
        if let note = state.pointee.shortNote {
            _ = vg_note_push(io, VG_NOTE_LOG, note, Double(delay), position)
            state.pointee.shortNote = nil
        }
    }
    let size = Int(state.pointee.mask) + 1
    let start = Int((position &- delay) & state.pointee.mask)
    let first = min(frames, size - start)
    let isSilent = !state.pointee.heard || state.pointee.soundEnd + delay <= position
    for channel in 0..<io.outputCount {
        let output = io.output(channel)
        let line = state.pointee.line + channel * size
        vg_copy(output, line + start, UInt32(first))
        vg_copy(output + first, line, UInt32(frames - first))
        if isSilent { io.markSilent(output: channel) }
    }
}
