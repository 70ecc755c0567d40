// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// From when on something is speech; times in milliseconds.
struct SpeechRules {
    /// Probability from which a window holds speech.
    var threshold: Float
    /// What is shorter is none.
    var shortest: Double
    /// How long a pause is its end.
    var pause: Double
    /// How long nothing is speech after the control `mute` fell.
    var muteRelease: Double
}

/// Listens whether somebody speaks, window after window, on a thread that it has for itself.
final class VADListener: Listener {
    /// Used by the thread alone, once it runs.
    var rules: SpeechRules { didSet { tune() } }
    private(set) var speechInput: SpeechInput?

    private let host: NodeHost
    private let detector: any SpeechDetector
    private let outputs: Shared<SpeechOutputs>
    private var windows = Windows(length: 1, step: 1)
    private var gate = SpeechGate(shortest: 0, pause: 0)
    private var rate = 48000.0
    private var edges = Ring<ControlEdge>(minimumCapacity: 256)
    private var muted = MutedTime()
    private var startedAt = 0.0
    private var wasMuted = false
    private var hasFailed = false

    init(host: NodeHost, detector: any SpeechDetector, rules: SpeechRules, outputs: Shared<SpeechOutputs>) {
        self.host = host
        self.detector = detector
        self.rules = rules
        self.outputs = outputs
    }

    /// Listens to another stream from now on, in which nobody speaks; gives where what changes in the control `mute` goes.
    /// While the thread rests.
    func adopt(_ speechInput: SpeechInput, _ preparation: Preparation) -> Ring<ControlEdge> {
        self.speechInput = speechInput
        rate = preparation.rate
        windows = Windows(length: detector.window, step: speechInput.step)
        detector.reset()
        _ = gate.close(at: 0)
        tune()
        outputs.value.speech.store(0, ordering: .relaxed)
        edges = Ring(minimumCapacity: 256)
        muted = MutedTime()
        return edges
    }

    /// Seconds until a window may be whole.
    var rest: Double {
        guard let speechInput else { return 0.1 }
        return max(0.003, Double(windows.missing) * speechInput.step / rate)
    }

    private func tune() {
        gate.threshold = rules.threshold
        gate.shortest = rules.shortest * rate / 1000
        gate.pause = rules.pause * rate / 1000
    }

    /// Works on a piece of what was heard; false: there is none.
    func work() -> Bool {
        guard let speechInput else { return false }
        if hasFailed { return speechInput.pipe.take() != nil }
        let lost = speechInput.pipe.takeDropped()
        if lost > 0 {
            host.count("dropped", lost)
            host.log(VG_LOG_WARNING, "\(lost) frames were not listened to: the processor is busy with something else")
        }
        do throws(NodeError) {
            guard let piece = try speechInput.next() else { return false }
            if piece.isNew {
                detector.reset()
                change(gate.close(at: piece.position))
            }
            try windows.take(piece) { (window, position) throws(NodeError) in
                try take(window, position, speechInput.step)
            }
        } catch {
            hasFailed = true
            host.health(.failed(error.message))
            host.log(VG_LOG_ERROR, error.message)
            change(gate.close(at: 0))
        }
        return true
    }

    private func take(_ window: UnsafeBufferPointer<Float>, _ position: Double, _ step: Double) throws(NodeError) {
        let length = Double(window.count) * step
        while let edge = edges.reader.pop() { muted.take(edge, release: rules.muteRelease * rate / 1000) }
        let isMuted = muted.covers(position..<position + length)
        // What it hears while it is muted is not what it is to know of the room.
        if isMuted, !wasMuted { detector.reset() }
        wasMuted = isMuted
        let probability = isMuted ? 0 : try detector.probability(window)
        outputs.value.probability.store(probability.bitPattern, ordering: .relaxed)
        host.publish([[probability]], at: UInt64(position + length))
        change(gate.take(probability, at: position, length: length))
    }

    private func change(_ change: SpeechGate.Change?) {
        switch change {
        case .started(let position):
            startedAt = position
            outputs.value.speech.store(1, ordering: .relaxed)
            host.publish(VADEvent.started, at: UInt64(position))
            tell(isSpeaking: true, at: position)
        case .ended(let position):
            outputs.value.speech.store(0, ordering: .relaxed)
            host.publish(
                VADEvent.ended, [("seconds", .number(max(0, position - startedAt) / rate))], at: UInt64(position))
            tell(isSpeaking: false, at: position)
        case nil: break
        }
    }

    /// Says whether somebody speaks.
    func tell(isSpeaking: Bool, at position: Double?) {
        host.publish(
            VADEvent.state, [("speech", .bool(isSpeaking)), ("detector", .string(detector.name))],
            at: position.map { UInt64($0) })
    }
}

/// When a control said that nothing is to be heard, in frames of the graph; windows ask in their order.
struct MutedTime {
    private var spans: [Range<Double>] = []
    private var start: Double?

    /// Takes the next change; it lasts so many frames longer than the control is up.
    mutating func take(_ edge: ControlEdge, release: Double) {
        if edge.isUp {
            start = start ?? Double(edge.position)
        } else if let start {
            spans.append(start..<max(start, Double(edge.position)) + release)
            self.start = nil
        }
    }

    /// Whether any of these frames is in such a time.
    mutating func covers(_ frames: Range<Double>) -> Bool {
        spans.removeAll { $0.upperBound <= frames.lowerBound }
        return spans.contains { $0.overlaps(frames) } || start.map { $0 < frames.upperBound } ?? false
    }
}
