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
    /// What it is multiplied by besides the Q of its band.
    var quality = 1.0
    /// Whether the Q of its band counts.
    var followsQ = true

    /// Writes its numbers for a frequency as the tangent of pi f / rate, and for an amplitude of 10^(dB / 40), to its place
    /// in those of a chain: see `vg_sections`. [audio]
    @_noLocks
    func write(
        _ kind: FilterKind, tangent: Double, amplitude: Double, q: Double, to values: AudioArray<Double>, at index: Int
    ) {
        var g = tangent
        var k = 1 / (followsQ ? q * quality : quality)
        let square = amplitude * amplitude
        // How much of the input, of the band and of the low output is in the result.
        let m: (input: Double, band: Double, low: Double)
        switch kind {
        case .lowpass: m = (0, 0, 1)
        case .highpass: m = (1, -k, -1)
        case .bandpass: m = (0, k, 0)
        case .notch: m = (1, -k, 0)
        case .allpass: m = (1, -2 * k, 0)
        case .peak:
            k /= amplitude
            m = (1, k * (square - 1), 0)
        case .lowshelf:
            g /= vg_root(amplitude)
            m = (1, k * (amplitude - 1), square - 1)
        case .highshelf:
            g *= vg_root(amplitude)
            m = (square, k * (1 - amplitude) * amplitude, 1 - square)
        }
        // The outputs lie in the middle between the states before and after a sample.
        let scale = 1 / (1 + g * (g + k))
        let (band, low) = (g * scale, g * g * scale)
        let place = index / lanes * 6 * lanes + index % lanes
        values[place] = -2 * g * (g + k) * scale
        values[place + lanes] = 2 * band
        values[place + 2 * lanes] = 2 * low
        values[place + 3 * lanes] = m.input + m.band * band + m.low * low
        values[place + 4 * lanes] = m.band * scale + m.low * band
        values[place + 5 * lanes] = m.low * (1 + g * k) * scale - m.band * band
    }

    /// Numbers and states of a chain of as many sections. [any]
    static func sizes(_ count: Int) -> (values: Int, states: Int) {
        let groups = (count + lanes - 1) / lanes
        return (groups * 6 * lanes, groups * 2 * lanes)
    }

    private var lanes: Int { @_noLocks get { Self.lanes } }
    private static var lanes: Int { @_noLocks get { Int(VG_SECTION_LANES) } }
}

/// A sample for a recursive filter: what is infinite or not a number would stay in it for ever, and counts as 0. [audio]
@_noLocks @inline(__always)
func finiteSample(_ sample: Float) -> Double {
    sample.bitPattern & 0x7F80_0000 == 0x7F80_0000 ? 0 : Double(sample)
}
