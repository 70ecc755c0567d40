// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which bands there are: `count` of them between two frequencies in Hz, whose edges have equal ratios.
struct BandRange {
    var count = 10
    var low = 50.0
    var high = 10_000.0
}

/// A row of bars from a spectrum: they rise at once, fall as something that drops, and are scaled to what is heard, so that
/// the loudest of them fills the height, as those of the program cava do. By one thread at a time.
final class Bands {
    /// Where a bar is and how it falls.
    fileprivate struct Bar {
        var height = 0.0
        var top = 0.0
        /// 60ths of a second since it was at its top.
        var fall = 0.0
    }

    private let spectrum: Spectrum
    /// For each band: the first bin that counts, and what each counts from there on.
    private let weights: [(first: Int, parts: [Float])]
    private var bars: [Bar]
    /// What amplitudes are multiplied by, and whether the loudest has been at the top once.
    private var sensitivity = 1.0
    private var isSettled = false

    /// The sum of a sine's powers over the bins of a Hann window is so many times its power.
    private static let noiseBandwidth = 1.5
    /// A bar has fallen to the ground after so many 60ths of a second.
    private static let fallTime = 36.0
    /// What is quieter is silence and does not raise the sensitivity: -80 dBFS.
    private static let silence = 1e-4

    init(_ range: BandRange, of spectrum: Spectrum) {
        self.spectrum = spectrum
        let ratio = pow(range.high / range.low, 1 / Double(range.count))
        weights = (0..<range.count).map { band in
            let low = range.low * pow(ratio, Double(band)) / spectrum.step
            let high = min(low * ratio, Double(spectrum.size / 2) + 0.5)
            let first = max(0, Int((low + 0.5).rounded(.down)))
            let last = min(spectrum.size / 2, Int((high + 0.5).rounded(.down)))
            guard last >= first, high > low else { return (0, []) }
            // Of each bin as much as lies within the band.
            let parts = (first...last).map { bin in
                Float(max(0, min(high, Double(bin) + 0.5) - max(low, Double(bin) - 0.5)))
            }
            return (first, parts)
        }
        bars = Array(repeating: Bar(), count: range.count)
    }

    /// The bars so many 60ths of a second later, 0 to 1.
    func next(_ sixtieths: Int) -> [Float] {
        let power = spectrum.power
        let amplitudes = weights.map { band in
            var sum: Float = 0
            for (place, part) in band.parts.enumerated() { sum += part * power[band.first + place] }
            return (Double(sum) / Self.noiseBandwidth).squareRoot()
        }
        for _ in 0..<sixtieths {
            adapt(to: amplitudes.max() ?? 0)
            for index in bars.indices {
                bars[index].move(to: min(1, amplitudes[index] * sensitivity), in: Self.fallTime)
            }
        }
        return bars.map { Float($0.height) }
    }

    /// Soon down where a bar would be too high; up slowly, twice in two seconds, but at the start within half of one.
    private func adapt(to loudest: Double) {
        guard loudest > Self.silence else { return }
        let wanted = 1 / loudest
        if wanted <= sensitivity {
            isSettled = true
            sensitivity = max(wanted, sensitivity * 0.9)
        } else {
            sensitivity = min(wanted, sensitivity * (isSettled ? 1.006 : 1.2))
        }
    }
}

extension Bands.Bar {
    fileprivate mutating func move(to height: Double, in fallTime: Double) {
        fall += 1
        let part = fall / fallTime
        let fallen = max(0, top * (1 - part * part))
        if height >= fallen {
            (self.height, top, fall) = (height, height, 0)
        } else {
            self.height = fallen
        }
    }
}
