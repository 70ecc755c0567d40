// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Listens for phrases, on a thread that it has for itself.
final class WakeListener {
    private let host: NodeHost
    private let model: PocketSphinxModel
    private let search: PocketSphinxSearch
    private let gate: Shared<WakeGate>
    private let seconds: Double
    private(set) var speechInput: SpeechInput?
    private var decoder: PocketSphinx?
    private var rate = 48000.0
    /// Where the decoder's stream begins, in frames of the graph.
    private var origin = 0.0
    private var lost = 0
    private var hasFailed = false

    init(
        host: NodeHost, model: PocketSphinxModel, search: PocketSphinxSearch, gate: Shared<WakeGate>,
        seconds: Double
    ) {
        self.host = host
        self.model = model
        self.search = search
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
            if decoder == nil, !hasFailed { decoder = try search.decoder(model) }
            guard let piece = try speechInput.next() else { return false }
            if let decoder { try hear(piece, decoder) }
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

    private func hear(_ piece: SpeechInput.Piece, _ decoder: PocketSphinx) throws(NodeError) {
        if piece.isNew {
            try decoder.begin()
            origin = piece.position
        }
        // In short pieces, so that a phrase is heard when it ends and not when the piece does.
        var rest = piece.samples[...]
        while !rest.isEmpty {
            try decoder.take(rest.prefix(512))
            rest = rest.dropFirst(512)
            guard decoder.text != nil, let segment = decoder.segments.last else { continue }
            let frames = rate / PocketSphinx.frameRate
            let (start, end) = (origin + Double(segment.first) * frames, origin + Double(segment.last + 1) * frames)
            host.publish(
                WakeEvent.heard,
                [("phrase", .string(segment.text)), ("start", .number(start / rate)), ("end", .number(end / rate))],
                at: UInt64(end))
            let open = max(end, Double(gate.value.position.load(ordering: .relaxed))) + seconds * rate
            gate.value.open(until: UInt64(open))
            // The same phrase would be found in the rest of this utterance again.
            try decoder.begin(goingOn: true)
        }
    }

    private func fail(_ error: NodeError) {
        hasFailed = true
        decoder = nil
        host.log(VG_LOG_ERROR, error.message)
        host.health(.failed(error.message))
    }
}
