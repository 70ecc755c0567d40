// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Tells when somebody speaks.
final class VAD: AudioNode {
    static let calls: NodeCalls = [.wait, .settings]
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

    private let listener: VADListener
    private let thread: ListenThread
    private let outputs = Shared(SpeechOutputs())

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let rules = SpeechRules(
            threshold: Float(try settings[Self.threshold]), shortest: try settings[Self.shortest],
            pause: try settings[Self.pause], muteRelease: try settings[Self.muteRelease])
        var detector = try makeDetector(settings[DetectorChoice.key], host: host)
        if detector is SileroDetector { detector = RestingDetector(detector) }
        let listener = VADListener(host: host, detector: detector, rules: rules, outputs: outputs)
        self.listener = listener
        thread = ListenThread(listener)
    }

    deinit { thread.end() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let speechInput = try SpeechInput(preparation, seconds: 4)
        thread.end()
        let edges = listener.adopt(speechInput, preparation)
        try thread.start()
        return Processor(pipe: speechInput.pipe.writer, outputs: outputs.cell, mute: ControlEdges(edges))
    }

    func activate() { thread.post { [listener] in listener.tell(isSpeaking: false, at: nil) } }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        let change: (inout SpeechRules) -> Void
        switch setting {
        case Self.threshold.name:
            let value = Float(try Self.threshold.value(of: value))
            change = { $0.threshold = value }
        case Self.shortest.name:
            let value = try Self.shortest.value(of: value)
            change = { $0.shortest = value }
        case Self.muteRelease.name:
            let value = try Self.muteRelease.value(of: value)
            change = { $0.muteRelease = value }
        default:
            let value = try Self.pause.value(of: value)
            change = { $0.pause = value }
        }
        thread.post { [listener] in change(&listener.rules) }
    }

    func wait(frames: Int) { thread.wait() }
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
