// SPDX-License-Identifier: Apache-2.0
import CKissfft
import Glibc
import NodeKit

/// The logarithmic mel spectrogram that the Whisper family of models takes (A. Radford and others, "Robust Speech
/// Recognition via Large-Scale Weak Supervision", 2022, section 2.2): 80 bands every 10 ms, of mono at 16 kHz.
final class MelFeatures {
    static let bands = 80
    private static let length = 400
    private static let hop = 160
    private static let bins = length / 2 + 1

    private let transform: kiss_fftr_cfg
    /// Periodic, as for spectra.
    private let window = (0..<length).map { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(length)) }
    /// Of each band: the first bin that counts, and what each bin counts from there on.
    private let filters: [(first: Int, weights: [Float])]

    init() throws(NodeError) {
        guard let transform = kiss_fftr_alloc(Int32(Self.length), 0, nil, nil) else {
            throw NodeError("no memory for a Fourier transform")
        }
        self.transform = transform
        filters = Self.makeFilters()
    }

    deinit { free(UnsafeMutableRawPointer(transform)) }

    /// Band after band, one number for each 10 ms: of `samples.count / 160` frames, centred on their instants. The
    /// samples are first brought to a mean of 0 and a variance of 1, as the models were trained.
    func compute(_ samples: [Float]) -> [Float] {
        let frames = samples.count / Self.hop
        let padded = pad(normalized(samples))
        var block = [Float](repeating: 0, count: Self.length)
        var spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: Self.bins)
        var power = [Float](repeating: 0, count: Self.bins)
        var result = [Float](repeating: 0, count: Self.bands * frames)
        var loudest = -Float.infinity
        for frame in 0..<frames {
            let start = frame * Self.hop
            for place in 0..<Self.length { block[place] = padded[start + place] * Float(window[place]) }
            kiss_fftr(transform, block, &spectrum)
            for bin in 0..<Self.bins {
                power[bin] = spectrum[bin].r * spectrum[bin].r + spectrum[bin].i * spectrum[bin].i
            }
            for (band, filter) in filters.enumerated() {
                var sum: Float = 0
                for (place, weight) in filter.weights.enumerated() { sum += weight * power[filter.first + place] }
                let level = log10(max(sum, 1e-10))
                loudest = max(loudest, level)
                result[band * frames + frame] = level
            }
        }
        // 80 dB below the loudest, and to about -1...1.
        for place in result.indices { result[place] = (max(result[place], loudest - 8) + 4) / 4 }
        return result
    }

    private func normalized(_ samples: [Float]) -> [Float] {
        let count = Double(max(1, samples.count))
        let mean = samples.reduce(0.0) { $0 + Double($1) } / count
        let variance = samples.reduce(0.0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / count
        let scale = 1 / (variance + 1e-7).squareRoot()
        return samples.map { Float((Double($0) - mean) * scale) }
    }

    /// Half a window more at both ends, reflected, so that the first frame is centred on the first sample.
    private func pad(_ samples: [Float]) -> [Float] {
        let half = Self.length / 2
        let last = samples.count - 1
        let before = (1...half).reversed().map { samples[min($0, last)] }
        let after = (1...half).map { samples[max(0, last - $0)] }
        return before + samples + after
    }

    /// Triangles of equal area between 0 and 8000 Hz, on the mel scale of M. Slaney ("Auditory Toolbox", 1998): even
    /// steps up to 1000 Hz, even ratios above.
    private static func makeFilters() -> [(first: Int, weights: [Float])] {
        let corners = (0..<bands + 2).map { hertz(mel(speechRate / 2) * Double($0) / Double(bands + 1)) }
        return (0..<bands).map { band in
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

    private static func mel(_ hertz: Double) -> Double {
        hertz < 1000 ? hertz * 3 / 200 : 15 + log(hertz / 1000) * 27 / log(6.4)
    }

    private static func hertz(_ mel: Double) -> Double {
        mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27)
    }
}
