// SPDX-License-Identifier: Apache-2.0
import CRealtime
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
    /// Frames that are looked at as one, at most.
    public static let longest = Int(VG_PEAK_FRAMES)
    /// Frames to both sides of a sample on which the answers depend that are much larger than it.
    public static let margin = 12

    fileprivate static let taps = Int(VG_PEAK_LONG)

    private let filters: UnsafePointer<vg_peak_filters>
    /// The last `taps - 1` samples, and behind them room for the new ones.
    private let window: UnsafeMutablePointer<Float>
    /// More than the answer can be for samples of at most 1.
    private let bound: Float
    /// Frames for which a sample that matters is in the window.
    private var loud = 0
    /// The last two points before the next frame.
    private var before: (Float, Float) = (0, 0)

    fileprivate init(
        filters: UnsafePointer<vg_peak_filters>, window: UnsafeMutablePointer<Float>, bound: Float
    ) {
        self.filters = filters
        self.window = window
        self.bound = bound
    }

    /// Whether no sample in reach could give an answer above the limit. [audio]
    public var isQuiet: Bool {
        @_noLocks get { loud == 0 }
    }

    /// Takes samples, which must be numbers, at most `longest`. Raises each of `peaks`, which are as many, rounded up to
    /// eight, to the largest magnitude between the sample `delay` frames ago and the next one; none where it is certain that
    /// this does not exceed `limit`. What exceeds it is the same wherever the samples are cut. [audio]
    @_noLocks
    public mutating func raise(
        _ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>, count: Int, limit: Float
    ) {
        let kept = Self.taps - 1
        let size = MemoryLayout<Float>.stride
        UnsafeMutableRawPointer(window + kept).copyMemory(from: samples, byteCount: count &* size)
        let loudest = vg_measure(samples, UInt32(truncatingIfNeeded: count)).peak
        if loudest * bound > limit { loud = kept + count }
        if loud > 0 {
            withUnsafeMutableBytes(of: &before) {
                vg_true_peaks(
                    filters, window, $0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Float.self), peaks,
                    UInt32(truncatingIfNeeded: count))
            }
            loud = max(loud - count, 0)
        } else {
            before = (0, 0)
        }
        UnsafeMutableRawPointer(window).copyMemory(from: window + count, byteCount: kept &* size)
    }
}

/// The memory of true-peak detectors, one a channel. [control]
public final class TruePeakChannels: @unchecked Sendable {
    // Sendable: after `init` only the audio thread touches the memory.

    /// One a channel, at their start: for one processor.
    public let detectors: UnsafeMutablePointer<TruePeakDetector>

    private let filters: UnsafeMutablePointer<vg_peak_filters>
    private let windows: UnsafeMutablePointer<Float>

    /// Makes silent detectors. [control]
    public init(channels: Int) {
        // What is rounded up to eight may be read.
        let size = TruePeakDetector.taps - 1 + TruePeakDetector.longest + 8
        windows = .allocate(capacity: size * channels)
        windows.initialize(repeating: 0, count: size * channels)
        filters = .allocate(capacity: 1)
        filters.initialize(to: vg_peak_filters())
        let bound = Self.fill(filters)
        detectors = .allocate(capacity: channels)
        for channel in 0..<channels {
            (detectors + channel).initialize(
                to: TruePeakDetector(filters: filters, window: windows + size * channel, bound: bound))
        }
    }

    deinit {
        windows.deallocate()
        filters.deallocate()
        detectors.deallocate()
    }

    /// Writes the filters; how much more than the largest sample an answer can be.
    private static func fill(_ filters: UnsafeMutablePointer<vg_peak_filters>) -> Float {
        let (long, middle) = (Int(VG_PEAK_LONG), Int(VG_PEAK_MIDDLE))
        let largest = max(
            withUnsafeMutableBytes(of: &filters.pointee.long_sinc) { sinc($0.bindMemory(to: Float.self), long, 5) },
            withUnsafeMutableBytes(of: &filters.pointee.middle_sinc) { sinc($0.bindMemory(to: Float.self), middle, 6) })
        withUnsafeMutableBytes(of: &filters.pointee.standard) { bytes in
            let weights = bytes.bindMemory(to: Float.self)
            let count = Int(VG_PEAK_STANDARD)
            for tap in 0..<count {
                // The standard's filters are written with the newest sample first.
                let rows = [
                    outerPhase[count - 1 - tap], innerPhase[count - 1 - tap], innerPhase[tap], outerPhase[tap],
                ]
                for (phase, weight) in rows.enumerated() { weights[phase * count + tap] = weight }
            }
        }
        return Float(largest * 1.125 * 1.001)  // of the parabola, and of rounding
    }

    /// Writes phases 1 to 3 of a sinc under a Kaiser window; how much more than the largest sample they can give.
    private static func sinc(_ table: UnsafeMutableBufferPointer<Float>, _ taps: Int, _ beta: Double) -> Double {
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
