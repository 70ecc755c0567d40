// SPDX-License-Identifier: Apache-2.0

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
    /// Peak and sum of squares in one pass. [audio]
    ///
    /// A comparison passes over a NaN, so the peak alone would hide it. The sum cannot: no sum of squares is NaN unless
    /// a sample is, as infinities only add up. So the sum decides at the end.
    @_noLocks
    public static func measure(_ samples: UnsafePointer<Float>, frames: Int) -> Measure {
        // Two of each, because one alone would wait for its own last addition; more do not fit the registers.
        var sumA = Narrow(repeating: 0)
        var sumB = sumA
        var peakA = sumA
        var peakB = sumA
        var frame = 0
        while frame &+ 16 <= frames {
            let a = narrow(samples, frame)
            let b = narrow(samples, frame &+ 8)
            sumA += a * a
            sumB += b * b
            peakA = larger(magnitude(a), peakA)
            peakB = larger(magnitude(b), peakB)
            frame &+= 16
        }
        var sum = total(sumA + sumB)
        var peak = largest(larger(peakA, peakB))
        while frame < frames {
            let sample = samples[frame]
            sum += sample * sample
            if abs(sample) > peak { peak = abs(sample) }
            frame &+= 1
        }
        return Measure(peak: sum.isNaN ? .nan : peak, sumOfSquares: sum)
    }
}

private typealias Narrow = SIMD8<Float>

@_noLocks @inline(__always)
private func narrow(_ samples: UnsafePointer<Float>, _ frame: Int) -> Narrow {
    UnsafeRawPointer(samples + frame).loadUnaligned(as: Narrow.self)
}

@_noLocks @inline(__always)
private func magnitude(_ lanes: Narrow) -> Narrow {
    unsafeBitCast(unsafeBitCast(lanes, to: SIMD8<UInt32>.self) & 0x7fff_ffff, to: Narrow.self)
}

/// Lane by lane the larger; where `a` is NaN, `b`.
@_noLocks @inline(__always)
private func larger(_ a: Narrow, _ b: Narrow) -> Narrow { b.replacing(with: a, where: a .> b) }

@_noLocks @inline(__always)
private func total(_ lanes: Narrow) -> Float {
    let four = lanes.lowHalf + lanes.highHalf
    let two = four.lowHalf + four.highHalf
    return two.x + two.y
}

@_noLocks @inline(__always)
private func largest(_ lanes: Narrow) -> Float {
    let four = lanes.lowHalf.replacing(with: lanes.highHalf, where: lanes.highHalf .> lanes.lowHalf)
    let two = four.lowHalf.replacing(with: four.highHalf, where: four.highHalf .> four.lowHalf)
    return two.x > two.y ? two.x : two.y
}
