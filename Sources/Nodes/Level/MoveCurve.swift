// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Where a value that moves along a curve stands from block to block.
struct CurvedValue: BitwiseCopyable {
    /// After the last block; nil: there was none.
    private(set) var now: Double?
    /// From where it moves.
    private var origin = 0.0

    /// Where a movement of its parameter takes it in this block: from where it is, wherever a movement before has come to,
    /// to `target`. `start`: where it is, for the first block. nil: it is steady, or follows a control, whose steps are
    /// small and straight. [audio]
    @_noLocks @inline(__always)
    mutating func move(
        _ ramp: borrowing Ramp, from start: @autoclosure () -> Double, to target: Double, _ frames: Int
    ) -> MoveCurve? {
        let (length, left) = (ramp.length, ramp.remaining)
        if ramp.isSteady || length == 0 {
            now = ramp.isSteady ? target : nil
            return nil
        }
        let first = ramp.start
        // It begins in this block, or before this value was looked at.
        if left == length || now == nil { origin = now ?? start() }
        let curve = MoveCurve(
            origin: origin, change: target - origin, part: 1 / Double(length), done: length - left - first,
            end: min(first + left, frames))
        now = first + left <= frames ? target : curve.value(max(frames, first))
        return curve
    }
}

/// A block of a movement along a raised cosine; the same at every block.
struct MoveCurve: BitwiseCopyable {
    let origin: Double
    let change: Double
    /// What a frame is of the whole.
    let part: Double
    /// Frames done before this block; negative: it waits.
    let done: Int
    /// The frame at which it has ended.
    let end: Int

    /// The value at a frame of this block. [audio]
    @_noLocks @inline(__always)
    func value(_ frame: Int) -> Double { origin + change * raisedCosine(Double(max(0, done + frame)) * part) }
}
