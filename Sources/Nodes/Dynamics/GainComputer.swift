// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The static curve of a compressor with a soft knee, as decibels to take away: `vg_gain_curve`.
struct GainComputer: BitwiseCopyable {
    private var curve = vg_gain_curve(octave: 1, begin: 0, width: 0, bend: 0, slope: 0, most: 0)

    /// Nothing is taken away.
    init() {}

    /// Thresholds, knees and the most that is taken away in decibels; `squares`: levels are mean squares. [audio]
    @_noLocks
    init(threshold: Float, ratio: Float, knee: Float, most: Float = 1000, squares: Bool = false) {
        let knee = max(knee, 0)
        curve = vg_gain_curve(
            octave: squares ? octaveOfSquares : 2 * octaveOfSquares, begin: threshold - knee / 2, width: knee,
            bend: knee > 0 ? 0.5 / knee : 0, slope: 1 - 1 / max(ratio, 1), most: most)
    }

    /// Decibels to take away, 0 or more, for the first `count` levels; whether there are any. [audio]
    @_noLocks @inline(__always)
    func reductions(_ levels: AudioArray<Float>, into reductions: AudioArray<Float>, _ count: Int) -> Bool {
        var curve = curve
        return vg_reductions(&curve, levels.pointer, reductions.pointer, UInt32(truncatingIfNeeded: count)) > 0
    }
}

/// 10 log10(2)
private let octaveOfSquares: Float = 3.010_299_957

/// How decibels to take away follow the static curve in time: the smooth decoupled peak detector of D. Giannoulis,
/// M. Massberg, J. D. Reiss, "Digital Dynamic Range Compressor Design: A Tutorial and Analysis", JAES 60 (6), 2012,
/// equation 17, in the logarithmic domain. First falling values are held back by the release, then all are smoothed by the
/// attack.
struct Ballistics: BitwiseCopyable {
    /// See `smoothing`.
    var attack = 0.0
    /// See `smoothing`.
    var release = 0.0
    private var held = 0.0
    private var smooth = 0.0

    /// Whether nothing is taken away, nor will be while nothing comes in.
    var isResting: Bool {
        @_noLocks get { held == 0 && smooth == 0 }
    }

    /// Takes what the curve says of the first `count` frames and gives what is done. [audio]
    @_noLocks
    mutating func follow(_ reductions: AudioArray<Float>, into decibels: AudioArray<Double>, _ count: Int) {
        var (held, smooth) = (held, smooth)
        let (attack, release) = (attack, release)
        for index in 0..<count {
            // So that the next frame waits for as little as may be.
            let reduction = Double(reductions[index])
            held = max(reduction, held * release + reduction * (1 - release))
            smooth = smooth * attack + held * (1 - attack)
            decibels[index] = smooth
        }
        (self.held, self.smooth) = (held, smooth)
    }

    /// Ends what is not heard any more, so that it rests some time. [audio]
    @_noLocks
    mutating func settle() {
        if held < 1e-9 { held = 0 }
        if smooth < 1e-9 { smooth = 0 }
    }
}
