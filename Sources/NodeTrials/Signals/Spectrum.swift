// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Magnitudes of a signal's frequencies. Bin k of a signal of n frames is the frequency k * rate / n.
public struct Spectrum {
    /// The amplitude of the sine at each bin, from 0 to half the rate, linear: that of a sine which fits into the
    /// signal a whole number of times is its amplitude.
    public let amplitudes: [Double]

    /// Transforms a signal whose number of frames is a power of 2, as it is: without a window, so that what fits into
    /// it a whole number of times stays in one bin.
    public init(_ signal: some Collection<Float>) { self.init(signal.map { Double($0) }) }

    /// The same for Double.
    public init(_ signal: [Double]) {
        let count = signal.count
        precondition(count > 1 && count & (count - 1) == 0, "\(count) is no power of 2")
        var (re, im) = (signal, [Double](repeating: 0, count: count))
        transform(&re, &im)
        amplitudes = (0...count / 2).map { bin in
            let scale = bin == 0 || bin == count / 2 ? 1 / Double(count) : 2 / Double(count)
            return scale * (re[bin] * re[bin] + im[bin] * im[bin]).squareRoot()
        }
    }

    /// Transforms under a Blackman-Harris window (four terms: Harris, Proc. IEEE 66, 1978), whose side lobes are below
    /// -92 dB: for signals that fit into nothing. A sine's amplitude is spread over seven bins.
    public static func windowed(_ signal: some Collection<Float>) -> Spectrum {
        let count = Double(signal.count)
        return Spectrum(
            signal.enumerated().map { index, sample in
                let x = 2 * .pi * Double(index) / count
                let window = 0.35875 - 0.48829 * cos(x) + 0.14128 * cos(2 * x) - 0.01168 * cos(3 * x)
                return Double(sample) * window / 0.35875
            })
    }

    /// The largest amplitude in a range of bins.
    public func peak(_ bins: Range<Int>) -> Double { amplitudes[bins].max() ?? 0 }

    /// The sum of the squares of the effective values in a range of bins.
    public func power(_ bins: Range<Int>) -> Double { amplitudes[bins].reduce(0) { $0 + $1 * $1 / 2 } }
}

/// The fast Fourier transform of radix 2 in place (Cooley and Tukey, 1965).
private func transform(_ re: inout [Double], _ im: inout [Double]) {
    let count = re.count
    var reversed = 0
    for index in 1..<count {
        var bit = count >> 1
        while reversed & bit != 0 {
            reversed ^= bit
            bit >>= 1
        }
        reversed |= bit
        if index < reversed {
            re.swapAt(index, reversed)
            im.swapAt(index, reversed)
        }
    }
    // Every factor from its own angle: a product of products would lose digits.
    let cosines = (0..<count / 2).map { cos(-2 * .pi * Double($0) / Double(count)) }
    let sines = (0..<count / 2).map { sin(-2 * .pi * Double($0) / Double(count)) }
    var width = 2
    while width <= count {
        let stride = count / width
        for start in Swift.stride(from: 0, to: count, by: width) {
            for offset in 0..<width / 2 {
                let (a, b) = (start + offset, start + offset + width / 2)
                let (c, s) = (cosines[offset * stride], sines[offset * stride])
                let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c)
                (re[b], im[b]) = (re[a] - x, im[a] - y)
                (re[a], im[a]) = (re[a] + x, im[a] + y)
            }
        }
        width *= 2
    }
}

extension Signal {
    /// The sine of a frequency in a signal of a whole number of its periods: amplitude, and phase in radians of a sine
    /// that begins with the signal (0: upwards through zero at its first frame).
    public static func partial(_ frequency: Double, of signal: some Collection<Float>, rate: Double) -> (
        amplitude: Double, phase: Double
    ) {
        var (re, im) = (0.0, 0.0)
        for (frame, sample) in signal.enumerated() {
            let angle = 2 * .pi * frequency * Double(frame) / rate
            re += Double(sample) * cos(angle)
            im += Double(sample) * sin(angle)
        }
        let scale = 2 / Double(max(1, signal.count))
        return (scale * (re * re + im * im).squareRoot(), atan2(re, im))
    }
}
