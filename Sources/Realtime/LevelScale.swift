// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// How levels are shown: formulas from a linear RMS.
public enum LevelScale {
    /// dBFS of an RMS: `20 log10(max(rms, 1e-6))`, so silence is -120. A NaN stays a NaN. [audio]
    @_noLocks
    public static func decibels(rms: Float) -> Float { vg_amplitude_db(rms < 1e-6 ? 1e-6 : rms) }

    /// 0...1 of an RMS on a scale of so many dB, usually 50: `(dB + range) / range`, where dB is `20 log10(max(rms, 2e-5))` of
    /// at least `-range`. Above 0 dBFS it stays 1. A NaN gives 0, so that pictures always have a number. [audio]
    @_noLocks
    public static func orb(rms: Float, range: Float = 50) -> Float {
        if rms.isNaN { return 0 }
        let level = (vg_amplitude_db(rms < 2e-5 ? 2e-5 : rms) + range) / range
        return level < 0 ? 0 : level > 1 ? 1 : level
    }
}
