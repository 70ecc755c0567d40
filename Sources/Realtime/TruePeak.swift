// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finds how far one channel's signal goes between its samples: the true peak of ITU-R BS.1770, four points a sample.
/// Plain data, to be held by a processor; `TruePeakChannels`, which makes it, must outlive it.
///
/// Three interpolators are asked and the largest answer counts, since what lies between samples depends on how far a
/// meter looks: the filter of BS.1770-4, annex 2, with 12 taps a phase, so that what a standard meter reads is never more,
/// and windowed sincs with 24 and with 48 taps, the latter right up to nearly half the rate. Between the four points of the
/// longest a parabola is laid, since a peak may lie between them as well.
public struct TruePeakDetector: BitwiseCopyable {
    /// Frames from a sample to the answer that begins at it.
    public static let delay = taps / 2

    fileprivate static let taps = 48
    fileprivate static let middleTaps = 24
    fileprivate static let standardTaps = 12
    /// The taps of the standard's filter, filled up to whole vectors.
    fileprivate static let standardStride = 16
    /// Phases 1 to 3 of the long and of the middle sinc, then the four of the standard's filter.
    fileprivate static let tableSize = 3 * taps + 3 * middleTaps + 4 * standardStride

    private let table: UnsafePointer<Float>
    /// The last `taps` samples, twice, so that they lie in a row wherever the oldest one is.
    private let window: UnsafeMutablePointer<Float>
    /// More than the answer can be for samples of at most 1.
    private let bound: Float
    private var position = 0
    /// Frames for which a sample that matters is in the window.
    private var loud = 0
    // The last two points of the interval before.
    private var half: Float = 0
    private var last: Float = 0

    fileprivate init(table: UnsafePointer<Float>, window: UnsafeMutablePointer<Float>, bound: Float) {
        self.table = table
        self.window = window
        self.bound = bound
    }

    /// Whether no sample in reach could give an answer above the limit. [audio]
    public var isQuiet: Bool {
        @_noLocks get { loud == 0 }
    }

    /// Takes a sample, which must be a number, and gives the largest magnitude between the sample `delay` frames ago
    /// and the next one, or 0 where it is certain that it does not exceed `limit`. [audio]
    @_noLocks
    public mutating func next(_ sample: Float, limit: Float) -> Float {
        window[position] = sample
        window[position &+ Self.taps] = sample
        position &+= 1
        let samples = UnsafePointer(window + position)
        if position == Self.taps { position = 0 }
        if abs(sample) * bound > limit { loud = Self.taps }
        if loud == 0 {
            half = 0
            last = 0
            return 0
        }
        loud &-= 1
        let first = samples[Self.taps / 2 &- 1]
        let second = sum(samples, table)
        let third = sum(samples, table + Self.taps)
        let fourth = sum(samples, table + 2 * Self.taps)
        var peak = max(max(abs(first), abs(second)), max(abs(third), abs(fourth)))
        if peak * 1.125 > limit || abs(last) * 1.125 > limit {
            peak = max(peak, max(vertex(half, last, first), vertex(last, first, second)))
            peak = max(peak, max(vertex(first, second, third), vertex(second, third, fourth)))
        }
        half = third
        last = fourth
        let middle = table + 3 * Self.taps
        let around = samples + (Self.taps &- Self.middleTaps) / 2
        peak = max(peak, abs(middleSum(around, middle)))
        peak = max(peak, abs(middleSum(around, middle + Self.middleTaps)))
        peak = max(peak, abs(middleSum(around, middle + 2 * Self.middleTaps)))
        let standard = middle + 3 * Self.middleTaps
        let near = samples + (Self.taps &- Self.standardTaps) / 2
        let outer = max(abs(shortSum(near, standard)), abs(shortSum(near, standard + 3 * Self.standardStride)))
        let inner = max(
            abs(shortSum(near, standard + Self.standardStride)),
            abs(shortSum(near, standard + 2 * Self.standardStride)))
        return max(peak, max(outer, inner))
    }
}

/// The height of the parabola through three points at equal distances, when the one in the middle is the furthest from
/// zero; at most 1.125 times as high as it. Else 0.
@_noLocks @inline(__always)
private func vertex(_ left: Float, _ middle: Float, _ right: Float) -> Float {
    if abs(left) > abs(middle) || abs(right) > abs(middle) || left * middle <= 0 || right * middle <= 0 { return 0 }
    let bend = left - 2 * middle + right
    if bend == 0 { return abs(middle) }
    let slope = left - right
    return abs(middle - slope * slope / (8 * bend))
}

@_noLocks @inline(__always)
private func eight(_ samples: UnsafePointer<Float>, _ index: Int) -> SIMD8<Float> {
    UnsafeRawPointer(samples + index).loadUnaligned(as: SIMD8<Float>.self)
}

@_noLocks @inline(__always)
private func total(_ lanes: SIMD8<Float>) -> Float {
    let four = lanes.lowHalf + lanes.highHalf
    let two = four.lowHalf + four.highHalf
    return two.x + two.y
}

