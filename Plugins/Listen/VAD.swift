// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Tells when somebody speaks.
final class VAD: AudioNode {
    static let calls: NodeCalls = [.poll, .wait, .settings]
    static let descriptor = NodeDescriptor(
        "vad", "tells when somebody speaks",
        doc: """
            What comes in goes out unchanged. The control output `speech` is 1 while somebody speaks: from \
            `min_speech_ms` after the first word on, until a pause has lasted `min_silence_ms`. The detector is Silero's \
            model where it is installed (`voicegraph models install silero-vad`), or the one of WebRTC, which is less sure. \
            Link `speaking` of a tts to `mute`, and the voice is not taken for somebody who speaks.
            """,
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "what is listened to"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the same"),
            Port(VG_CONTROL_PORT, VG_INPUT, "mute", doc: "above 0.5 nothing is speech", bus: "mute"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "speech", doc: "1 while somebody speaks, else 0"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "probability", doc: "of speech in the last window, 0 to 1"),
        ],
        settings: [DetectorChoice.key, threshold, shortest, pause, muteRelease],
        events: VADEvent.types,
        series: [Series("probability", "of speech, in each window", rate: 30, width: 1)],
        needs: [Need(["onnxruntime", "silero-vad"], DetectorChoice.key, .silero, better: true)], flags: VG_IN_PLACE,
        process: { VAD.process($0, $1, $2) })

    private static let threshold = Key.number(
        "threshold", "probability from which a window holds speech", default: 0.5, in: 0.2...0.95, live: true)
    private static let shortest = Key.number(
        "min_speech_ms", "what is shorter is no speech", default: 90, in: 0...2000, unit: "ms", live: true)
    private static let pause = Key.number(
        "min_silence_ms", "how long a pause is the end", default: 160, in: 0...10000, unit: "ms", live: true)
    private static let muteRelease = Key.number(
        "mute_release_ms",
        "how long nothing is speech after `mute` fell: what was played is heard later, and dies away",
        default: 250, in: 0...10000, unit: "ms", live: true)

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
        let outputs: SharedCell<SpeechOutputs>
        var mute: ControlEdges
    }

    private let host: NodeHost
    private let detector: any SpeechDetector
    private let outputs = Shared(SpeechOutputs())
    private var speechInput: SpeechInput?
    private var windows: Windows?
    private var gate = SpeechGate(shortest: 0, pause: 0)
    private var rate = 48000.0
    private var shortest, pause, muteRelease: Double
    private var muteEdges = Ring<ControlEdge>(minimumCapacity: 256)
    private var muted = MutedTime()
    private var startedAt = 0.0
    private var wasMuted = false
    private var hasFailed = false

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        shortest = try settings[Self.shortest]
        pause = try settings[Self.pause]
        muteRelease = try settings[Self.muteRelease]
        gate.threshold = Float(try settings[Self.threshold])
        detector = try makeDetector(settings[DetectorChoice.key], host: host)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let speechInput = try SpeechInput(preparation, seconds: 4)
        rate = preparation.rate
        self.speechInput = speechInput
        windows = Windows(length: detector.window, step: speechInput.step)
        detector.reset()
        _ = gate.close(at: 0)
        tune()
        outputs.value.speech.store(0, ordering: .relaxed)
        muteEdges = Ring(minimumCapacity: 256)
        muted = MutedTime()
        return Processor(pipe: speechInput.pipe.writer, outputs: outputs.cell, mute: ControlEdges(muteEdges))
    }

    func activate() { tell(isSpeaking: false, at: nil) }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        switch setting {
        case Self.threshold.name: gate.threshold = Float(try Self.threshold.value(of: value))
        case Self.shortest.name: shortest = try Self.shortest.value(of: value)
        case Self.muteRelease.name: muteRelease = try Self.muteRelease.value(of: value)
        default: pause = try Self.pause.value(of: value)
        }
        tune()
    }

    func poll() { listen() }
    func wait(frames: Int) { listen() }

    private func tune() {
        gate.shortest = shortest * rate / 1000
        gate.pause = pause * rate / 1000
    }

    /// Works on what was heard since the last call.
    private func listen() {
        guard let speechInput, !hasFailed else { return }
        let lost = speechInput.pipe.takeDropped()
        if lost > 0 {
            host.count("dropped", lost)
            host.log(VG_LOG_WARNING, "\(lost) frames were not listened to: the processor is busy with something else")
        }
        do throws(NodeError) {
            while let piece = try speechInput.next() {
                if piece.isNew {
                    detector.reset()
                    change(gate.close(at: piece.position))
                }
                try windows?.take(piece) { (window, position) throws(NodeError) in
                    try take(window, position, speechInput)
                }
            }
        } catch {
            hasFailed = true
            host.health(.failed(error.message))
            host.log(VG_LOG_ERROR, error.message)
            change(gate.close(at: 0))
        }
    }

    private func take(
        _ window: UnsafeBufferPointer<Float>, _ position: Double, _ speechInput: SpeechInput
    ) throws(NodeError) {
        let length = Double(window.count) * speechInput.step
        while let edge = muteEdges.reader.pop() { muted.take(edge, release: muteRelease * rate / 1000) }
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

    private func tell(isSpeaking: Bool, at position: Double?) {
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

/// What a processor that listens gives as controls; written by the control half.
struct SpeechOutputs: ~Copyable {
    /// 0 or 1.
    let speech = Atomic<UInt32>(0)
    /// The bits of a float.
    let probability = Atomic<UInt32>(0)
}

/// What the node tells, and how it is declared.
enum VADEvent {
    static let started = "vad.started"
    static let ended = "vad.ended"
    static let state = "vad.state"

    static let types = [
        EventType(started, "somebody begins to speak; the position is that of the first word", says: ""),
        EventType(
            ended, "nobody speaks any more; the position is that of the pause",
            fields: [Field("seconds", VG_NUMBER, "how long somebody spoke", unit: "s")], says: ""),
        EventType(
            state, "whether somebody speaks",
            fields: [
                Field("speech", VG_BOOL, "whether somebody does"),
                Field("detector", VG_STRING, "silero or webrtc"),
            ], retained: true),
    ]
}

extension VAD {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        // Before the output, which may be the same buffer.
        state.pipe.write(block)
        state.mute.take(block.control(0), at: block.position)
        block.pass(0, to: 0)
        block.setControl(0, Float(state.outputs.value.speech.load(ordering: .relaxed)))
        block.setControl(1, Float(bitPattern: state.outputs.value.probability.load(ordering: .relaxed)))
    }
}
