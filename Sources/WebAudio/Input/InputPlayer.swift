// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// The processor's end of an `InputPipe`; plain data. The pipe must outlive it.
struct InputPlayer: BitwiseCopyable {
    struct Shared: ~Copyable {
        /// Frames that wait before it plays.
        let target = Atomic<Int>(.max)
        /// Frames before this one are dropped.
        let staleBefore = Atomic<Int>(0)
        let isOpen = Atomic<Bool>(false)
        /// When frame 0 of the pipe would have been heard, in nanoseconds, if all had been played as now; `stands`.
        let anchor = Atomic<Int>(InputPlayer.stands)
        let underruns = Atomic<Int>(0)
        /// Of the graph, behind the last block.
        let position = Atomic<UInt64>(0)
    }

    struct State: BitwiseCopyable {
        var isPlaying = false
        /// Whether it falls to silence, since too little waits or what comes next is stale.
        var isEnding = false
        /// How far it is open: up to `fadeFrames`.
        var opening = 0
    }

    /// The anchor while nothing is played.
    static let stands = Int.min

    let shared: UnsafeMutablePointer<Shared>
    private let reader: RingReader<Float>
    private let state: UnsafeMutablePointer<State>
    /// One block, interleaved.
    private let taken: UnsafeMutablePointer<Float>
    /// Gains of the fade: `fadeFrames` + 1.
    private let curve: UnsafeMutablePointer<Float>
    private let channels: Int
    private let rate: Double
    private let clock: WebClockReading
    let fadeFrames: Int

    init(reader: RingReader<Float>, channels: Int, rate: Double, maxBlock: Int, clock: WebClockReading) {
        self.reader = reader
        self.channels = channels
        self.rate = rate
        self.clock = clock
        fadeFrames = max(1, Int(rate * InputPipe.fade))
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared())
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        taken = .allocate(capacity: maxBlock * channels)
        taken.initialize(repeating: 0, count: maxBlock * channels)
        curve = .allocate(capacity: fadeFrames + 1)
        for frame in 0...fadeFrames {
            (curve + frame).initialize(to: Float(raisedCosine(Double(frame) / Double(fadeFrames))))
        }
    }

    func free() {
        shared.deinitialize(count: 1)
        shared.deallocate()
        state.deallocate()
        taken.deallocate()
        curve.deallocate()
    }

    /// Writes this block of all audio outputs, and says where it is silent. [audio]
    @_noLocks
    func play(_ block: borrowing Block) {
        let frames = block.frames
        // In this order: all that is stale is among what is available.
        let limit = shared.pointee.staleBefore.load(ordering: .acquiring)
        var available = reader.available / channels
        if state.pointee.isPlaying, !state.pointee.isEnding {
            if limit > reader.total / channels {
                state.pointee.isEnding = true
            } else if available < frames + fadeFrames {
                // As long as there is enough for a fade.
                state.pointee.isEnding = true
                if shared.pointee.isOpen.load(ordering: .relaxed) {
                    shared.pointee.underruns.wrappingAdd(1, ordering: .relaxed)
                }
            }
        }
        var done = 0
        var wasPlaying = false
        while done < frames {
            if !state.pointee.isPlaying {
                let stale = limit - reader.total / channels
                if stale > 0 { available -= reader.skip(stale &* channels) / channels }
                let enough = frames - done + fadeFrames
                // After a drop it goes on at once.
                let least =
                    wasPlaying && stale > 0 ? enough : max(enough, shared.pointee.target.load(ordering: .acquiring))
                if available < least { break }
                state.pointee.isPlaying = true
                state.pointee.isEnding = false
            }
            let isEnding = state.pointee.isEnding
            let count = isEnding ? min(frames - done, min(state.pointee.opening, available)) : frames - done
            give(count, block, at: done)
            available -= count
            done += count
            if isEnding, state.pointee.opening == 0 || available == 0 {
                state.pointee.isPlaying = false
                state.pointee.opening = 0
                wasPlaying = true
            }
        }
        for channel in block.outputs {
            block.output(channel).clear(done..<frames)
            if done == 0 { block.markSilent(channel) }
        }
        shared.pointee.position.store(block.position + UInt64(frames), ordering: .relaxed)
        tellTime(after: done, of: frames)
    }

    /// Reads frames, opening or closing over them.
    @_noLocks
    private func give(_ frames: Int, _ block: borrowing Block, at start: Int) {
        _ = reader.read(into: taken, count: frames &* channels)
        let step = state.pointee.isEnding ? -1 : 1
        var frame = 0
        while frame < frames, state.pointee.isEnding || state.pointee.opening < fadeFrames {
            state.pointee.opening += step
            let gain = curve[state.pointee.opening]
            for channel in 0..<channels { taken[frame &* channels &+ channel] *= gain }
            frame += 1
        }
        for channel in 0..<min(channels, block.outputs.count) {
            let output = block.output(channel)
            for frame in 0..<frames { output[start + frame] = taken[frame &* channels &+ channel] }
        }
    }

    /// Says when frame 0 would have been heard, for the clock of the client.
    @_noLocks
    private func tellTime(after done: Int, of frames: Int) {
        guard state.pointee.isPlaying, done == frames else {
            return shared.pointee.anchor.store(Self.stands, ordering: .releasing)
        }
        let begin = Double(reader.total / channels - frames) / rate
        shared.pointee.anchor.store(Int(clock.nanoseconds) - Int(begin * 1e9), ordering: .releasing)
    }
}
