// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Delays all channels of a processor by the same number of frames, also none, so that a gain can begin to move before
/// the sample for which it does.
struct LookAhead: BitwiseCopyable {
    /// Channel after channel.
    fileprivate var line: AudioArray<Float>
    /// What goes into the line while it is read.
    fileprivate var entering: AudioArray<Float>
    /// The delay.
    fileprivate(set) var frames: Int
    fileprivate var position = 0
    /// Frames until the last sound has come out.
    fileprivate(set) var sounding = 0
    /// Of those that came in since `advance`: the last sample that was not 0, counted from 1.
    fileprivate var lastSound = 0
    /// The same for the control half.
    fileprivate var remaining: SharedCell<Atomic<Int>>

    /// Takes samples of a channel, at most `partFrames`, and gives those of `frames` ago; `advance` comes after all channels.
    /// The two may be the same buffer. [audio]
    @_noLocks
    mutating func pass(_ input: borrowing InputSamples, _ channel: Int, to output: borrowing OutputSamples) {
        let count = input.count
        if frames == 0 { return output.copy(input) }
        var last = count
        while last > lastSound, input[last - 1] == 0 { last -= 1 }
        lastSound = max(lastSound, last)
        entering.samples(0..<count).copy(input)
        var (place, done) = (position, 0)
        while done < count {
            let length = min(count - done, frames - place)
            let kept = line.samples(channel * frames + place..<channel * frames + place + length)
            output.part(done..<done + length).copy(kept.written)
            kept.copy(entering.samples(done..<done + length).written)
            done += length
            place = place + length == frames ? 0 : place + length
        }
    }

    /// Goes on by as many frames as were passed. [audio]
    @_noLocks
    mutating func advance(_ count: Int) {
        if frames == 0 { return }
        position = (position + count) % frames
        sounding = max(max(sounding - count, 0), lastSound > 0 ? frames - (count - lastSound) : 0)
        lastSound = 0
    }

    /// Tells the control half what is left; once a block. [audio]
    @_noLocks
    func report() {
        if frames > 0 { remaining.value.store(sounding, ordering: .releasing) }
    }
}

/// The memory of a `LookAhead`. [control]
final class LookAheadMemory {
    private var line: AudioArrayMemory<Float>?
    private let entering = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    private let remaining = SharedCount(count: 0)
    /// The delay of the newest line.
    private(set) var frames = 0

    /// A line of silence; the one made before must not be used any more.
    func make(channels: Int, frames: Int) -> LookAhead {
        let memory = AudioArrayMemory<Float>(repeating: 0, count: max(frames, 1) * channels)
        line = memory
        self.frames = frames
        remaining.count = 0
        return LookAhead(
            line: memory.array, entering: entering.array, frames: frames, remaining: remaining.cell)
    }

    /// Whether nothing is left in the line.
    var isEmpty: Bool { remaining.count == 0 }
}
