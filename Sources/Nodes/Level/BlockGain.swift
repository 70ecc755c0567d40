// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// At or below this many decibels a gain is exactly 0.
let silenceDB: Float = -120

/// The linear gain of the last value in decibels, kept so that a steady gain costs no power function, and where a move
/// began.
struct GainCache: BitwiseCopyable {
    var decibels: Float = 0
    var linear: Float = 1
    /// The gain that is heard.
    var heard = CurvedValue()
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
    /// What the linear gain is multiplied by per frame of a ramp.
    var ratio: Double
    /// The curve in place of that.
    var curve: MoveCurve?
    /// Where the ramp ends in this block; at least `held`.
    var end: Int
    /// Linear gain after the ramp.
    var after: Float

    /// Whether the whole block is multiplied by 0.
    var isZero: Bool
}

/// Reads a parameter in decibels for a block of `frames`. [audio]
@_noLocks @inline(__always)
func blockGain(_ ramp: borrowing Ramp, _ cache: inout GainCache, _ frames: Int) -> BlockGain {
    let target = ramp.target
    if target != cache.decibels {
        cache.decibels = target
        cache.linear = target <= silenceDB ? 0 : Float(linearGain(target))
    }
    let after = cache.linear
    let value = ramp.value
    if let curve = cache.heard.move(
        ramp, from: value <= silenceDB ? 0 : linearGain(value), to: Double(after), frames)
    {
        return BlockGain(
            before: 0, held: 0, start: 1, ratio: 1, curve: curve, end: curve.end, after: after,
            isZero: curve.origin == 0 && after == 0)
    }
    if ramp.isSteady {
        return BlockGain(before: after, held: 0, start: 1, ratio: 1, end: 0, after: after, isZero: after == 0)
    }
    let start = linearGain(value)
    let ramped = ramp.end
    return BlockGain(
        before: value <= silenceDB ? 0 : Float(start), held: min(ramp.start + 1, frames), start: start,
        ratio: linearGain(ramp.step), end: min(ramped, frames), after: after, isZero: false)
}

/// The same for ramps and for what is steady, so that no sample depends on where a block begins.
@_noLocks @inline(__always)
private func linearGain(_ decibels: Float) -> Double { vg_pow64(10, Double(decibels) * 0.05) }

/// output = input * gain; the two may be the same buffer. [audio]
@_noLocks @inline(__always)
func applyGain(_ gain: BlockGain, _ input: borrowing InputSamples, _ output: borrowing OutputSamples) {
    if gain.end > 0 {
        scale(input, output, gain.before, 0..<gain.held)
        if let curve = gain.curve {
            for frame in 0..<gain.end { output[frame] = input[frame] * Float(curve.value(frame)) }
        } else {
            var linear = gain.start
            for frame in gain.held..<gain.end {
                linear *= gain.ratio
                output[frame] = input[frame] * Float(linear)
            }
        }
    }
    scale(input, output, gain.after, gain.end..<output.count)
}

@_noLocks @inline(__always)
private func scale(
    _ input: borrowing InputSamples, _ output: borrowing OutputSamples, _ gain: Float, _ frames: Range<Int>
) {
    if gain == 0 {
        output.clear(frames)  // also of NaN
    } else if gain == 1 {
        output.copy(input, frames)
    } else if output.isInPlace(input) {
        // A loop with one pointer: the compiler needs no check for overlap and uses vectors.
        for frame in frames { output[frame] *= gain }
    } else {
        for frame in frames { output[frame] = input[frame] * gain }
    }
}

/// output += input * gain. [audio]
@_noLocks
func addWithGain(_ gain: BlockGain, _ input: borrowing InputSamples, _ output: borrowing OutputSamples) {
    let before = gain.before
    if before != 0 { for frame in 0..<gain.held { output[frame] += input[frame] * before } }
    if let curve = gain.curve {
        for frame in 0..<gain.end { output[frame] += input[frame] * Float(curve.value(frame)) }
    } else {
        var linear = gain.start
        for frame in gain.held..<gain.end {
            linear *= gain.ratio
            output[frame] += input[frame] * Float(linear)
        }
    }
    let after = gain.after
    if after == 0 { return }
    for frame in gain.end..<output.count { output[frame] += input[frame] * after }
}

/// A gain parameter in decibels.
func gainParameter(_ key: String, _ doc: String) -> Parameter {
    Parameter(key, doc, silenceDB...36, default: 0, unit: "dB", scale: VG_DECIBEL)
}
