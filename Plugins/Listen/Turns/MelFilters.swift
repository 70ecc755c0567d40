// SPDX-License-Identifier: Apache-2.0
import CKissfft
import Glibc
import NodeKit

/// Triangles of equal area from 0 to 8000 Hz, on the mel scale of M. Slaney ("Auditory Toolbox", 1998): even steps up to
/// 1000 Hz, even ratios above. For power spectra of mono at 16 kHz.
struct MelFilters {
    /// Of each band: the first bin that counts, and what each bin counts from there on.
    private let bands: [(first: Int, weights: [Float])]

    /// So many bands, of spectra of blocks of `length` samples.
    init(_ count: Int, length: Int) {
        let bins = length / 2 + 1
        let corners = (0..<count + 2).map { Self.hertz(Self.mel(speechRate / 2) * Double($0) / Double(count + 1)) }
        bands = (0..<count).map { band in
            let (low, centre, high) = (corners[band], corners[band + 1], corners[band + 2])
            let weights = (0..<bins).map { bin -> Float in
                let frequency = Double(bin) * speechRate / Double(length)
                let height = min((frequency - low) / (centre - low), (high - frequency) / (high - centre))
                return Float(max(0, height) * 2 / (high - low))
            }
            let first = weights.firstIndex { $0 > 0 } ?? 0
            let end = (weights.lastIndex { $0 > 0 } ?? first) + 1
            return (first, Array(weights[first..<end]))
        }
    }

    /// The power of each band.
    func apply(_ power: [Float], _ body: (_ band: Int, _ power: Float) -> Void) {
        for (band, filter) in bands.enumerated() {
            var sum: Float = 0
            for (place, weight) in filter.weights.enumerated() { sum += weight * power[filter.first + place] }
            body(band, sum)
        }
    }

    private static func mel(_ hertz: Double) -> Double {
        hertz < 1000 ? hertz * 3 / 200 : 15 + log(hertz / 1000) * 27 / log(6.4)
    }

    private static func hertz(_ mel: Double) -> Double {
        mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27)
    }
}

/// Power spectra of blocks of real samples. By one thread at a time.
final class PowerSpectrum {
    /// The power of each bin, of the last block.
    private(set) var power: [Float]
    private let transform: kiss_fftr_cfg
    private var spectrum: [kiss_fft_cpx]

    /// For blocks of `length` samples.
    init(length: Int) throws(NodeError) {
        guard let transform = kiss_fftr_alloc(Int32(length), 0, nil, nil) else {
            throw NodeError("no memory for a Fourier transform")
        }
        self.transform = transform
        spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: length / 2 + 1)
        power = [Float](repeating: 0, count: length / 2 + 1)
    }

    deinit { free(UnsafeMutableRawPointer(transform)) }

    /// Takes a block, which has its window.
    func take(_ block: [Float]) {
        kiss_fftr(transform, block, &spectrum)
        for bin in power.indices {
            power[bin] = spectrum[bin].r * spectrum[bin].r + spectrum[bin].i * spectrum[bin].i
        }
    }
}
