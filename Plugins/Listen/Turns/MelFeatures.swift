// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The logarithmic mel spectrogram that the Whisper family of models takes (A. Radford and others, "Robust Speech
/// Recognition via Large-Scale Weak Supervision", 2022, section 2.2): 80 bands every 10 ms, of mono at 16 kHz.
final class MelFeatures {
    static let bands = 80
    private static let length = 400
    private static let hop = 160

    private let spectrum: PowerSpectrum
    /// Periodic, as for spectra.
    private let window = (0..<length).map { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(length)) }
    private let filters = MelFilters(bands, length: length)

    init() throws(NodeError) { spectrum = try PowerSpectrum(length: Self.length) }

    /// Band after band, one number for each 10 ms: of `samples.count / 160` frames, centred on their instants. The
    /// samples are first brought to a mean of 0 and a variance of 1, as the models were trained.
    func compute(_ samples: [Float]) -> [Float] {
        let frames = samples.count / Self.hop
        let padded = pad(normalized(samples))
        var block = [Float](repeating: 0, count: Self.length)
        var result = [Float](repeating: 0, count: Self.bands * frames)
        var loudest = -Float.infinity
        for frame in 0..<frames {
            let start = frame * Self.hop
            for place in 0..<Self.length { block[place] = padded[start + place] * Float(window[place]) }
            spectrum.take(block)
            filters.apply(spectrum.power) { band, power in
                let level = log10(max(power, 1e-10))
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
}
