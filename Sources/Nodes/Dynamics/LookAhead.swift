// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Delays all channels of a processor by the same number of frames, also none, so that a gain can begin to move before
/// the sample for which it does.
struct LookAhead: BitwiseCopyable {
    /// Frame after frame, with the channels of each in a row.
    fileprivate var line: AudioArray<Float>
    fileprivate var channels: Int
    /// The delay.
    fileprivate(set) var frames: Int
    fileprivate var position = 0
    /// Frames until the last sound has come out.
    private(set) var sounding = 0
    /// The same for the control half.
    fileprivate var remaining: SharedCell<Atomic<Int>>

    /// Takes a sample of a channel and gives the one of `frames` ago; `advance` comes after all channels. [audio]
    @_noLocks @inline(__always)
    mutating func pass(_ sample: Float, _ channel: Int) -> Float {
        if frames == 0 { return sample }
        let place = position &* channels &+ channel
        let delayed = line[place]
        line[place] = sample
        if sample != 0 { sounding = frames &+ 1 }
        return delayed
    }

    /// Goes on to the next frame. [audio]
    @_noLocks @inline(__always)
    mutating func advance() {
        if sounding > 0 { sounding &-= 1 }
        position &+= 1
        if position >= frames { position = 0 }
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
    private let remaining = SharedCount(count: 0)
    /// The delay of the newest line.
    private(set) var frames = 0

    /// A line of silence; the one made before must not be used any more.
    func make(channels: Int, frames: Int) -> LookAhead {
        let memory = AudioArrayMemory<Float>(repeating: 0, count: max(frames, 1) * channels)
        line = memory
        self.frames = frames
        remaining.count = 0
        return LookAhead(line: memory.array, channels: channels, frames: frames, remaining: remaining.cell)
    }

    /// Whether nothing is left in the line.
    var isEmpty: Bool { remaining.count == 0 }
}
