// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// The processor's end of an `OutputPipe`: gives each block to every listener; plain data. The pipe must outlive it.
struct OutputFeed: BitwiseCopyable {
    /// Listeners that there can be.
    static let slots = 16

    /// One listener's place.
    struct Slot {
        /// Nil until it is first used; then for good.
        var writer: RingWriter<Float>?
    }

    struct Shared: ~Copyable {
        /// Bit i: slot i is listened to.
        let open = Atomic<UInt>(0)
        /// Of the graph, behind the last block.
        let position = Atomic<UInt64>(0)
        /// When frame 0 of the graph would have come, in nanoseconds, if all had come as now.
        let anchor = Atomic<Int>(0)
    }

    let shared: UnsafeMutablePointer<Shared>
    let slots: UnsafeMutablePointer<Slot>
    /// Frames that did not fit, by slot.
    let dropped: UnsafeMutablePointer<Atomic<Int>>
    /// One block, interleaved.
    private let given: UnsafeMutablePointer<Float>
    private let channels: Int
    private let rate: Double
    private let clock: WebClockReading

    init(channels: Int, rate: Double, maxBlock: Int, clock: WebClockReading) {
        self.channels = channels
        self.rate = rate
        self.clock = clock
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared())
        slots = .allocate(capacity: Self.slots)
        slots.initialize(repeating: Slot(), count: Self.slots)
        dropped = .allocate(capacity: Self.slots)
        for slot in 0..<Self.slots { (dropped + slot).initialize(to: Atomic(0)) }
        given = .allocate(capacity: maxBlock * channels)
        given.initialize(repeating: 0, count: maxBlock * channels)
    }

    func free() {
        shared.deinitialize(count: 1)
        shared.deallocate()
        slots.deallocate()
        dropped.deinitialize(count: Self.slots)
        dropped.deallocate()
        given.deallocate()
    }

    /// Takes this block of all audio inputs. A ring that is full takes nothing of it, and that is counted. [audio]
    @_noLocks
    func take(_ block: borrowing Block) {
        let frames = block.frames
        shared.pointee.position.store(block.position + UInt64(frames), ordering: .relaxed)
        // Acquiring: a slot that is open has a ring.
        var open = shared.pointee.open.load(ordering: .acquiring)
        if open == 0 { return }
        let begin = Int(Double(block.position) / rate * 1e9)
        shared.pointee.anchor.store(Int(clock.nanoseconds) - begin, ordering: .relaxed)
        for channel in 0..<min(channels, block.inputs.count) {
            let input = block.input(channel)
            for frame in 0..<frames { given[frame &* channels &+ channel] = input[frame] }
        }
        while open != 0 {
            let slot = open.trailingZeroBitCount
            open &= open &- 1
            guard let writer = slots[slot].writer else { continue }
            if writer.space >= frames &* channels {
                _ = writer.write(given, count: frames &* channels)
            } else {
                dropped[slot].wrappingAdd(frames, ordering: .relaxed)
            }
        }
    }
}
