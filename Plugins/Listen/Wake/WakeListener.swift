// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Listens for phrases, on a thread that it has for itself.
final class WakeListener: Listener {
    let rest = 0.02
    private let host: NodeHost
    private let phrases: WakePhrases
    private let gate: Shared<WakeGate>
    private let seconds: Double
    private(set) var speechInput: SpeechInput?
    private var detectors: [any WakeDetector]?
    private var rate = 48000.0
    /// Where the detectors' stream begins, in frames of the graph.
    private var origin = 0.0
    private var lost = 0
    private var hasFailed = false

    init(
        host: NodeHost, gate: Shared<WakeGate>, seconds: Double, phrases: WakePhrases
    ) {
        self.host = host
        self.phrases = phrases
        self.gate = gate
        self.seconds = seconds
    }

    /// Listens to another stream from now on. While the thread rests.
    func adopt(_ speechInput: SpeechInput, _ preparation: Preparation) {
        self.speechInput = speechInput
        rate = preparation.rate
    }

    /// Works on a piece of what was heard; false: there is none.
    func work() -> Bool {
        guard let speechInput else { return false }
        do throws(NodeError) {
            if detectors == nil, !hasFailed { detectors = try phrases.detectors() }
            guard let piece = try speechInput.next() else { return false }
            for detector in detectors ?? [] { try hear(piece, detector) }
        } catch {
            fail(error)
        }
        let frames = speechInput.pipe.takeDropped()
        if frames > 0, !hasFailed {
            lost += frames
            host.count("dropped", frames)
            host.log(VG_LOG_WARNING, "\(frames) frames were not listened to: the processor is busy with something else")
        }
        return true
    }

    private func hear(_ piece: SpeechInput.Piece, _ detector: any WakeDetector) throws(NodeError) {
        if piece.isNew {
            try detector.begin()
            origin = piece.position
        }
        // In short pieces, so that a phrase is heard when it ends and not when the piece does.
        var rest = piece.samples[...]
        while !rest.isEmpty {
            let heard = try detector.take(rest.prefix(512))
            rest = rest.dropFirst(512)
            for phrase in heard { tell(phrase) }
        }
    }

    private func tell(_ heard: HeardPhrase) {
        let end = origin + heard.end * rate
        var fields: [(String, SettingValue)] = [("phrase", .string(heard.phrase)), ("end", .number(end / rate))]
        if let start = heard.start { fields.append(("start", .number(origin / rate + start))) }
        host.publish(WakeEvent.heard, fields, at: UInt64(end))
        let open = max(end, Double(gate.value.position.load(ordering: .relaxed))) + seconds * rate
        gate.value.open(until: UInt64(open))
    }

    private func fail(_ error: NodeError) {
        hasFailed = true
        detectors = []
        host.log(VG_LOG_ERROR, error.message)
        host.health(.failed(error.message))
    }
}
