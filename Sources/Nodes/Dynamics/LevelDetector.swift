// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What share of the distance to its goal remains after one frame of an exponential movement with this time constant:
/// after `milliseconds` 63 % of the way is done. [audio]
@_noLocks
func smoothing(milliseconds: Float, rate: Double) -> Double {
    milliseconds > 0 ? vg_exp64(-1000 / (Double(milliseconds) * rate)) : 0
}

/// 10^(decibels / 20). [audio]
@_noLocks @inline(__always)
func amplitude(_ decibels: Double) -> Double { vg_exp64(decibels * 0.115_129_254_649_702_28) }  // ln 10 / 20

/// What counts of a sample for a detector: 0 for what is not a number or infinite, and at most 60 dBFS, so that nonsense
/// is forgotten like any other level. [audio]
@_noLocks @inline(__always)
func magnitude(_ sample: Float) -> Float {
    let size = abs(sample)
    return size < .infinity ? min(size, 1000) : 0
}

/// The largest magnitude of some inputs in each frame of a part. [audio]
@_noLocks
func magnitudes(
    _ block: borrowing Block, _ channels: Range<Int>, _ part: Range<Int>, into levels: AudioArray<Float>
) {
    for channel in channels {
        let input = block.input(channel).part(part)
        if channel == channels.lowerBound {
            for frame in 0..<input.count { levels[frame] = magnitude(input[frame]) }
        } else {
            for frame in 0..<input.count { levels[frame] = max(levels[frame], magnitude(input[frame])) }
        }
    }
}

/// The level of several channels as one: that of the loudest of them.
struct LevelDetector: BitwiseCopyable {
    /// Mean squares, one a channel; nil: the level is that of the sample, a peak detector.
    var squares: AudioArray<Double>?
    var channels: Int
    /// See `smoothing`, of the mean square.
    var averaging: Double
    /// Whether all mean squares are 0.
    var isResting = true

    /// The levels of a part of the inputs that begin with `first`: linear, or mean squares where it has them. [audio]
    @_noLocks
    mutating func read(
        _ block: borrowing Block, from first: Int, _ part: Range<Int>, into levels: AudioArray<Float>
    ) {
        guard let squares else { return magnitudes(block, first..<first + channels, part, into: levels) }
        // Two channels at once.
        var channel = 0
        while channel < channels {
            let other = min(channel + 1, channels - 1)
            let input = block.input(first + channel).part(part)
            let beside = block.input(first + other).part(part)
            var means = SIMD2(squares[channel], squares[other])
            for frame in 0..<input.count {
                let sizes = SIMD2(Double(magnitude(input[frame])), Double(magnitude(beside[frame])))
                means = means * averaging + sizes * sizes * (1 - averaging)
                let loudest = Float(max(means.x, means.y))
                levels[frame] = channel == 0 ? loudest : max(levels[frame], loudest)
            }
            squares[channel] = means.x
            squares[other] = means.y
            channel += 2
        }
        let next = block.position &+ UInt64(part.upperBound)
        settle(squares, ends: next & UInt64(partFrames - 1) == 0)
    }

    /// Ends what has died away, -240 dB, at the end of a whole part. [audio]
    @_noLocks @inline(__always)
    private mutating func settle(_ squares: AudioArray<Double>, ends: Bool) {
        isResting = true
        for channel in 0..<channels {
            if ends, squares[channel] < 1e-24 { squares[channel] = 0 }
            if squares[channel] != 0 { isResting = false }
        }
    }
}

/// The memory of a `LevelDetector`. [control]
final class LevelDetectorMemory {
    private let squares: AudioArrayMemory<Double>

    init(channels: Int) { squares = AudioArrayMemory(repeating: 0, count: channels) }

    /// A detector at its start; the one made before must not run any more. `rms`: the time constant of the mean square
    /// in milliseconds, nil for a peak detector.
    func detector(rms: Double?, rate: Double) -> LevelDetector {
        squares.fill(0)
        return LevelDetector(
            squares: rms == nil ? nil : squares.array, channels: squares.array.count,
            averaging: smoothing(milliseconds: Float(rms ?? 0), rate: rate))
    }
}
