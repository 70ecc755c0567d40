// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Whether the node listens; what control calls and the thread that works agree on.
struct TranscribeSession: Sendable {
    enum Phase { case idle, running, stopping }
    var phase = Phase.idle
    /// How often it was started.
    var number = 0
    /// Whether somebody has asked to throw away what is under way.
    var isCancelled = false
    /// Whether it loads what it needs, or has an item that ends by itself.
    var isAtWork = false
}

/// Makes items of what is heard: where they begin and end, and what is recognized in them. All on one thread, but for what
/// is said to be for any.
final class Transcriber: Listener {
    let host: NodeHost
    let options: TranscribeOptions
    let choice: RecognizerChoice
    let abort: AbortFlag
    let session: Lock<TranscribeSession>
    private let marks: RingReader<GateMark>
    private let strict: RingReader<ControlEdge>
    let names: SpeakerNames
    private let makeDetector: () throws(NodeError) -> any SpeechDetector

    var recognizer: (any Recognizer)?
    private var detector: (any SpeechDetector)?
    private(set) var speechInput: SpeechInput?
    /// What was looked at before it was its turn.
    private var early: [SpeechInput.Piece] = []
    private var quiet = PauseGuess()
    private var windows = Windows(length: 160, step: 1)
    private var history = History(length: 0, step: 1)
    private var speech = SpeechGate(shortest: 0, pause: 0)
    /// The session that is worked on, by its number; nil: none.
    private var current: Int?
    private var isGateOpen = false
    private var known: [GateMark] = []
    /// What the control `strict` did, as far as items may begin there yet.
    private var strictness: [ControlEdge] = []
    private(set) var rate = 48000.0
    private(set) var isOffline = false
    /// What was worked on so far, in frames of the graph.
    private(set) var place = 0.0
    /// What was heard so far; some of it may not be a whole window yet.
    private var heard = 0.0
    /// No item begins before this, since another has it.
    var taken = 0.0

    var segment: Segment?
    /// Where the gate decides: whether somebody speaks in an item; nil: nobody knows.
    var watch: SpeechWatch?
    var numbers = ItemNumbers()
    /// The final texts of this session.
    var said = ""
    var items = 0
    /// Why the last item failed; nil: it did not.
    var problem: NodeError?
    var state: TranscribeState?
    private var lost = 0
    private var toldBehind = 0.0

    init(
        host: NodeHost, options: TranscribeOptions, choice: RecognizerChoice, abort: AbortFlag,
        session: Lock<TranscribeSession>, marks: RingReader<GateMark>,
        strict: RingReader<ControlEdge>, names: SpeakerNames,
        makeDetector: @escaping () throws(NodeError) -> any SpeechDetector
    ) {
        self.host = host
        self.options = options
        self.choice = choice
        self.abort = abort
        self.session = session
        self.marks = marks
        self.strict = strict
        self.names = names
        self.makeDetector = makeDetector
    }

    /// Listens to another stream from now on, such as one of another rate; an item under way ends.
    func adopt(_ speechInput: SpeechInput, _ preparation: Preparation) {
        end()
        self.speechInput = speechInput
        quiet = PauseGuess()
        rate = preparation.rate
        isOffline = preparation.offline
        cut()
    }

    /// Whether it keeps up; what waits for less than half a second does not count. [any]
    var isBehind: Bool { !isOffline && waiting > 0.5 }

    /// Seconds of audio that wait.
    private var waiting: Double { speechInput.map { Double($0.pipe.waiting) / rate } ?? 0 }

    // MARK: - what comes

    /// Nobody waits for an item to begin.
    var rest: Double { segment == nil && !isGateOpen ? 0.03 : 0.01 }

    /// Works on a piece of what was heard; false: there is none.
    func work() -> Bool {
        goAlong()
        guard let speechInput else { return false }
        do throws(NodeError) {
            let piece = early.isEmpty ? try next(speechInput) : early.removeFirst()
            // After the piece: what changed the gate in it is there by now.
            while let mark = marks.pop() { known.append(mark) }
            guard let piece else { return false }
            if current == nil || state == .failed || abort.isRaised {
                followGate()
                return true
            }
            try hear(piece)
        } catch {
            fail(error)
        }
        follow(speechInput)
        return true
    }

