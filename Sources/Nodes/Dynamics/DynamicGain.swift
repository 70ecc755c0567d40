// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Frames that are worked on as one, at most. All arrays of parts have as many elements.
var partFrames: Int {
    @_noLocks get { 64 }
}

/// The frames of a block from `start` on that are worked on as one: up to the next multiple of `partFrames` frames of the
/// stream, so that no sample depends on where a block begins; a single one if `alone`. [audio]
@_noLocks @inline(__always)
func part(of block: borrowing Block, from start: Int, alone: Bool) -> Range<Int> {
    if alone { return start..<start + 1 }
    let passed = Int(truncatingIfNeeded: block.position &+ UInt64(start)) & (partFrames - 1)
    return start..<min(block.frames, start + partFrames - passed)
}

/// What levels ask for, as gains: `GainComputer` and `Ballistics`, a part at a time.
struct DynamicGain: BitwiseCopyable {
    var computer = GainComputer()
    var ballistics = Ballistics()
    /// Linear, or squares where the computer takes those: what comes in.
    let levels: AudioArray<Float>
    private let reductions: AudioArray<Float>
    /// Taken away from each frame.
    let decibels: AudioArray<Double>
    /// Linear.
    let gains: AudioArray<Float>

    fileprivate init(_ memory: DynamicGainMemory) {
        levels = memory.levels.array
        reductions = memory.reductions.array
        decibels = memory.decibels.array
        gains = memory.gains.array
    }

    /// Computes `decibels` and `gains` of the first `count` levels; `full` is the gain where nothing is taken away, and
    /// `next` the position in the stream after them. [audio]
    @_noLocks
    mutating func follow(_ count: Int, full: Double, next: UInt64) {
        let asks = computer.reductions(levels, into: reductions, count)
        if !asks, ballistics.isResting {
            for index in 0..<count {
                decibels[index] = 0
                gains[index] = Float(full)
            }
            return
        }
        ballistics.follow(reductions, into: decibels, count)
        if next & UInt64(partFrames - 1) == 0 { ballistics.settle() }
        vg_gains(full, decibels.pointer, gains.pointer, UInt32(truncatingIfNeeded: count))
    }
}

/// The memory of a `DynamicGain`. [control]
final class DynamicGainMemory {
    fileprivate let levels = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    fileprivate let reductions = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    fileprivate let decibels = AudioArrayMemory<Double>(repeating: 0, count: partFrames)
    fileprivate let gains = AudioArrayMemory<Float>(repeating: 0, count: partFrames)

    /// One that takes nothing away; the one made before must not run any more.
    func gain() -> DynamicGain { DynamicGain(self) }
}

/// Multiplies samples by the first gains. [audio]
@_noLocks @inline(__always)
func multiply(_ samples: borrowing OutputSamples, _ gains: AudioArray<Float>) {
    for frame in 0..<samples.count { samples[frame] *= gains[frame] }
}
