// SPDX-License-Identifier: Apache-2.0
import Models
import NodeKit

/// Tells speech from other sound, window after window of mono at 16 kHz. By one thread at a time.
protocol SpeechDetector: AnyObject {
    /// Samples that each window has.
    var window: Int { get }
    /// What it is called.
    var name: String { get }

    /// How likely it is that somebody speaks in this window, the next of the stream: 0 to 1. [worker]
    func probability(_ window: UnsafeBufferPointer<Float>) throws(NodeError) -> Float

    /// What comes is a new stream. [worker]
    func reset()
}

/// Hz of everything that listens to speech.
let speechRate = 16000.0

/// What detects speech, as the setting `detector` takes it.
enum DetectorChoice: String, CaseIterable {
    case auto, silero, webrtc

    /// The setting; each node says what it is for.
    static let key = Key.choice("detector", "what tells", default: DetectorChoice.auto)
}

/// Makes a detector: Silero's model where it is installed, or the one of WebRTC, unless one is named. [control]
func makeDetector(_ choice: DetectorChoice, host: NodeHost) throws(NodeError) -> any SpeechDetector {
    let models = host.modelFolder
    switch choice {
    case .silero: return try SileroDetector(models: models)
    case .webrtc: return try WebRTCDetector()
    case .auto:
        let isThere = [SileroDetector.model, OnnxRuntime.model].allSatisfy { ModelFolder.isInstalled($0, in: models) }
        if isThere { return try SileroDetector(models: models) }
        do throws(NodeError) { return try WebRTCDetector() } catch {
            throw NodeError(
                error.message, hint: error.hint + ", or voicegraph models install \(SileroDetector.model)",
                key: DetectorChoice.key.name)
        }
    }
}