    private func next(_ speechInput: SpeechInput) throws(NodeError) -> SpeechInput.Piece? {
        let piece = try speechInput.next()
        if let piece { quiet.take(piece.samples) }
        return piece
    }

    /// Whether somebody seems to pause, live: a partial text that begins now would hold up the final one. Not for long: what is
    /// quiet for longer may be a voice that has become quiet.
    var mayPause: Bool { !isOffline && (Self.pause..<8 * Self.pause).contains(quiet.length) }

    /// A question whether nobody has begun to pause since now: who does gets the text of all that he has said, and no other
    /// before it.
    func pauseWatch() -> () -> Bool {
        if isOffline || quiet.length >= Self.pause { return { true } }
        return { [self] in
            guard let speechInput else { return true }
            while quiet.length < Self.pause, let piece = try? next(speechInput) { early.append(piece) }
            return quiet.length < Self.pause
        }
    }

    /// Begins the session that was asked for last, if it has not begun.
    func goAlong() {
        let wanted = session.withLock { $0.phase == .idle ? nil : $0.number }
        guard let wanted, wanted != current else { return }
        current = wanted
        (said, items, problem) = ("", 0, nil)
        followGate()
        do throws(NodeError) {
            if recognizer == nil { recognizer = try choice.load() }
            if options.isGated {
                // Without one the final text waits for more than it would have to.
                watch = watch ?? (try? makeDetector()).map { SpeechWatch($0) }
            } else if detector == nil {
                detector = try makeDetector()
            }
            cut()
            host.health(.ok)
            tell(.listening)
        } catch {
            fail(error)
        }
    }

    /// Begins a stream that does not follow what was before.
    private func cut() {
        guard let speechInput else { return }
        windows = Windows(length: detector?.window ?? 160, step: speechInput.step)
        history = History(length: Int(2 * speechRate), step: speechInput.step)
        speech = SpeechGate(shortest: TranscribeOptions.shortest * rate, pause: options.silence * rate)
        detector?.reset()
    }

    /// What the gate does while nobody listens.
    private func followGate() {
        isGateOpen = known.last?.isOpen ?? isGateOpen
        known = []
    }

    private func hear(_ piece: SpeechInput.Piece) throws(NodeError) {
        if piece.isNew {
            endItem(at: place)
            history.forget()
            detector?.reset()
            _ = speech.close(at: place)
            taken = piece.position
        }
        heard = piece.position + Double(piece.samples.count) * rate / speechRate
        try windows.take(piece) { (window, position) throws(NodeError) in try take(window, at: position) }
    }

    private func take(_ window: UnsafeBufferPointer<Float>, at position: Double) throws(NodeError) {
        let length = Double(window.count) * rate / speechRate
        place = position + length
        history.append(window, at: position)
        if options.isGated { return takeGated(window, at: position) }
        let probability = try detector?.probability(window) ?? 0
        switch speech.take(probability, at: position, length: length) {
        case .started(let start): beginItem(at: start)
        case .ended(let end):
            growItem(window, isSpeech: false)
            endItem(at: end)
        case nil: growItem(window, isSpeech: probability >= speechMayBe)
        }
    }

    private func takeGated(_ window: UnsafeBufferPointer<Float>, at position: Double) {
        // Listening began while the gate was open, or a gap ended an item.
        var hasBegun = isGateOpen && segment == nil && problem == nil
        if hasBegun { beginItem(at: position) }
        while let mark = known.first, Double(mark.position) < place {
            known.removeFirst()
            if mark.isOpen == isGateOpen { continue }
            isGateOpen = mark.isOpen
            if mark.isOpen {
                problem = nil
                beginItem(at: Double(mark.position))
                hasBegun = true
            } else {
                endItem(at: Double(mark.position))
            }
        }
        if !hasBegun { growItem(window, isSpeech: nil) }
    }

