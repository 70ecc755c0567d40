// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime
import Synchronization

/// Audio on its way from a processor to a thread of the node's own: a disk, a network, a model.
///
/// A block is taken whole, with its position, or not at all: then its frames are counted, and channels never change
/// places. Memory is made once; the audio thread never waits.
///
///     let pipe = CapturePipe(channels: 2, frames: 48_000, maxBlock: preparation.maxBlock)
///     let writer = pipe.writer                             // into the processor
///     writer.write(io, cycle)                              // [audio]
///     while let audio = pipe.take() { use(audio) }         // [worker], or `poll`
///     host.count("dropped", pipe.takeDropped())
public final class CapturePipe: @unchecked Sendable {
    // Sendable: the two threads meet in rings and atomics only; what `take` uses is one thread's at a time.

    /// How `take` gives its samples.
    public enum Order: Sendable {
        /// Channel after channel.
        case planar
        /// Frame after frame.
        case interleaved
    }

    /// Frames that follow one another, valid until the next `take`.
    public struct Audio {
        /// In the graph's time, of the first frame.
        public let position: UInt64
        /// At least 1.
        public let frames: Int
        /// Frames of the driver's time that were lost just before the first; see `vg_cycle.skipped`.
        public let skipped: Int
        /// When the first block was taken, in nanoseconds of `CLOCK_MONOTONIC`, and when the one after the last is due.
        public let time, endTime: UInt64
        /// Of planar audio: the samples of each channel. Of interleaved audio: all samples, as if it were one channel.
        public let channels: UnsafePointer<UnsafePointer<Float>?>
        /// Where the samples begin.
        public var samples: UnsafePointer<Float> { channels[0].unsafelyUnwrapped }
    }

    /// The processor's end; plain data, so that a processor can hold it. The pipe must outlive it.
    public struct Writer: BitwiseCopyable {
        fileprivate let samples: RingWriter<Float>
        fileprivate let blocks: RingWriter<Header>
        fileprivate let shared: UnsafeMutablePointer<Shared>

        /// Takes this block of all audio inputs; false: it did not fit, and is counted. While the pipe is closed nothing
        /// is taken. [audio]
        @_noLocks
        @discardableResult
        public func write(_ block: borrowing Block) -> Bool {
            if !shared.pointee.isOpen.load(ordering: .acquiring) { return true }
            let frames = block.frames
            let channels = block.inputs.count
            if block.isFreewheeling {
                while samples.space < frames &* channels || blocks.space == 0, shared.pointee.patience.wait() {}
            }
            guard samples.space >= frames &* channels, blocks.space > 0 else {
                shared.pointee.dropped.wrappingAdd(
                    frames &+ block.skipped, ordering: .relaxed)
                return false
            }
            shared.pointee.patience.renew()
            for channel in 0..<channels { _ = samples.write(block.io.pointee.audio_in[channel], count: frames) }
            return blocks.push(
                Header(
                    position: block.position, time: vg_nanoseconds(),
                    frames: UInt32(truncatingIfNeeded: frames), skipped: UInt32(truncatingIfNeeded: block.skipped),
                    period: UInt32(Double(frames) / block.rate * 1e9)))
        }
    }

    /// One block in the ring of samples: channel after channel.
    fileprivate struct Header: BitwiseCopyable {
        var position: UInt64
        var time: UInt64
        var frames, skipped: UInt32
        /// Nanoseconds.
        var period: UInt32
    }

    fileprivate struct Shared: ~Copyable {
        let isOpen = Atomic<Bool>(true)
        let dropped = Atomic<Int>(0)
        /// Audio thread only.
        var patience = FreewheelPatience()
    }

    /// The processor's end.
    public let writer: Writer
    /// Audio inputs that it takes.
    public let channels: Int
    /// Frames of the longest block that it takes.
    public let maxBlock: Int
    /// Frames that it holds.
    public let capacity: Int

