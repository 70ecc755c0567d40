// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The static curve of a compressor with a soft knee, as decibels to take away. From D. Giannoulis, M. Massberg,
/// J. D. Reiss, "Digital Dynamic Range Compressor Design: A Tutorial and Analysis", JAES 60 (6), 2012, equation 4.
struct GainComputer: BitwiseCopyable {
    /// Linear level at which the knee begins; below nothing is taken away.
    private var start = 1.0
    /// In dBFS.
    private var threshold = 0.0
    /// The width of the knee in decibels.
    private var knee = 0.0
    /// Decibels taken away for each decibel above the knee: 1 - 1 / ratio.
    private var slope = 0.0

    /// Nothing is taken away up to 0 dBFS.
    init() {}

    /// Thresholds and knees in decibels. [audio]
    @_noLocks
    init(threshold: Float, ratio: Float, knee: Float) {
        self.threshold = Double(threshold)
        self.knee = Double(max(knee, 0))
        slope = 1 - 1 / Double(max(ratio, 1))
        start = amplitude(self.threshold - self.knee / 2)
    }

    /// Decibels to take away at a linear level; 0 or more. [audio]
    @_noLocks @inline(__always)
    func reduction(_ level: Double) -> Double {
        if level <= start { return 0 }
        let over = 20 * Double(vg_log10(Float(level))) - threshold
        if 2 * over > knee { return slope * over }
        let intoKnee = max(over + knee / 2, 0)
        return knee > 0 ? slope * intoKnee * intoKnee / (2 * knee) : 0
    }
}

/// How decibels to take away follow the static curve in time: the smooth decoupled peak detector of the same paper,
/// equation 17, in the logarithmic domain. First falling values are held back by the release, then all are smoothed by
/// the attack.
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

    /// Takes what the curve says and gives what is done. [audio]
    @_noLocks @inline(__always)
    mutating func next(_ reduction: Double) -> Double {
        held = max(reduction, reduction + (held - reduction) * release)
        smooth = held + (smooth - held) * attack
        // Not heard, and it ends some time.
        if held < 1e-9 { held = 0 }
        if smooth < 1e-9 { smooth = 0 }
        return smooth
    }
}
