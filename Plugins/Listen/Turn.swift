// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Tells when a speaker has the turn, and when he has finished.
final class Turn: AudioNode {
    static let calls: NodeCalls = [.poll, .wait]
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

    /// Samples of quiet after which the model is asked ahead, and those that it is mostly asked after.
    private static let (leastQuiet, usualQuiet) = (1440, 4800)

    private let host: NodeHost
    private let model: TurnModel?
    private let threshold, patience: Double
    private let hasTurn = Shared(Atomic<UInt32>(0))
    private var speechInput: SpeechInput?
    private var edges = Ring<ControlEdge>(minimumCapacity: 256)
    private var rate = 48000.0
    /// The last seconds, while there is a turn, and half a second of what is before one.
    private var heard: [Float] = []
    private var startedAt: UInt64?
    /// Since when nobody speaks; nil: somebody does.
    private var silentSince: Double?
    private var hasAsked = false
    private var hasFailed = false
    private var quiet = PauseGuess()
    /// What the model said of the pause that goes on, as far as is known; nil: nobody asked it.
    private var ahead: Double?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let wanted = try settings[Self.model]
        let isThere = TurnModel.isInstalled(in: host.modelFolder)
        model = wanted == .model || (wanted == .auto && isThere) ? try TurnModel(models: host.modelFolder) : nil
        threshold = try settings[Self.threshold]
        patience = try settings[model == nil ? Self.silence : Self.longestSilence] / 1000
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let speechInput = try SpeechInput(preparation, seconds: 8)
        self.speechInput = speechInput
        rate = preparation.rate
        edges = Ring(minimumCapacity: 256)
        heard = []
        startedAt = nil
        silentSince = nil
        quiet = PauseGuess()
        ahead = nil
        hasTurn.value.store(0, ordering: .relaxed)
        return Processor(pipe: speechInput.pipe.writer, edges: ControlEdges(edges), hasTurn: hasTurn.cell)
    }

    func activate() { tell(at: nil) }
    func poll() { listen() }
    func wait(frames: Int) { listen() }

    /// Works on what was heard since the last call.
    private func listen() {
        guard let speechInput else { return }
        host.count("dropped", speechInput.pipe.takeDropped())
        do throws(NodeError) {
            while let piece = try speechInput.next() {
                if piece.isNew { heard.removeAll(keepingCapacity: true) }
                heard += piece.samples
                quiet.take(piece.samples)
                if quiet.length == 0 { ahead = nil }
                let kept = startedAt == nil ? Int(speechRate / 2) : TurnModel.samples
                if heard.count > kept + 4096 { heard.removeFirst(heard.count - kept) }
                let now = piece.position + Double(piece.samples.count) * speechInput.step
                while let edge = edges.reader.pop() { take(edge) }
                judge(now)
            }
        } catch { fail(error) }
    }

    private func take(_ edge: ControlEdge) {
        if !edge.isUp {
            silentSince = Double(edge.position)
            hasAsked = false
            return
        }
        silentSince = nil
        guard startedAt == nil else { return }
        startedAt = edge.position
        hasTurn.value.store(1, ordering: .relaxed)
        host.publish(TurnEvent.started, at: edge.position)
        tell(at: edge.position)
    }

    /// Whether the turn is over now.
    private func judge(_ now: Double) {
        guard startedAt != nil else { return }
        guard let silentSince else { return askAhead() }
        if let model, !hasAsked, !hasFailed {
            hasAsked = true
            do throws(NodeError) {
                let probability: Double
                if let ahead { probability = ahead } else { probability = try model.probability(heard) }
                host.publish(TurnEvent.asked, [("probability", .number(probability))], at: UInt64(now))
                if probability >= threshold { return end(now, "finished", probability) }
            } catch { fail(error) }
        }
        if now - silentSince >= patience * rate { end(now, "silence", nil) }
    }

    /// Asks the model while it is not known yet that nobody speaks, as it takes a tenth of a second: of what was heard, and of
    /// the silence that makes it what it will be asked of.
    private func askAhead() {
        guard let model, !hasFailed, ahead == nil, quiet.length >= Self.leastQuiet else { return }
        let silence = [Float](repeating: 0, count: max(0, Self.usualQuiet - quiet.length))
        do throws(NodeError) { ahead = try model.probability(heard + silence) } catch { fail(error) }
    }

    private func end(_ now: Double, _ reason: String, _ probability: Double?) {
        let seconds = (now - Double(startedAt ?? UInt64(now))) / rate
        startedAt = nil
        silentSince = nil
        hasTurn.value.store(0, ordering: .relaxed)
        host.publish(
            TurnEvent.ended,
            [("reason", .string(reason)), ("seconds", .number(seconds))]
                + (probability.map { [("probability", .number($0))] } ?? []), at: UInt64(now))
        tell(at: UInt64(now))
    }

    private func tell(at position: UInt64?) {
        host.publish(TurnEvent.state, [("turn", .bool(startedAt != nil))], at: position)
    }

    /// From here on silence alone decides.
    private func fail(_ error: NodeError) {
        if hasFailed { return }
        hasFailed = true
        host.log(VG_LOG_ERROR, error.message)
        host.health(.degraded("silence alone ends a turn: \(error.message)"))
    }
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