    private let samples: Ring<Float>
    private let blocks: Ring<Header>
    private let shared: UnsafeMutablePointer<Shared>
    private let order: Order
    /// Frames that `take` gives at most.
    private let chunk: Int
    private let audio: UnsafeMutablePointer<Float>
    private let block: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafePointer<Float>?>
    /// Taken from the ring, but not given yet.
    private var next: Header?
    private var droppedTold = 0

    /// Makes an open pipe for at least `frames` frames in blocks of at most `maxBlock`; there is always room for two of
    /// those. `take` gives 4096 frames at most, or `maxBlock` if that is more. [control]
    public init(channels: Int, frames: Int, maxBlock: Int, order: Order = .planar) {
        self.channels = channels
        self.order = order
        self.maxBlock = maxBlock
        samples = Ring(minimumCapacity: max(frames, 2 * maxBlock) * channels)
        capacity = samples.capacity / channels
        // Blocks of 16 frames and longer never fill this ring first.
        blocks = Ring(minimumCapacity: capacity / 16 + 64)
        chunk = max(maxBlock, 4096)
        audio = .allocate(capacity: chunk * channels)
        audio.initialize(repeating: 0, count: chunk * channels)
        block = .allocate(capacity: max(maxBlock, 1))
        block.initialize(repeating: 0, count: max(maxBlock, 1))
        pointers = .allocate(capacity: channels)
        for channel in 0..<channels { (pointers + channel).initialize(to: UnsafePointer(audio + channel * chunk)) }
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared())
        writer = Writer(samples: samples.writer, blocks: blocks.writer, shared: shared)
    }

    deinit {
        audio.deallocate()
        block.deallocate()
        pointers.deallocate()
        shared.deinitialize(count: 1)
        shared.deallocate()
    }

    /// Whether the processor's blocks are taken; what is in the pipe stays. [any]
    public var isOpen: Bool {
        get { shared.pointee.isOpen.load(ordering: .acquiring) }
        set { shared.pointee.isOpen.store(newValue, ordering: .releasing) }
    }

    /// Frames in it now. [any]
    public var waiting: Int { (samples.writer.total - samples.reader.total) / channels }

    /// Whether a block of so many frames fits now. [any]
    public func hasRoom(for frames: Int) -> Bool {
        capacity - waiting >= frames && blocks.writer.total - blocks.reader.total < blocks.capacity
    }

    /// Frames that did not fit, since the pipe was made. [any]
    public var dropped: Int { shared.pointee.dropped.load(ordering: .relaxed) }

    /// Frames that did not fit, since the last call of this. By one thread at a time. [any]
    public func takeDropped() -> Int {
        let total = dropped
        defer { droppedTold = total }
        return total - droppedTold
    }

    /// The oldest audio, as many blocks as follow one another; nil: there is none. By one thread at a time. [worker]
    public func take() -> Audio? {
        guard let first = takeNext() else { return nil }
        read(first, at: 0)
        var (held, last) = (Int(first.frames), first)
        while let following = takeNext() {
            guard following.position == first.position + UInt64(held), following.skipped == 0,
                held + Int(following.frames) <= chunk
            else {
                next = following
                break
            }
            read(following, at: held)
            (held, last) = (held + Int(following.frames), following)
        }
        return Audio(
            position: first.position, frames: held, skipped: Int(first.skipped), time: first.time,
            endTime: last.time + UInt64(last.period),
            channels: UnsafePointer(pointers))
    }

    private func takeNext() -> Header? {
        defer { next = nil }
        return next ?? blocks.reader.pop()
    }

    private func read(_ one: Header, at start: Int) {
        let frames = Int(one.frames)
        for channel in 0..<channels {
            switch order {
            case .planar: _ = samples.reader.read(into: audio + channel * chunk + start, count: frames)
            case .interleaved:
                _ = samples.reader.read(into: block, count: frames)
                let target = audio + start * channels + channel
                for frame in 0..<frames { target[frame * channels] = block[frame] }
            }
        }
    }
}
