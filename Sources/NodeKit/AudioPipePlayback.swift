// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime
import Synchronization

/// Audio on its way from a thread of the node's own to a processor: from a file, a voice, a network.
///
/// Frames are interleaved and played in order, each exactly once, unless they are made stale: then what would have been
/// heard next fades out. Where the pipe is empty there is silence. `nextRun` tells which frame was heard when.
///
///     let pipe = PlaybackPipe(channels: 2, frames: 48_000, maxBlock: preparation.maxBlock, rate: preparation.rate)
///     let player = pipe.player                         // into the processor
///     player.play(io, cycle)                           // [audio]
///     done += pipe.write(rest)                         // [worker]
public final class PlaybackPipe: @unchecked Sendable {
    // Sendable: the two threads meet in rings and atomics only.

    /// Frames that were played without a gap: frame `index` of the pipe was heard at frame `position` of the graph, and
    /// those after it follow until the next run.
    public struct Run: BitwiseCopyable, Sendable, Equatable {
        /// Counted from the first frame that was ever written.
        public var index: Int
        /// In the graph's time.
        public var position: UInt64
        /// Whether a pause stood before it, so that what is missing between the run before and this one was wanted.
        public var isAfterPause = false

        /// Describes a run.
        public init(index: Int, position: UInt64, isAfterPause: Bool = false) {
            self.index = index
            self.position = position
            self.isAfterPause = isAfterPause
        }
    }

    /// The processor's end.
    public let player: PlaybackPlayer
    /// Audio outputs that it feeds.
    public let channels: Int
    /// Frames that it holds.
    public let capacity: Int
    /// Frames of the longest block that can be played.
    public let maxBlock: Int
    /// Of the graph, in Hz.
    public let rate: Double

    private let ring: Ring<Float>
    private let runs = Ring<Run>(minimumCapacity: 1024)

    /// Makes an empty pipe for at least `frames` frames in blocks of at most `maxBlock`; `fade`: seconds in which what
    /// becomes stale fades out. [control]
    public init(channels: Int, frames: Int, maxBlock: Int, rate: Double, fade: Double = 0.005) {
        self.channels = channels
        self.rate = rate
        self.maxBlock = maxBlock
        ring = Ring(minimumCapacity: max(frames, 2 * maxBlock) * channels)
        capacity = ring.capacity / channels
        player = PlaybackPlayer(
            reader: ring.reader, runs: runs.writer, channels: channels, fadeFrames: max(1, Int(rate * fade)),
            maxBlock: max(1, maxBlock))
    }

    deinit { player.free() }

    // Frames are counted whole although the ring may have room for a part of one.

    /// Adds as many whole frames of interleaved samples as fit; how many samples were taken. By one thread at a time.
    /// [worker]
    public func write(_ samples: UnsafeBufferPointer<Float>) -> Int {
        guard let base = samples.baseAddress else { return 0 }
        let room = min(space * channels, samples.count / channels * channels)
        return ring.writer.write(base, count: room)
    }

    /// Frames that fit now. [any]
    public var space: Int { capacity - waiting }
    /// Frames that wait to be played. [any]
    public var waiting: Int { written - (ring.reader.total / channels) }
    /// Frames written since the start. [any]
    public var written: Int { ring.writer.total / channels }

    /// Frames played or dropped since the start; the runs in which they were heard can be taken already. [any]
    public var played: Int {
        let total = ring.reader.total
        atomicMemoryFence(ordering: .acquiring)
        return total / channels
    }

    /// Makes frames before `index` stale: they are dropped, with a short fade if one of them was to be heard next.
    /// `Int.max`: all that were written until this is seen. [any]
    public func setStale(before index: Int) { player.shared.pointee.staleBefore.store(index, ordering: .releasing) }

    /// Holds what is to be played, with a short fade, or goes on with it, with another; nothing is lost but what the
    /// fades take. [any]
    public func setPaused(_ isPaused: Bool) { player.shared.pointee.isPaused.store(isPaused, ordering: .releasing) }

    /// Whether frames will come that are to follow those before without a gap: where the server freewheels, they are waited
    /// for. At first none are expected. [any]
    public func setExpectsMore(_ expectsMore: Bool) {
        player.shared.pointee.expectsMore.store(expectsMore, ordering: .releasing)
    }

