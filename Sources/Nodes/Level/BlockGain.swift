// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// At or below this many decibels a gain is exactly 0.
let silenceDB: Float = -120

/// The linear gain of the last value in decibels, kept so that a steady gain costs no power function, and where a move
/// began.
struct GainCache: BitwiseCopyable {
    var decibels: Float = 0
    var linear: Float = 1
    /// The gain after the last block; nil: there was none.
    var now: Double?
    /// The gain from which it moves.
    var origin = 1.0
}

/// What a parameter in decibels means for the samples of one block. A move goes along a raised cosine from gain to gain, so
/// that nothing of it is heard; where the parameter follows a control, it is even in decibels: the linear gain is multiplied
/// by `ratio` from frame to frame.
struct BlockGain: BitwiseCopyable {
    /// Linear gain before the ramp moves.
    var before: Float
    /// Frames before it does; 0 when the gain is steady.
    var held: Int
    /// Linear gain of the frame before the ramp moves.
    var start: Double
    /// What the linear gain is multiplied by per frame of a ramp; 0: it goes along the curve.
    var ratio: Double
    /// Of the curve: how much it changes the gain, what part of it a frame is, and how far it is at frame 0, in frames.
    var change = 0.0
    var part = 0.0
    var done = 0
    /// Where the ramp ends in this block; at least `held`.
    var end: Int
    /// Linear gain after the ramp.
    var after: Float

    /// Whether the whole block is multiplied by 0.
    var isZero: Bool
}

/// Reads a parameter in decibels for a block of `frames`. [audio]
@_noLocks @inline(__always)
func blockGain(_ ramp: UnsafePointer<vg_ramp>, _ cache: UnsafeMutablePointer<GainCache>, _ frames: Int) -> BlockGain {
    let target = ramp.pointee.target
    if target != cache.pointee.decibels {
        cache.pointee.decibels = target
        cache.pointee.linear = target <= silenceDB ? 0 : Float(linearGain(target))
    }
    let after = cache.pointee.linear
    if ramp.isSteady {
        cache.pointee.now = Double(after)
        return BlockGain(before: after, held: 0, start: 1, ratio: 1, end: 0, after: after, isZero: after == 0)
    }
    let value = ramp.pointee.value
    if ramp.pointee.length != 0 { return curve(ramp, cache, frames) }
    let start = linearGain(value)
    cache.pointee.now = nil
    let ramped = Int(ramp.pointee.start) + Int(ramp.pointee.frames)
    return BlockGain(
        before: value <= silenceDB ? 0 : Float(start), held: min(Int(ramp.pointee.start) + 1, frames), start: start,
        ratio: linearGain(ramp.pointee.step), end: min(ramped, frames), after: after, isZero: false)
}

/// A block of a move along the curve. [audio]
@_noLocks
private func curve(
    _ ramp: UnsafePointer<vg_ramp>, _ cache: UnsafeMutablePointer<GainCache>, _ frames: Int
) -> BlockGain {
    let (length, left) = (Int(ramp.pointee.length), Int(ramp.pointee.frames))
    let start = Int(ramp.pointee.start)
    if left == length || cache.pointee.now == nil {
        // It begins in this block: from the gain that was heard last, wherever a move before has come to.
        let value = ramp.pointee.value
        cache.pointee.origin = cache.pointee.now ?? (value <= silenceDB ? 0 : linearGain(value))
    }
    let (origin, target) = (cache.pointee.origin, Double(cache.pointee.linear))
    var gain = BlockGain(
        before: 0, held: min(start + 1, frames), start: origin, ratio: 0, end: min(start + left, frames),
        after: cache.pointee.linear, isZero: origin == 0 && target == 0)
    gain.change = target - origin
    gain.part = 1 / Double(length)
    gain.done = length - left - start
    gain.before = left == length ? Float(origin) : gain.curved(start)
    cache.pointee.now = start + left <= frames ? target : Double(gain.curved(max(frames, start)))
    return gain
}

extension BlockGain {
    /// The gain at a frame of the curve. [audio]
    @_noLocks @inline(__always)
    fileprivate func curved(_ frame: Int) -> Float { Float(start + change * raisedCosine(Double(done + frame) * part)) }
}

/// The same for ramps and for what is steady, so that no sample depends on where a block begins.
@_noLocks @inline(__always)
private func linearGain(_ decibels: Float) -> Double { vg_pow64(10, Double(decibels) * 0.05) }

/// output = input * gain; the two may be the same buffer. [audio]
@_noLocks @inline(__always)
func applyGain(
    _ gain: BlockGain, _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ frames: Int
) {
    if gain.end > 0 {
        scale(input, output, gain.before, gain.held)
        if gain.ratio == 0 {
            for frame in gain.held..<gain.end { output[frame] = input[frame] * gain.curved(frame) }
        } else {
            var linear = gain.start
            for frame in gain.held..<gain.end {
                linear *= gain.ratio
                output[frame] = input[frame] * Float(linear)
            }
        }
    }
    scale(input + gain.end, output + gain.end, gain.after, frames - gain.end)
}

@_noLocks @inline(__always)
private func scale(
    _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ gain: Float, _ frames: Int
) {
    if gain == 0 {
        vg_zero(output, UInt32(truncatingIfNeeded: frames))  // also of NaN
    } else if gain == 1 {
        vg_copy(output, input, UInt32(truncatingIfNeeded: frames))
    } else if input == UnsafePointer(output) {
        // A loop with one pointer: the compiler needs no check for overlap and uses vectors.
        for frame in 0..<frames { output[frame] *= gain }
    } else {
        for frame in 0..<frames { output[frame] = input[frame] * gain }
    }
}

/// output += input * gain. [audio]
@_noLocks
func addWithGain(
    _ gain: BlockGain, _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ frames: Int
) {
    let before = gain.before
    if before != 0 { for frame in 0..<gain.held { output[frame] += input[frame] * before } }
    if gain.ratio == 0, gain.end > 0 {
        for frame in gain.held..<gain.end { output[frame] += input[frame] * gain.curved(frame) }
    } else {
        var linear = gain.start
        for frame in gain.held..<gain.end {
            linear *= gain.ratio
            output[frame] += input[frame] * Float(linear)
        }
    }
    let after = gain.after
    if after == 0 { return }
    for frame in gain.end..<frames { output[frame] += input[frame] * after }
}

/// A gain parameter in decibels.
func gainParameter(_ key: String, _ doc: String) -> Parameter {
    Parameter(key, doc, silenceDB...36, default: 0, unit: "dB", scale: VG_DECIBEL)
}
