// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Tells when a speaker has the turn, and when he has finished.
final class Turn: AudioNode {
    static let calls: NodeCalls = [.wait]
    static let descriptor = NodeDescriptor(
        "turn", "tells when a speaker has finished",
        doc: """
            Link `speech` from a vad and listen to the same audio. A turn begins with speech. When speech ends, a model \
            is asked whether it sounds finished (`voicegraph models install smart-turn`): yes ends the turn, no waits \
            for more, at most `max_silence_ms`. Without the model, `silence_ms` without speech is the end. Both count \
            from the fall of `speech`, which a vad lets fall after its own min_silence_ms.
            """,
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "what is listened to"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the same"),
            Port(VG_CONTROL_PORT, VG_INPUT, "speech", doc: "above 0.5 while somebody speaks, as vad.speech"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "turn", doc: "1 from the first word to the end of the turn, else 0"),
        ],
        settings: [model, threshold, silence, longestSilence],
        events: TurnEvent.types, needs: [Need(["onnxruntime", "smart-turn"], model, .model, better: true)],
        flags: VG_IN_PLACE, process: { Turn.process($0, $1, $2) })

    private static let model = Key.choice(
        "model", "what judges: the model if it is installed, the model, or silence alone", default: Judge.auto)
    private static let threshold = Key.number(
        "threshold", "probability from which the model says yes", default: 0.5, in: 0.05...0.99)
    private static let silence = Key.number(
        "silence_ms", "without the model: silence that ends a turn", default: 600, in: 0...10000, unit: "ms")
    private static let longestSilence = Key.number(
        "max_silence_ms", "with the model: silence that ends a turn at last", default: 2500, in: 0...30000,
        unit: "ms")

    private enum Judge: String, CaseIterable {
        case auto
        case model = "smart-turn"
        case silence = "none"
    }

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
        var edges: ControlEdges
        let hasTurn: SharedCell<Atomic<UInt32>>
    }

    private let listener: TurnListener
    private let thread: ListenThread

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let wanted = try settings[Self.model]
        let isThere = TurnModel.isInstalled(in: host.modelFolder)
        let model =
            wanted == .model || (wanted == .auto && isThere) ? try TurnModel(models: host.modelFolder) : nil
        let listener = TurnListener(
            host: host, model: model, threshold: try settings[Self.threshold],
            patience: try settings[model == nil ? Self.silence : Self.longestSilence] / 1000)
        self.listener = listener
        thread = ListenThread(listener)
    }

    deinit {
        thread.end()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let speechInput = try SpeechInput(preparation, seconds: 8)
        thread.end()
        let edges = listener.adopt(speechInput, preparation)
        try thread.start()
        return Processor(
            pipe: speechInput.pipe.writer, edges: ControlEdges(edges), hasTurn: listener.hasTurn.cell)
    }

    func activate() { thread.post { [listener] in listener.tell(at: nil) } }
    func wait(frames: Int) { thread.wait() }
}

/// What the node tells, and how it is declared.
enum TurnEvent {
    static let started = "turn.started"
    static let asked = "turn.asked"
    static let ended = "turn.ended"
    static let state = "turn.state"

    private static let probability = Field("probability", VG_NUMBER, "that the speaker has finished")

    static let types = [
        EventType(started, "a speaker begins", says: ""),
        EventType(asked, "speech ended, and the model was asked", fields: [probability], says: ""),
        EventType(
            ended, "the speaker has finished",
            fields: [
                Field("reason", VG_STRING, "finished: it sounds so; silence: nothing came any more"),
                Field("seconds", VG_NUMBER, "how long the turn was", unit: "s"), probability,
            ], says: ""),
        EventType(
            state, "whether a speaker has the turn", fields: [Field("turn", VG_BOOL, "whether one has")],
            retained: true),
    ]
}

extension Turn {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        state.edges.take(block.control(0), at: block.position)
        // Before the output, which may be the same buffer.
        state.pipe.write(block)
        block.pass(0, to: 0)
        block.setControl(0, Float(state.hasTurn.value.load(ordering: .relaxed)))
    }
}
