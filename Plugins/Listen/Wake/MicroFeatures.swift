// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The features that small wake word models take, those of the audio frontend of TensorFlow Lite Micro
/// (tensorflow/lite/experimental/microfrontend) with the numbers of microWakeWord: every 10 ms, how loud the last 30 ms are in
/// 40 bands from 125 to 7500 Hz, less the noise, with a gain of their own for each band (Y. Wang and others, "Trainable Frontend
/// For Robust and Far-Field Keyword Spotting", 2017). There integers are computed, here floats; what comes out differs by
/// about one step. By one thread at a time.
final class MicroFeatures {
    static let bands = 40
    private static let (length, hop, block) = (480, 160, 512)
    private static let bins = block / 2 + 1
    /// How fast the noise is followed in even and in odd bands, and what is left of a band at least.
    private static let (even, odd, least) = (Float(0.025), Float(0.06), Float(0.05))
    /// Of the gain: 2 to the power of 21 times (noise + 80) to the power of -0.95, an integer of 16 bits.
    private static let (strength, offset, most) = (Float(0.95), Float(80), Float(32767))
    /// By which a feature is multiplied.
    private static let step: Float = 0.0390625

    private let spectrum: PowerSpectrum
    /// Hann's, in 12 bits.
    private let window: [Float] = (0..<length).map { place in
        Float((4096 * (0.5 - 0.5 * cos(2 * .pi * (Double(place) + 0.5) / Double(length))) + 0.5).rounded(.down)) / 4096
    }
    /// Of each bin: the band below its frequency, which may be -1, and the weights of that and of the next one, in 12 bits.
    private let weights: [(bin: Int, band: Int, lower: Float, upper: Float)] = makeWeights()
    private var noise = [Float](repeating: 0, count: bands)
    private var samples: [Float] = []
    private var padded = [Float](repeating: 0, count: block)

    init() throws(NodeError) { spectrum = try PowerSpectrum(length: Self.block) }

    /// What comes is a new stream.
    func reset() {
        samples.removeAll(keepingCapacity: true)
        for band in noise.indices { noise[band] = 0 }
    }

    /// Takes what follows of mono at 16 kHz, and gives the features of every 10 ms that are whole.
    func take(_ heard: some Collection<Float>, _ body: ([Float]) throws(NodeError) -> Void) throws(NodeError) {
        samples += heard
        var start = 0
        defer { samples.removeFirst(start) }
        while samples.count - start >= Self.length {
            let features = features(samples[start..<start + Self.length])
            start += Self.hop
            try body(features)
        }
    }

    private func features(_ heard: ArraySlice<Float>) -> [Float] {
        for (place, sample) in heard.enumerated() {
            padded[place] = (max(-1, min(1, sample)) * 32767).rounded() * window[place] / Float(Self.block)
        }
        spectrum.take(padded)
        var energy = [Float](repeating: 0, count: Self.bands)
        for (bin, band, lower, upper) in weights {
            if band >= 0 { energy[band] += lower * spectrum.power[bin] }
            if band + 1 < Self.bands { energy[band + 1] += upper * spectrum.power[bin] }
        }
        return energy.indices.map { feature(energy[$0].squareRoot().rounded(.down), $0) }
    }

    private func feature(_ signal: Float, _ band: Int) -> Float {
        let follows = band % 2 == 0 ? Self.even : Self.odd
        noise[band] += (signal * 1024 - noise[band]) * follows
        let rest = max((signal * 1024 - noise[band]) / 1024, signal * Self.least)
        let gain = min(Self.most, powf(noise[band] / 128 + Self.offset, -Self.strength) * Float(1 << 21))
        let ratio = rest * gain / 64
        // A square at first, then a line.
        let shrunk = ratio < 8192 ? ratio * ratio / Float(1 << 20) : ratio / 64 - 64
        let loudness = 8 * shrunk.rounded(.down)
        return loudness > 1 ? (64 * logf(loudness)).rounded() * Self.step : 0
    }

    /// Triangles between 42 frequencies that are even on the mel scale (1127 ln(1 + f / 700)).
    private static func makeWeights() -> [(bin: Int, band: Int, lower: Float, upper: Float)] {
        func mel(_ hertz: Double) -> Double { 1127 * log1p(hertz / 700) }
        let (low, high) = (mel(125), mel(7500))
        func corner(_ index: Int) -> Double { low + (high - low) / Double(bands + 1) * Double(index) }
        let width = speechRate / Double(block)
        return (Int(1.5 + 125 / width)..<bins).compactMap { bin in
            let place = mel(Double(bin) * width)
            let above = (1...bands + 1).first { corner($0) > place }
            guard let above else { return nil }
            let lower = (corner(above) - place) / (corner(above) - corner(above - 1))
            func bits(_ weight: Double) -> Float { Float((weight * 4096 + 0.5).rounded(.down)) }
            return (bin, above - 2, bits(lower), bits(1 - lower))
        }
    }
}
