// SPDX-License-Identifier: Apache-2.0
import Models
import NodeKit

/// Whether a speaker has finished, by how it sounds: Smart Turn 3.2 (Daily, github.com/pipecat-ai/smart-turn).
final class TurnModel {
    /// The name of the model.
    static let name = "smart-turn"
    /// Samples that it hears: 8 seconds at 16 kHz.
    static let samples = 128_000

    private let session: OnnxSession
    private let features: MelFeatures

    init(models: String) throws(NodeError) {
        let runtime = try OnnxRuntime.load(from: models)
        let path = try ModelFolder(Self.name, in: models).file("smart-turn-v3.2-cpu.onnx")
        session = try OnnxSession(runtime, path: path)
        try session.require(inputs: ["input_features"], outputs: ["logits"])
        features = try MelFeatures()
    }

    /// Whether the model and what computes it are installed.
    static func isInstalled(in models: String) -> Bool {
        [name, OnnxRuntime.model].allSatisfy { ModelFolder.isInstalled($0, in: models) }
    }

    /// The probability that who speaks in these samples, the last ones up to now, has finished. It takes about a tenth
    /// of a second. [worker]
    func probability(_ heard: [Float]) throws(NodeError) -> Double {
        let last = heard.suffix(Self.samples)
        let whole = [Float](repeating: 0, count: Self.samples - last.count) + last
        let input = try OnnxValue(
            session.runtime, features.compute(whole), shape: [1, MelFeatures.bands, Self.samples / 160])
        let result = try session.run([("input_features", input)], outputs: ["logits"])
        return Double(try result[0].floats().elements.first ?? 0)
    }
}
