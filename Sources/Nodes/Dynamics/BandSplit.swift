// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Takes what lies above a frequency out of channels: a Linkwitz-Riley crossover of fourth order (S. Linkwitz, "Active
/// Crossover Networks for Noncoincident Drivers", JAES 24 (1), 1976), each half 6 dB down at the frequency and 24 dB an
/// octave steep. Both are in phase, so their sum is as loud as the signal at every frequency: it is what an all-pass filter
/// of second order gives. The filters are state variable filters of second order that keep their state under changes of
/// their frequency: the trapezoidal integrators of V. Zavalishin, "The Art of VA Filter Design", 2012, section 4.4, as
/// Butterworth filters.
struct BandSplit: BitwiseCopyable {
    private var values = vg_split_values()
    /// Two channels after two channels: see `vg_split`.
    private let states: AudioArray<Double>

    /// At rest. [control]
    init(states: AudioArray<Double>) { self.states = states }

    /// States of as many channels.
    static func size(channels: Int) -> Int { (channels + 1) / 2 * 8 }

    /// `frequency` and `rate` in Hz; at most 0.45 of the rate is used. `whole`: whether both halves together are the signal
    /// as it came, not as it leaves the filters. [audio]
    @_noLocks
    mutating func tune(frequency: Double, rate: Double, whole: Bool) {
        let angle = .pi * min(max(frequency / rate, 0), 0.45)
        let g = vg_sin64(angle) / vg_cos64(angle)
        let k = rootOfTwo
        let scale = 1 / (1 + g * (g + k))
        let (band, low) = (g * scale, g * g * scale)
        // What is left of a sample without k times the band and the low output; and without twice k times the band.
        values = vg_split_values(
            a1: -2 * g * (g + k) * scale, a2: 2 * band, a3: 2 * low, c0: scale, c1: -(k * scale + band),
            c2: k * band - (1 + g * k) * scale, d0: whole ? 1 : 1 - 2 * k * band, d1: whole ? 0 : -2 * k * scale,
            d2: whole ? 0 : 2 * k * band)
    }

    /// Two channels that follow each other, or one as both: `samples` become both halves together, and `high` the upper one;
    /// in arrays of `stride` samples for each channel. [audio]
    @_noLocks
    mutating func split(
        _ samples: AudioArray<Float>, _ high: AudioArray<Float>, channel: Int, other: Int, stride: Int, count: Int
    ) {
        var values = values
        let (one, two) = (channel * stride, other * stride)
        vg_split(
            &values, states.part(channel * 4..<channel * 4 + 8).pointer, samples.part(one..<one + count).pointer,
            high.part(one..<one + count).pointer, samples.part(two..<two + count).pointer,
            high.part(two..<two + count).pointer, UInt32(truncatingIfNeeded: count))
    }
}

private let rootOfTwo = 1.414_213_562_373_095_1
