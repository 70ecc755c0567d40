// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The responses of the Audio EQ Cookbook (Robert Bristow-Johnson; W3C Note, 2021). The band pass has a peak of 0 dB.
enum FilterKind: String, BitwiseCopyable, CaseIterable {
    case lowpass, highpass, lowshelf, highshelf, peak, notch, bandpass, allpass

    /// Whether it has a gain of its own.
    var hasGain: Bool { self == .peak || self == .lowshelf || self == .highshelf }
}

/// A second-order filter with the cookbook's transfer function, realised as a state variable filter with trapezoidal
/// integrators (Andrew Simper, "Linear Trapezoidal Integrated State Variable Filter", Cytomic, 2013).
///
/// Not as a biquad, because its two states are those of the analog filter: they keep their meaning when frequency, Q and
/// gain move in every frame, so that it stays stable and adds no clicks. In a biquad the states belong to the old
/// coefficients, and low frequencies lose precision.
struct FilterSection: BitwiseCopyable {
    /// Of the integrators: 1 / (1 + g (g + k)) - 1, g / (1 + g (g + k)), g^2 / (1 + g (g + k)).
    var a1 = 0.0, a2 = 0.0, a3 = 0.0
    /// How much of the input, of the band and of the low output is in the result.
    var m0 = 1.0, m1 = 0.0, m2 = 0.0
    /// What it is multiplied by besides the Q of its band.
    var quality = 1.0
    /// Whether the Q of its band counts.
    var followsQ = true

    /// The coefficients for a frequency as the tangent of pi f / rate, and for an amplitude of 10^(dB / 40). [audio]
    @_noLocks
    mutating func set(_ kind: FilterKind, tangent: Double, amplitude: Double, q: Double) {
        var g = tangent
        var k = 1 / (followsQ ? q * quality : quality)
        let square = amplitude * amplitude
        switch kind {
        case .lowpass: (m0, m1, m2) = (0, 0, 1)
        case .highpass: (m0, m1, m2) = (1, -k, -1)
        case .bandpass: (m0, m1, m2) = (0, k, 0)
        case .notch: (m0, m1, m2) = (1, -k, 0)
        case .allpass: (m0, m1, m2) = (1, -2 * k, 0)
        case .peak:
            k /= amplitude
            (m0, m1, m2) = (1, k * (square - 1), 0)
        case .lowshelf:
            g /= vg_root(amplitude)
            (m0, m1, m2) = (1, k * (amplitude - 1), square - 1)
        case .highshelf:
            g *= vg_root(amplitude)
            (m0, m1, m2) = (square, k * (1 - amplitude) * amplitude, 1 - square)
        }
        let scale = 1 / (1 + g * (g + k))
        a1 = -g * (g + k) * scale
        a2 = g * scale
        a3 = g * a2
    }
}

/// The two integrators of a section, for one channel.
struct FilterState: BitwiseCopyable {
    var band: Double
    var low: Double

    /// At rest, unless it says otherwise. [audio]
    @_noLocks
    init(band: Double = 0, low: Double = 0) { (self.band, self.low) = (band, low) }

    /// So little that no sample of 32 bits shows it, whatever comes in next.
    @_noLocks @inline(__always)
    func isGone() -> Bool { band.magnitude < 1e-60 && low.magnitude < 1e-60 }
}

/// The next sample of a section. [audio]
@_noLocks @inline(__always)
func filterStep(_ section: FilterSection, _ state: inout FilterState, _ input: Double) -> Double {
    // The states move by twice the way to the outputs: small differences are not lost in large states.
    let (band, low) = (state.band, state.low)
    let rest = input - low
    let bandWay = section.a1 * band + section.a2 * rest
    let lowWay = section.a2 * band + section.a3 * rest
    state.band = band + 2 * bandWay
    state.low = low + 2 * lowWay
    return section.m0 * input + section.m1 * (band + bandWay) + section.m2 * (low + lowWay)
}

/// A sample for a recursive filter: what is infinite or not a number would stay in it for ever, and counts as 0. [audio]
@_noLocks @inline(__always)
func finiteSample(_ sample: Float) -> Double {
    sample.bitPattern & 0x7F80_0000 == 0x7F80_0000 ? 0 : Double(sample)
}
