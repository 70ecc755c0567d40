// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What of a sample lies below and above a frequency.
struct SplitSample: BitwiseCopyable {
    var low, high: Double

    @_noLocks
    init(low: Double, high: Double) { (self.low, self.high) = (low, high) }
}

/// A state variable filter of second order that keeps its state under changes of its frequency: the trapezoidal
/// integrators of V. Zavalishin, "The Art of VA Filter Design", 2012, section 4.4, as a Butterworth filter.
struct StateVariable: BitwiseCopyable {
    private var first = 0.0
    private var second = 0.0

    /// At rest. [audio]
    @_noLocks
    init() {}

    /// The low and the high output for one sample. [audio]
    @_noLocks @inline(__always)
    mutating func split(_ sample: Double, _ tuning: SplitTuning) -> SplitSample {
        let rest = sample - second
        let band = tuning.a1 * first + tuning.a2 * rest
        let low = second + tuning.a2 * first + tuning.a3 * rest
        first = 2 * band - first
        second = 2 * low - second
        return SplitSample(low: low, high: sample - rootOfTwo * band - low)
    }
}

private let rootOfTwo = 1.414_213_562_373_095_1

/// The coefficients of `StateVariable` for a frequency.
struct SplitTuning: BitwiseCopyable {
    fileprivate var a1 = 0.0
    fileprivate var a2 = 0.0
    fileprivate var a3 = 0.0

    init() {}

    /// `frequency` and `rate` in Hz; at most 0.45 of the rate is used. [audio]
    @_noLocks
    init(frequency: Double, rate: Double) {
        let angle = .pi * min(max(frequency / rate, 0), 0.45)
        let g = vg_sin64(angle) / vg_cos64(angle)
        a1 = 1 / (1 + g * (g + rootOfTwo))
        a2 = g * a1
        a3 = g * a2
    }
}

/// Parts a channel into what lies below and above a frequency: a Linkwitz-Riley crossover of fourth order (S. Linkwitz,
/// "Active Crossover Networks for Noncoincident Drivers", JAES 24 (1), 1976), each half 6 dB down at the frequency and
/// 24 dB an octave steep. Both are in phase, so their sum is as loud as the signal at every frequency.
struct BandSplit: BitwiseCopyable {
    private var shared = StateVariable()
    private var lower = StateVariable()
    private var upper = StateVariable()

    /// At rest. [audio]
    @_noLocks
    init() {}

    /// Both halves for one sample. [audio]
    @_noLocks @inline(__always)
    mutating func split(_ sample: Double, _ tuning: SplitTuning) -> SplitSample {
        let parts = shared.split(sample, tuning)
        return SplitSample(low: lower.split(parts.low, tuning).low, high: upper.split(parts.high, tuning).high)
    }
}
