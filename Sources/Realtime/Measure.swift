// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// The largest absolute sample and the sum of squares of a run of samples.
public struct Measure: BitwiseCopyable, Sendable, Equatable {
    /// Largest absolute sample, linear. NaN if any sample is NaN; infinity if any is infinite and none is NaN.
    public var peak: Float
    /// Sum of the squared samples; NaN if any sample is NaN; infinite when samples beyond 1e19 overflow it.
    public var sumOfSquares: Float

    /// The measure of no samples is 0 and 0.
    @inlinable public init(peak: Float = 0, sumOfSquares: Float = 0) {
        self.peak = peak
        self.sumOfSquares = sumOfSquares
    }
}

/// The arithmetic on samples that is worth its own vectors.
public enum DSP {
    /// Peak and sum of squares in one pass, the same to the bit on every processor of an architecture. [audio]
    @_noLocks
    public static func measure(_ samples: UnsafePointer<Float>, frames: Int) -> Measure {
        let measured = vg_measure(samples, UInt32(truncatingIfNeeded: frames))
        return Measure(peak: measured.peak, sumOfSquares: measured.sum_of_squares)
    }
}
