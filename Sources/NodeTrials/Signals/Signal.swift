// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Test signals and what can be measured of them. Frequencies in Hz, rates in Hz, amplitudes linear.
public enum Signal {
    /// A sine that starts at phase 0.
    public static func sine(_ frequency: Double, rate: Double, frames: Int, amplitude: Double = 1) -> [Float] {
        (0..<frames).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / rate)) }
    }

    /// White noise in -amplitude..<amplitude.
    public static func noise(frames: Int, seed: UInt64, amplitude: Float = 1) -> [Float] {
        var random = TestRandom(seed: seed)
        return (0..<frames).map { _ in random.sample() * amplitude }
    }

    /// A single 1 at `frame`.
    public static func impulse(at frame: Int, frames: Int) -> [Float] { (0..<frames).map { $0 == frame ? 1 : 0 } }

    /// The same number throughout.
    public static func constant(_ value: Float, frames: Int) -> [Float] { Array(repeating: value, count: frames) }

    /// Root mean square, linear.
    public static func rms(_ signal: some Collection<Float>) -> Double {
        contiguous(signal) { samples in
            var sum = 0.0
            for sample in samples { sum += Double(sample) * Double(sample) }
            return samples.isEmpty ? 0 : (sum / Double(samples.count)).squareRoot()
        }
    }

    /// Largest absolute sample, linear; NaN counts as infinite.
    public static func peak(_ signal: some Collection<Float>) -> Float {
        contiguous(signal) { $0.reduce(0) { $1.isNaN ? .infinity : max($0, abs($1)) } }
    }

    /// Largest absolute difference of two signals of one length; infinite when the lengths differ.
    public static func difference(_ a: some Collection<Float>, _ b: some Collection<Float>) -> Float {
        contiguous(a) { a in
            contiguous(b) { b in a.count == b.count ? peak(zip(a, b).map { $0 == $1 ? 0 : $0 - $1 }) : .infinity }
        }
    }

    /// Largest absolute difference of neighbouring samples.
    public static func largestStep(_ signal: some Collection<Float>) -> Float {
        contiguous(signal) { peak(zip($0, $0.dropFirst()).map { $1 - $0 }) }
    }

    /// The sum of the products of their samples, as far as the shorter goes.
    public static func product(_ a: ArraySlice<Double>, _ b: ArraySlice<Double>) -> Double {
        zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
    }

    /// 20 log10 of a linear value.
    public static func decibels(_ linear: Double) -> Double { 20 * log10(linear) }

    /// Upward zero crossings.
    public static func upwardCrossings(_ signal: [Float]) -> Int {
        zip(signal, signal.dropFirst()).count { $0 < 0 && $1 >= 0 }
    }
}

/// The samples where they lie: targets of tests are not optimized, and could not make a generic loop their own.
private func contiguous<Result>(
    _ signal: some Collection<Float>, _ body: (UnsafeBufferPointer<Float>) -> Result
) -> Result {
    signal.withContiguousStorageIfAvailable(body) ?? Array(signal).withUnsafeBufferPointer(body)
}
