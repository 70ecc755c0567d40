// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// The processor's end of an `InputPipe`; plain data. The pipe must outlive it.
struct InputPlayer: BitwiseCopyable {
    /// What both ends look at.
    struct Exchange: ~Copyable, Sendable {
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

    /// The anchor while nothing is played.
    static let stands = Int.min

    let shared: SharedCell<Exchange>
    private let reader: RingReader<Float>
    private var isPlaying = false
    /// Whether it falls to silence, since too little waits or what comes next is stale.
    private var isEnding = false
    /// How far it is open: up to `fadeFrames`.
    private var opening = 0
    /// One block, interleaved.
    private let taken: AudioArray<Float>
    /// Gains of the fade: `fadeFrames` + 1.
    private let curve: AudioArray<Float>
    private let channels: Int
    private let rate: Double
    private let clock: WebClockReading
    let fadeFrames: Int

    init(
        reader: RingReader<Float>, _ shared: SharedCell<Exchange>, taken: AudioArray<Float>, curve: AudioArray<Float>,
        channels: Int, rate: Double, clock: WebClockReading
    ) {
        (self.reader, self.shared, self.taken, self.curve) = (reader, shared, taken, curve)
        (self.channels, self.rate, self.clock) = (channels, rate, clock)
        fadeFrames = curve.count - 1
    }

    /// Gains of a fade of so many frames, from 0 to 1.
    static func fade(frames: Int) -> [Float] {
        (0...frames).map { Float(raisedCosine(Double($0) / Double(frames))) }
    }

    /// Writes this block of all audio outputs, and says where it is silent. [audio]
    @_noLocks
    mutating func play(_ block: borrowing Block) {
        let frames = block.frames
        // In this order: all that is stale is among what is available.
        let limit = shared.value.staleBefore.load(ordering: .acquiring)
        var available = reader.available / channels
        if isPlaying, !isEnding {
            if limit > reader.total / channels {
                isEnding = true
            } else if available < frames + fadeFrames {
                // As long as there is enough for a fade.
                isEnding = true
                if shared.value.isOpen.load(ordering: .relaxed) {
                    shared.value.underruns.wrappingAdd(1, ordering: .relaxed)
                }
            }
        }
        var done = 0
        var wasPlaying = false
        while done < frames {
            if !isPlaying {
                let stale = limit - reader.total / channels
                if stale > 0 { available -= reader.skip(stale &* channels) / channels }
                let enough = frames - done + fadeFrames
                // After a drop it goes on at once.
                let least =
                    wasPlaying && stale > 0 ? enough : max(enough, shared.value.target.load(ordering: .acquiring))
                if available < least { break }
                isPlaying = true
                isEnding = false
            }
            let ends = isEnding
            let count = ends ? min(frames - done, min(opening, available)) : frames - done
            give(count, block, at: done)
            available -= count
            done += count
            if ends, opening == 0 || available == 0 {
                isPlaying = false
                opening = 0
                wasPlaying = true
            }
        }
        for channel in block.outputs {
            block.output(channel).clear(done..<frames)
            if done == 0 { block.markSilent(channel) }
        }
        shared.value.position.store(block.position + UInt64(frames), ordering: .relaxed)
        tellTime(after: done, of: frames)
    }

    /// Reads frames, opening or closing over them.
    @_noLocks
    private mutating func give(_ frames: Int, _ block: borrowing Block, at start: Int) {
        _ = reader.read(into: taken.pointer, count: frames &* channels)
        let step = isEnding ? -1 : 1
        var frame = 0
        while frame < frames, isEnding || opening < fadeFrames {
            opening += step
            let gain = curve[opening]
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
        guard isPlaying, done == frames else {
            return shared.value.anchor.store(Self.stands, ordering: .releasing)
        }
        let begin = Double(reader.total / channels - frames) / rate
        shared.value.anchor.store(Int(clock.nanoseconds) - Int(begin * 1e9), ordering: .releasing)
    }
}
