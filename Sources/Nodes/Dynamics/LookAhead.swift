// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Delays all channels of a processor by the same number of frames, also none, so that a gain can begin to move before
/// the sample for which it does.
struct LookAhead: BitwiseCopyable {
    /// Frame after frame, with the channels of each in a row.
    fileprivate var line: UnsafeMutablePointer<Float>
    fileprivate var channels: Int
    /// The delay.
    fileprivate(set) var frames: Int
    fileprivate var position = 0
    /// Frames until the last sound has come out.
    private(set) var sounding = 0
    /// The same for the control half.
    fileprivate var remaining: UnsafeMutablePointer<Atomic<Int>>

    /// Takes a sample of a channel and gives the one of `frames` ago; `advance` comes after all channels. [audio]
    @_noLocks @inline(__always)
    mutating func pass(_ sample: Float, _ channel: Int) -> Float {
        if frames == 0 { return sample }
        let place = line + (position &* channels &+ channel)
        let delayed = place.pointee
        place.pointee = sample
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
        if frames > 0 { remaining.pointee.store(sounding, ordering: .releasing) }
    }
}

/// The memory of a `LookAhead`. [control]
final class LookAheadMemory {
    private var line: UnsafeMutablePointer<Float>?
    private let remaining = SharedCount()
    /// The delay of the newest line.
    private(set) var frames = 0

    deinit { line?.deallocate() }

    /// A line of silence; the one made before must not be used any more.
    func make(channels: Int, frames: Int) -> LookAhead {
        line?.deallocate()
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(frames, 1) * channels)
        memory.initialize(repeating: 0, count: max(frames, 1) * channels)
        line = memory
        self.frames = frames
        remaining.value = 0
        return LookAhead(line: memory, channels: channels, frames: frames, remaining: remaining.cell)
    }

    /// Whether nothing is left in the line.
    var isEmpty: Bool { remaining.value == 0 }
}

/// Whether all of these inputs are known to be zeros. [audio]
@_noLocks
func isSilent(_ io: BlockIO, _ inputs: Range<Int>) -> Bool {
    for input in inputs where !io.isSilent(input: input) { return false }
    return true
}

/// Writes zeros to all outputs, and says so. [audio]
@_noLocks
func silenceAll(_ io: BlockIO, _ frames: Int) {
    for channel in 0..<io.outputCount {
        vg_zero(io.output(channel), UInt32(truncatingIfNeeded: frames))
        io.markSilent(output: channel)
    }
}
