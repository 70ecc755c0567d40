// SPDX-License-Identifier: Apache-2.0
import Models
import NodeKit

/// Silero VAD (S. Veysov and others, github.com/snakers4/silero-vad, version 6): a recurrent network that takes 32 ms at
/// a time, with the last 4 ms of what was before.
final class SileroDetector: SpeechDetector {
    /// The name of the model.
    static let model = "silero-vad"
    private static let context = 64
    private static let stateShape = [2, 1, 128]

    let window = 512
    let name = "silero"
    private let session: OnnxSession
    private let rate: OnnxValue
    private var state: OnnxValue?
    private var samples = [Float](repeating: 0, count: SileroDetector.context + 512)

    init(models: String) throws(NodeError) {
        let runtime = try OnnxRuntime.load(from: models)
        let path = try ModelFolder(Self.model, in: models).file("silero_vad.onnx")
        session = try OnnxSession(runtime, path: path)
        try session.require(inputs: ["input", "state", "sr"], outputs: ["output", "stateN"])
        rate = try OnnxValue(runtime, [Int64(speechRate)], shape: [])
    }

    func probability(_ window: UnsafeBufferPointer<Float>) throws(NodeError) -> Float {
        let context = Self.context
        for place in 0..<context { samples[place] = samples[self.window + place] }
        for (place, sample) in window.enumerated() { samples[context + place] = sample.isFinite ? sample : 0 }
        let before: OnnxValue
        if let state {
            before = state
        } else {
            let zeros = [Float](repeating: 0, count: Self.stateShape.reduce(1, *))
            before = try OnnxValue(session.runtime, zeros, shape: Self.stateShape)
        }
        let input = try OnnxValue(session.runtime, samples, shape: [1, samples.count])
        let results = try session.run(
            [("input", input), ("state", before), ("sr", rate)], outputs: ["output", "stateN"])
        state = results[1]
        return try results[0].floats().elements.first ?? 0
    }

    func reset() {
        state = nil
        for place in samples.indices { samples[place] = 0 }
    }
}