@_noLocks @inline(__always)
private func sum(_ samples: UnsafePointer<Float>, _ taps: UnsafePointer<Float>) -> Float {
    var lanes = eight(samples, 0) * eight(taps, 0)
    lanes += eight(samples, 8) * eight(taps, 8)
    lanes += eight(samples, 16) * eight(taps, 16)
    lanes += eight(samples, 24) * eight(taps, 24)
    lanes += eight(samples, 32) * eight(taps, 32)
    lanes += eight(samples, 40) * eight(taps, 40)
    return total(lanes)
}

@_noLocks @inline(__always)
private func middleSum(_ samples: UnsafePointer<Float>, _ taps: UnsafePointer<Float>) -> Float {
    total(
        eight(samples, 0) * eight(taps, 0) + eight(samples, 8) * eight(taps, 8) + eight(samples, 16) * eight(taps, 16))
}

@_noLocks @inline(__always)
private func shortSum(_ samples: UnsafePointer<Float>, _ taps: UnsafePointer<Float>) -> Float {
    total(eight(samples, 0) * eight(taps, 0) + eight(samples, 8) * eight(taps, 8))
}

/// The memory of true-peak detectors, one a channel. [control]
public final class TruePeakChannels: @unchecked Sendable {
    // Sendable: after `init` only the audio thread touches the memory.

    /// One a channel, at their start: for one processor.
    public let detectors: UnsafeMutablePointer<TruePeakDetector>

    private let channels: Int
    private let memory: UnsafeMutablePointer<Float>

    /// Makes silent detectors. [control]
    public init(channels: Int) {
        self.channels = channels
        let taps = TruePeakDetector.taps
        let size = TruePeakDetector.tableSize + 2 * taps * channels
        memory = .allocate(capacity: size)
        memory.initialize(repeating: 0, count: size)
        let bound = Self.fill(memory)
        detectors = .allocate(capacity: channels)
        for channel in 0..<channels {
            let window = memory + TruePeakDetector.tableSize + 2 * taps * channel
            (detectors + channel).initialize(to: TruePeakDetector(table: memory, window: window, bound: bound))
        }
    }

    deinit {
        memory.deallocate()
        detectors.deallocate()
    }

    /// Writes the filters; how much more than the largest sample an answer can be.
    private static func fill(_ table: UnsafeMutablePointer<Float>) -> Float {
        let long = sinc(table, taps: TruePeakDetector.taps, beta: 5)
        let middle = table + 3 * TruePeakDetector.taps
        let largest = max(long, sinc(middle, taps: TruePeakDetector.middleTaps, beta: 6))
        let standard = middle + 3 * TruePeakDetector.middleTaps
        let count = TruePeakDetector.standardTaps
        for tap in 0..<count {
            // The standard's filters are written with the newest sample first.
            let rows = [outerPhase[count - 1 - tap], innerPhase[count - 1 - tap], innerPhase[tap], outerPhase[tap]]
            for (phase, weight) in rows.enumerated() {
                standard[phase * TruePeakDetector.standardStride + tap] = weight
            }
        }
        return Float(largest * 1.125 * 1.001)  // of the parabola, and of rounding
    }

    /// Writes phases 1 to 3 of a sinc under a Kaiser window; how much more than the largest sample they can give.
    private static func sinc(_ table: UnsafeMutablePointer<Float>, taps: Int, beta: Double) -> Double {
        var largest = 1.0
        for phase in 1...3 {
            var norm = 0.0
            for tap in 0..<taps {
                let time = Double(phase) / 4 - Double(tap - taps / 2 + 1)
                let place = time / Double(taps / 2)
                let window = bessel(beta * max(0, 1 - place * place).squareRoot()) / bessel(beta)
                let weight = sin(.pi * time) / (.pi * time) * window
                table[(phase - 1) * taps + tap] = Float(weight)
                norm += abs(weight)
            }
            largest = max(largest, norm)
        }
        return largest
    }

    /// The modified Bessel function of the first kind and order 0, by its series.
    private static func bessel(_ x: Double) -> Double {
        var (term, sum) = (1.0, 1.0)
        for k in 1...40 {
            term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
            sum += term
        }
        return sum
    }

    /// BS.1770-4, annex 2, phase 0; phase 3 is the same backwards.
    private static let outerPhase: [Float] = [
        0.0017089843750, 0.0109863281250, -0.0196533203125, 0.0332031250000, -0.0594482421875, 0.1373291015625,
        0.9721679687500, -0.1022949218750, 0.0476074218750, -0.0266113281250, 0.0148925781250, -0.0083007812500,
    ]
    /// Phase 1; phase 2 is the same backwards.
    private static let innerPhase: [Float] = [
        -0.0291748046875, 0.0292968750000, -0.0517578125000, 0.0891113281250, -0.1665039062500, 0.4650878906250,
        0.7797851562500, -0.2003173828125, 0.1015625000000, -0.0582275390625, 0.0330810546875, -0.0189208984375,
    ]
}
