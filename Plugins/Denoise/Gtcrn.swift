// SPDX-License-Identifier: Apache-2.0
import CKissfft
import Glibc
import Models
import NodeKit

/// GTCRN (X. Rong and others, GTCRN: A Speech Enhancement Model Requiring Ultralow Computational Resources, ICASSP 2024): a
/// recurrent net that makes the spectrum of a voice of that of a voice with noise, 16 ms after 16 ms.
///
/// It knows sound of 16 kHz, in bins of 31.25 Hz. Blocks of 32 ms have bins of that width at every rate, so that nothing is
/// resampled; what is above 8 kHz is lowered as far as what is just below.
final class Gtcrn {
    /// The name of the model.
    static let model = "gtcrn"
    /// Seconds of a hop, which is half a block.
    static let hop = 0.016
    private static let bins = 257
    private static let outputs = ["enh", "conv_cache_out", "tra_cache_out", "inter_cache_out"]
    private static let states = [
        ("conv_cache", [2, 1, 16, 16, 33]), ("tra_cache", [2, 3, 1, 1, 16]), ("inter_cache", [2, 1, 33, 16]),
    ]
    /// From 6 to 8 kHz.
    private static let top = 192..<bins

    private let session: OnnxSession
    private var state: [OnnxValue]
    private var values = [Float](repeating: 0, count: 2 * Gtcrn.bins)

    init(models: String) throws(NodeError) {
        // Whoever installs it is given the runtime too.
        let folder = try ModelFolder(Self.model, in: models)
        let runtime = try OnnxRuntime.load(from: models)
        let session = try OnnxSession(runtime, path: folder.file("gtcrn_simple.onnx"))
        try session.require(inputs: ["mix"] + Self.states.map(\.0), outputs: Self.outputs)
        self.session = session
        state = try Self.start(runtime)
    }

    private static func start(_ runtime: OnnxRuntime) throws(NodeError) -> [OnnxValue] {
        try states.map { (_, shape) throws(NodeError) in
            try OnnxValue(runtime, [Float](repeating: 0, count: shape.reduce(1, *)), shape: shape)
        }
    }

    /// Forgets what it has heard. [worker]
    func reset() throws(NodeError) { state = try Self.start(session.runtime) }

    /// Takes the noise out of the spectrum of the next block. [worker]
    func clean(_ spectrum: inout [kiss_fft_cpx]) throws(NodeError) {
        // As if the block had the 512 samples that it has at 16 kHz.
        let scale = 256 / Float(spectrum.count - 1)
        let count = min(Self.bins, spectrum.count)
        for bin in 0..<count {
            values[2 * bin] = spectrum[bin].r * scale
            values[2 * bin + 1] = spectrum[bin].i * scale
        }
        let mix = try OnnxValue(session.runtime, values, shape: [1, Self.bins, 1, 2])
        let inputs = [("mix", mix)] + zip(Self.states, state).map { ($0.0, $1) }
        let results = try session.run(inputs, outputs: Self.outputs)
        let clean = try results[0].floats().elements
        guard results.count == Self.outputs.count, clean.count == values.count, clean.allSatisfy(\.isFinite) else {
            throw NodeError("the model gives no spectrum")
        }
        state = Array(results[1...])
        var (before, after) = (Float(0), Float(0))
        for bin in 0..<count {
            if Self.top.contains(bin) {
                before += values[2 * bin] * values[2 * bin] + values[2 * bin + 1] * values[2 * bin + 1]
                after += clean[2 * bin] * clean[2 * bin] + clean[2 * bin + 1] * clean[2 * bin + 1]
            }
            spectrum[bin] = kiss_fft_cpx(r: clean[2 * bin] / scale, i: clean[2 * bin + 1] / scale)
        }
        let gain = before > 0 ? min(1, sqrtf(after / before)) : 0
        for bin in count..<max(count, spectrum.count) {
            spectrum[bin].r *= gain
            spectrum[bin].i *= gain
        }
    }
}
