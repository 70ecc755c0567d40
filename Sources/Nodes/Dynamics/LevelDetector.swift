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
func magnitude(_ sample: Float) -> Double {
    let size = abs(sample)
    return size < 1000 ? Double(size) : size < .infinity ? 1000 : 0
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

    /// The linear level with the samples at `frame` of the inputs that begin with `first`. [audio]
    @_noLocks @inline(__always)
    mutating func level(_ block: borrowing Block, from first: Int, _ frame: Int) -> Double {
        var loudest = 0.0
        guard let squares else {
            for channel in 0..<channels { loudest = max(loudest, magnitude(block.input(first + channel)[frame])) }
            return loudest
        }
        for channel in 0..<channels {
            let size = magnitude(block.input(first + channel)[frame])
            var mean = size * size
            mean += (squares[channel] - mean) * averaging
            if mean < 1e-24 { mean = 0 }  // -240 dB: it ends some time
            squares[channel] = mean
            loudest = max(loudest, mean)
        }
        isResting = loudest == 0
        return Double(vg_sqrt(Float(loudest)))
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