    /// The next run that was begun. By one thread at a time. [control]
    public func nextRun() -> Run? { runs.reader.pop() }
}

/// The processor's end of a `PlaybackPipe`; plain data, so that a processor can hold it. The pipe must outlive it.
public struct PlaybackPlayer: BitwiseCopyable {
    struct Shared: ~Copyable {
        let staleBefore = Atomic<Int>(0)
        let isPaused = Atomic<Bool>(false)
        let expectsMore = Atomic<Bool>(false)
    }

    struct State: BitwiseCopyable {
        /// Frames of the fade, and how many of them were played.
        var fadeCount = 0
        var fadePosition = 0
        /// Whether the newest frame came from the ring.
        var isPlaying = false
        /// Position minus index of the newest run.
        var offset = Int.min
        /// How far it is open: 0 while it is paused, else `fadeFrames`, and between them for a fade.
        var opening = 0
        /// Whether it was closed since the newest run.
        var wasClosed = false
        var patience = FreewheelPatience()
    }

    private let reader: RingReader<Float>
    private let runs: RingWriter<PlaybackPipe.Run>
    let shared: UnsafeMutablePointer<Shared>
    private let state: UnsafeMutablePointer<State>
    private let fade: UnsafeMutablePointer<Float>
    /// One block, interleaved.
    private let taken: UnsafeMutablePointer<Float>
    private let channels: Int
    /// Frames in which what becomes stale fades out.
    public let fadeFrames: Int

