// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// The processor's end of an `OutputPipe`: gives each block to every listener; plain data. The pipe must outlive it.
struct OutputFeed: BitwiseCopyable {
    /// Listeners that there can be.
    static let slots = 16

    /// One listener's place.
    struct Slot: BitwiseCopyable {
        let writer: RingWriter<Float>
        /// Frames that did not fit.
        let dropped: SharedCell<Atomic<Int>>
    }

    /// What both ends look at.
    struct Exchange: ~Copyable, Sendable {
        /// Bit i: slot i is listened to.
        let open = Atomic<UInt>(0)
        /// Of the graph, behind the last block.
        let position = Atomic<UInt64>(0)
        /// When frame 0 of the graph would have come, in nanoseconds, if all had come as now.
        let anchor = Atomic<Int>(0)
    }

    let shared: SharedCell<Exchange>
    /// Nil until one is first used; then for good.
    let slots: AudioArray<Slot?>
    /// One block, interleaved.
    let given: AudioArray<Float>
    let channels: Int
    let rate: Double
    let clock: WebClockReading

    /// Takes this block of all audio inputs. A ring that is full takes nothing of it, and that is counted. [audio]
    @_noLocks
    func take(_ block: borrowing Block) {
        let frames = block.frames
        shared.value.position.store(block.position + UInt64(frames), ordering: .relaxed)
        // Acquiring: a slot that is open has a ring.
        var open = shared.value.open.load(ordering: .acquiring)
        if open == 0 { return }
        let begin = Int(Double(block.position) / rate * 1e9)
        shared.value.anchor.store(Int(clock.nanoseconds) - begin, ordering: .relaxed)
        for channel in 0..<min(channels, block.inputs.count) {
            let input = block.input(channel)
            for frame in 0..<frames { given[frame &* channels &+ channel] = input[frame] }
        }
        while open != 0 {
            let slot = open.trailingZeroBitCount
            open &= open &- 1
            guard let listener = slots[slot] else { continue }
            if listener.writer.space >= frames &* channels {
                _ = listener.writer.write(given.pointer, count: frames &* channels)
            } else {
                listener.dropped.value.wrappingAdd(frames, ordering: .relaxed)
            }
        }
    }
}
