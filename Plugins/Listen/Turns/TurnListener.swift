// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Follows turns, on a thread that it has for itself: the model takes long, and who else listens is not to wait for it.
final class TurnListener: Listener {
    /// Whether a speaker has the turn, 1 or 0, for the processor.
    let hasTurn = Shared(Atomic<UInt32>(0))
    private(set) var speechInput: SpeechInput?

    /// Samples of quiet after which the model is asked ahead, and those that it is mostly asked after.
    private static let (leastQuiet, usualQuiet) = (1440, 4800)

    private let host: NodeHost
    private let model: TurnModel?
    private let threshold, patience: Double
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

    /// Without a model, `patience` seconds of silence end a turn; with one, at last.
    init(host: NodeHost, model: TurnModel?, threshold: Double, patience: Double) {
        self.host = host
        self.model = model
        self.threshold = threshold
        self.patience = patience
    }

    /// Listens to another stream from now on, in which nobody has the turn; gives where what changes in the control goes.
    /// While the thread rests.
    func adopt(_ speechInput: SpeechInput, _ preparation: Preparation) -> Ring<ControlEdge> {
        self.speechInput = speechInput
        rate = preparation.rate
        edges = Ring(minimumCapacity: 256)
        heard = []
        startedAt = nil
        silentSince = nil
        quiet = PauseGuess()
        ahead = nil
        hasTurn.value.store(0, ordering: .relaxed)
        return edges
    }

    /// Nobody waits for a turn to begin.
    var rest: Double { startedAt == nil ? 0.03 : 0.01 }

    /// Works on a piece of what was heard; false: there is none.
    func work() -> Bool {
        guard let speechInput else { return false }
        host.count("dropped", speechInput.pipe.takeDropped())
        do throws(NodeError) {
            guard let piece = try speechInput.next() else { return false }
            if piece.isNew { heard.removeAll(keepingCapacity: true) }
            heard += piece.samples
            quiet.take(piece.samples)
            if quiet.length == 0 { ahead = nil }
            let kept = startedAt == nil ? Int(speechRate / 2) : TurnModel.samples
            if heard.count > kept + 4096 { heard.removeFirst(heard.count - kept) }
            while let edge = edges.reader.pop() { take(edge) }
            judge(piece.position + Double(piece.samples.count) * speechInput.step)
        } catch { fail(error) }
        return true
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

    /// Says whether a speaker has the turn.
    func tell(at position: UInt64?) {
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