    init(
        reader: RingReader<Float>, runs: RingWriter<PlaybackPipe.Run>, channels: Int, fadeFrames: Int, maxBlock: Int
    ) {
        self.reader = reader
        self.runs = runs
        self.channels = channels
        self.fadeFrames = fadeFrames
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared())
        state = .allocate(capacity: 1)
        state.initialize(to: State(opening: fadeFrames))
        fade = .allocate(capacity: fadeFrames * channels)
        fade.initialize(repeating: 0, count: fadeFrames * channels)
        taken = .allocate(capacity: maxBlock * channels)
        taken.initialize(repeating: 0, count: maxBlock * channels)
    }

    func free() {
        shared.deinitialize(count: 1)
        shared.deallocate()
        state.deallocate()
        fade.deallocate()
        taken.deallocate()
    }

    /// Removes stale frames; the first of them become the fade if they would have been heard next. Only on the thread
    /// that processes, or offline between two blocks. [audio]
    @_noLocks
    public func dropStale() {
        // In this order: what was counted before the limit was read cannot be newer than the limit allows.
        let ready = reader.available / channels
        let limit = shared.pointee.staleBefore.load(ordering: .acquiring)
        let stale = min(ready, limit - reader.total / channels)
        if stale <= 0 { return }
        var left = stale
        if state.pointee.isPlaying, state.pointee.fadePosition >= state.pointee.fadeCount {
            let count = reader.read(into: fade, count: min(fadeFrames, left) &* channels) / channels
            for frame in 0..<count {
                let gain = Float(count - frame) / Float(count + 1)
                for channel in 0..<channels { fade[frame &* channels &+ channel] *= gain }
            }
            state.pointee.fadeCount = count
            state.pointee.fadePosition = 0
            left -= count
        }
        _ = reader.skip(left &* channels)
        state.pointee.isPlaying = false
    }

    /// Writes this block of all audio outputs, and says where it is silent; how many frames were there. `isHeld`: as while
    /// the pipe is paused. [audio]
    @_noLocks
    @discardableResult
    public func play(_ block: borrowing Block, isHeld: Bool = false) -> Int {
        dropStale()
        let frames = block.frames
        let faded = min(frames, state.pointee.fadeCount - state.pointee.fadePosition)
        give(fade + state.pointee.fadePosition &* channels, faded, block, at: 0)
        state.pointee.fadePosition += faded
        let start = reader.total / channels
        let isPaused = isHeld || shared.pointee.isPaused.load(ordering: .acquiring)
        // What is paused plays to the end of its fade.
        let room = isPaused ? min(frames - faded, state.pointee.opening) : frames - faded
        if block.isFreewheeling, !isPaused { waitForFrames(room) }
        let count = min(room, reader.available / channels)
        if count > 0 {
            // Told before it is taken: who sees that a frame was played knows where.
            let at = block.position + UInt64(faded)
            if Int(at) - start != state.pointee.offset {
                state.pointee.offset = Int(at) - start
                _ = runs.push(PlaybackPipe.Run(index: start, position: at, isAfterPause: state.pointee.wasClosed))
            }
            state.pointee.wasClosed = false
            _ = reader.read(into: taken, count: count &* channels)
            if isPaused || state.pointee.opening < fadeFrames { fadePause(isPaused, count) }
            give(taken, count, block, at: faded)
        }
        // Where there is nothing to fade it is closed, or open, at once.
        if isPaused, count < frames - faded { state.pointee.opening = 0 }
        if isPaused, state.pointee.opening == 0 { state.pointee.wasClosed = true }
        if faded < frames { state.pointee.isPlaying = count == frames - faded }
        let done = faded + count
        for channel in block.outputs {
            block.output(channel).clear(done..<frames)
            if done == 0 { block.markSilent(channel) }
        }
        return done
    }

    /// Waits until so many frames are there, or no more come.
    @_noLocks
    private func waitForFrames(_ frames: Int) {
        while reader.available / channels < frames, shared.pointee.expectsMore.load(ordering: .acquiring),
            state.pointee.patience.wait()
        {}
        if reader.available / channels >= frames { state.pointee.patience.renew() }
    }

    /// Whether it is held. [any]
    public var isPaused: Bool { @_noLocks get { shared.pointee.isPaused.load(ordering: .acquiring) } }

    /// Closes or opens over the first frames of the block.
    @_noLocks
    private func fadePause(_ isPaused: Bool, _ frames: Int) {
        let scale = 1 / Float(fadeFrames + 1)
        for frame in 0..<frames {
            if !isPaused, state.pointee.opening >= fadeFrames { return }
            state.pointee.opening += isPaused ? -1 : 1
            let gain = Float(state.pointee.opening) * scale
            for channel in 0..<channels { taken[frame &* channels &+ channel] *= gain }
        }
    }

    @_noLocks
    private func give(_ samples: UnsafePointer<Float>, _ frames: Int, _ block: borrowing Block, at start: Int) {
        for channel in 0..<min(channels, block.outputs.count) {
            let output = block.output(channel)
            for frame in 0..<frames { output[start &+ frame] = samples[frame &* channels &+ channel] }
        }
    }
}

/// When frames of a pipe were heard, as far as it still matters.
public struct PlaybackTimes: Sendable {
    /// Silence because audio was not there in time.
    public struct Gap: Sendable, Equatable {
        /// In the graph's time.
        public var position: UInt64
        /// At least 1.
        public var frames: Int
    }

    private var runs: [PlaybackPipe.Run] = []

    /// Nothing was heard yet.
    public init() {}

    /// Adds the next run; `isStart`: nothing was to be heard before it, so that there is no gap.
    public mutating func add(_ run: PlaybackPipe.Run, isStart: Bool) -> Gap? {
        defer { runs.append(run) }
        guard let last = runs.last, !isStart, !run.isAfterPause else { return nil }
        let due = last.position + UInt64(run.index - last.index)
        return run.position > due ? Gap(position: due, frames: Int(run.position - due)) : nil
    }

    /// The frame of the graph at which a frame of the pipe was heard, or would be if nothing comes between; nil: nothing
    /// was heard yet.
    public func position(of index: Int) -> UInt64? {
        guard let run = runs.last(where: { $0.index <= index }) ?? runs.first else { return nil }
        return UInt64(max(0, Int(run.position) + index - run.index))
    }

    /// Nobody asks for frames before `index` any more; nil: for none that was heard.
    public mutating func forget(before index: Int?) {
        if let last = runs.last, runs.count > 1, index.map({ $0 >= last.index }) ?? true { runs = [last] }
    }

    /// Begins with another pipe.
    public mutating func forget() { runs = [] }
}