    /// Whether an item that begins there is a text only where the engine is sure.
    func isStrict(at start: Double) -> Bool {
        while let edge = strict.pop() { strictness.append(edge) }
        let before = strictness.prefix { Double($0.position) <= start }
        strictness.removeFirst(max(0, before.count - 1))
        return before.isEmpty ? false : strictness[0].isUp
    }

    private func beginItem(at start: Double) {
        if segment != nil { return }
        let (samples, position) = history.samples(from: max(taken, start - options.preroll * rate))
        beginItem(at: max(start, position), samples, from: position)
    }

    // MARK: - how it ends

    /// Ends the item under way, if there is one, with all that was heard.
    private func end() {
        guard current != nil else { return }
        do throws(NodeError) {
            // What is not a whole window yet is filled up with silence.
            if segment != nil, !abort.isRaised {
                if let rest = speechInput?.rest() { try hear(rest) }
                let silence = [Float](repeating: 0, count: windows.length - 1)
                let end = heard
                try hear(SpeechInput.Piece(samples: silence, position: place, isNew: false))
                heard = end
            }
            endItem(at: heard)
        } catch {
            fail(error)
        }
    }

    /// Ends a session: what was said in it, or why that is not known.
    func stop(_ number: Int) throws(NodeError) -> String {
        goAlong()
        guard number == current else { throw NodeError("it was cancelled") }
        // A failure has ended it already.
        if state == .failed { throw problem ?? NodeError("it has failed") }
        end()
        // What is under way is thrown away by `cancel`, which comes next.
        if session.withLock(\.isCancelled) { throw NodeError("it was cancelled") }
        if segment != nil { failItem(NodeError("its final text was not there in time")) }
        close(.idle)
        if let problem { throw problem }
        return said
    }

    /// Ends a session and throws away what is under way.
    func cancel() {
        abort.isRaised = false
        while speechInput?.pipe.take() != nil {}
        early = []
        if let segment {
            recognizer?.cancel()
            self.segment = nil
            host.publish(TranscribeEvent.cancelled, [("item", .integer(Int64(segment.item)))], at: now)
            takeBack(segment)
        }
        if current != nil { close(.idle) }
    }

    /// It cannot go on.
    func fail(_ error: NodeError) {
        problem = error
        if segment != nil { failItem(error) }
        host.log(VG_LOG_ERROR, error.description)
        host.health(.failed(error.message))
        recognizer = nil
        close(.failed, reason: error.message)
    }

    /// The session is over; another may begin.
    private func close(_ state: TranscribeState, reason: String = "") {
        speechInput?.pipe.isOpen = false
        // A failed one is remembered until the next begins, for whoever wants to end it.
        if state != .failed { current = nil }
        session.withLock { ($0.phase, $0.isAtWork) = (.idle, false) }
        tell(state, reason: reason)
    }

    // MARK: - how far behind

    /// Tells what was lost and how far behind it is, and drops what is too much.
    private func follow(_ speechInput: SpeechInput) {
        var frames = speechInput.pipe.takeDropped()
        if options.drops, !isOffline, waiting > options.mostBehind {
            while let audio = speechInput.pipe.take() { frames += audio.frames }
        }
        if frames > 0 {
            lost += frames
            host.count("dropped", frames)
            host.log(VG_LOG_WARNING, "\(frames) frames were not listened to: recognition is too slow")
            host.publish(
                TranscribeEvent.dropped,
                [("frames", .integer(Int64(frames))), ("total", .integer(Int64(lost)))], at: now)
        }
        if isOffline { return }
        let behind = waiting
        if behind >= toldBehind + 1 {
            toldBehind = behind
        } else if toldBehind > 0, behind < 0.5 {
            toldBehind = 0
        } else {
            return
        }
        host.publish(TranscribeEvent.behind, [("seconds", .number(toldBehind))], at: now)
    }

    /// What was worked on, as events tell it.
    var now: UInt64 { UInt64(max(0, place)) }
}
