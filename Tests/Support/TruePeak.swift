// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Measures true peaks with filters of the tests' own.
public enum TruePeak {
    /// The filter of ITU-R BS.1770-4, annex 2: 48 taps in four phases, the last two of which are the first two backwards.
    private static let standard: [[Double]] = {
        let outer = [
            0.0017089843750, 0.0109863281250, -0.0196533203125, 0.0332031250000, -0.0594482421875, 0.1373291015625,
            0.9721679687500, -0.1022949218750, 0.0476074218750, -0.0266113281250, 0.0148925781250, -0.0083007812500,
        ]
        let inner = [
            -0.0291748046875, 0.0292968750000, -0.0517578125000, 0.0891113281250, -0.1665039062500, 0.4650878906250,
            0.7797851562500, -0.2003173828125, 0.1015625000000, -0.0582275390625, 0.0330810546875, -0.0189208984375,
        ]
        return [outer, inner, inner.reversed(), outer.reversed()]
    }()

    /// Eight phases of sincs: of 24 taps under a Hann window and of 32 under a Blackman window.
    private static let eightfold: [[[Double]]] = [
        sinc(taps: 24) { 0.5 + 0.5 * cos(.pi * $0) },
        sinc(taps: 32) { 0.42 + 0.5 * cos(.pi * $0) + 0.08 * cos(2 * .pi * $0) },
    ]

    /// `window`: from -1 to 1.
    private static func sinc(taps: Int, window: (Double) -> Double) -> [[Double]] {
        (0..<8).map { phase in
            (0..<taps).map { tap in
                let time = Double(tap - taps / 2) + Double(phase) / 8
                return time == 0 ? 1 : sin(.pi * time) / (.pi * time) * window(time / Double(taps / 2))
            }
        }
    }

    private static func peak(_ signal: [Float], _ filters: [[Double]]) -> Double {
        let taps = filters[0].count
        let padded = Array(repeating: 0, count: taps) + signal.map(Double.init) + Array(repeating: 0, count: taps)
        var peak = 0.0
        padded.withUnsafeBufferPointer { samples in
            for filter in filters {
                filter.withUnsafeBufferPointer { filter in
                    for start in 0..<(samples.count - taps) {
                        var sum = 0.0
                        var tap = 0
                        while tap < taps {
                            sum += samples[start &+ tap] * filter[tap]
                            tap &+= 1
                        }
                        if abs(sum) > peak { peak = abs(sum) }
                    }
                }
            }
        }
        return peak
    }

    /// In dBTP: what a meter by the standard reads.
    public static func standard(_ signal: [Float]) -> Double { Signal.decibels(peak(signal, standard)) }

    /// In dBTP, at eight times the rate; the largest of two filters.
    public static func eightfold(_ signal: [Float]) -> Double {
        Signal.decibels(eightfold.map { peak(signal, $0) }.max() ?? 0)
    }
}
