// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Opens a gate when it hears a phrase.
final class Wake: LoopNode {
    static let calls: NodeCalls = [.poll, .wait, .perform]
    static let descriptor = NodeDescriptor(
        "wake", "opens a gate when it hears a phrase",
        doc: """
            The control output `open` is 1 for `seconds` after a phrase was heard. With `until_turn` it stays open while \
            the control input `turn` is above 0.5, and closes when that falls; `seconds` is then how long it waits for a \
            turn. `closed` is the opposite, for `mute` of a vad. "okay nabu", "hey jarvis", "hey mycroft" and "alexa" have \
            small models (`voicegraph models install micro-wakeword`), and so have words of your own in the folder \
            wake-words of the models. For all others PocketSphinx listens (Debian's packages libpocketsphinx3 and \
            pocketsphinx-en-us); a phrase of three or four syllables is told best from others.
            """,
        ports: Port.audio(VG_INPUT, channels: 1, doc: "what is said") + [
            Port(VG_CONTROL_PORT, VG_INPUT, "turn", doc: "above 0.5 while somebody has the turn, with `until_turn`"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "open", doc: "1 while the gate is open, else 0"),
            Port(
                VG_CONTROL_PORT, VG_OUTPUT, "closed", doc: "1 while it is closed, else 0", bus: "closed",
                defaultValue: 1),
        ],
        settings: [
            phrase, engine,
            PocketSphinxSearch.threshold.described(
                "how unlike a phrase may be: 1e-10 for short ones, down to 1e-50 for long ones"),
            seconds, untilTurn, RecognizerChoice.language,
            RecognizerChoice.model.described("a folder with another model of PocketSphinx"),
        ],
        actions: [
            Action("open", "open the gate, as the phrase does"), Action("close", "close the gate", urgent: true),
        ],
        events: WakeEvent.types, needs: [Need([MicroWord.model], engine, .micro, better: true)],
        process: { Wake.process($0, $1, $2) }, absorb: { Wake.absorb($0, $1, $2) })

    private static let phrase = Key.someTexts("phrase", "what opens the gate; several may")
    private static let engine = Key.choice(
        "engine", "what listens; auto: a small model where the phrase has one, else pocketsphinx",
        default: WakeEngine.auto)
    private static let seconds = Key.number(
        "seconds", "how long it stays open", default: 8, in: 0.1...3600, unit: "s")
    private static let untilTurn = Key.flag("until_turn", "stays open until `turn` falls", default: false)

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
        let gate: SharedCell<WakeGate>
        let untilTurn: Bool
        /// How often the gate was opened, as the last block saw it.
        var opened = 0
        /// Whether somebody has the turn.
        var isTurn = false
        /// Whether somebody has had the turn since then.
        var hasTurned = false
    }

    private let host: NodeHost
    private let listener: WakeListener
    private let thread: ListenThread
    private let gate = Shared(WakeGate())
    private let seconds: Double
    private let untilTurn: Bool
    private var rate = 48000.0
    private var speechInput: SpeechInput?
    private var isToldOpen: Bool?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        seconds = try settings[Self.seconds]
        untilTurn = try settings[Self.untilTurn]
        let listener = WakeListener(
            host: host, gate: gate, seconds: seconds,
            phrases: try WakePhrases(settings[Self.phrase], of: Self.phrase, settings[Self.engine], settings, host))
        self.listener = listener
        thread = ListenThread(listener)
    }

    deinit {
        thread.end()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let speechInput = try SpeechInput(preparation, seconds: 10)
        thread.end()
        listener.adopt(speechInput, preparation)
        rate = preparation.rate
        self.speechInput = speechInput
        // Positions are of the rate before.
        gate.value.end.store(0, ordering: .relaxed)
        try thread.start()
        return Processor(
            pipe: speechInput.pipe.writer, gate: gate.cell, untilTurn: untilTurn,
            opened: gate.value.opened.load(ordering: .relaxed))
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        if action == "open" {
            gate.value.open(until: gate.value.position.load(ordering: .relaxed) + UInt64(seconds * rate))
        } else {
            gate.value.end.store(0, ordering: .releasing)
        }
    }

    func poll() {
        let isOpen = gate.value.isOpen.load(ordering: .acquiring)
        if isOpen == isToldOpen { return }
        isToldOpen = isOpen
        host.publish(
            WakeEvent.state, [("open", .bool(isOpen))], at: gate.value.changed.load(ordering: .relaxed))
    }

    func wait(frames: Int) { thread.wait() }
}

/// The gate, which is opened by the control half and closed by both halves.
struct WakeGate: ~Copyable {
    /// The frame of the graph at which it closes by itself; 0: it is closed.
    let end = Atomic<UInt64>(0)
    /// How often it was opened.
    let opened = Atomic<Int>(0)
    /// Where the processor is.
    let position = Atomic<UInt64>(0)
    /// Whether it was open in the last block, and where that changed last.
    let isOpen = Atomic<Bool>(false)
    let changed = Atomic<UInt64>(0)

    /// Opens it until a frame of the graph, or for longer while somebody has the turn. [any]
    borrowing func open(until frame: UInt64) {
        end.store(frame, ordering: .relaxed)
        opened.wrappingAdd(1, ordering: .releasing)
    }
}

/// What the node tells, and how it is declared.
enum WakeEvent {
    static let heard = "wake.heard"
    static let state = "wake.state"

    static let types = [
        EventType(
            heard, "a phrase was heard; the position is that of its end",
            fields: [
                Field("phrase", VG_STRING, "which one"),
                Field("start", VG_NUMBER, "when it begins, where that is known", unit: "s"),
                Field("end", VG_NUMBER, "when it ends", unit: "s"),
            ], says: "heard \"{phrase}\""),
        EventType(
            state, "whether the gate is open", fields: [Field("open", VG_BOOL, "whether it is")], retained: true),
    ]
}

extension Wake {
    /// Listens. Apart from the rest, so that the node may be part of a loop: the gate that it opens lets those be heard who tell it
    /// of turns.
    @_noLocks
    static func absorb(_ state: inout Processor, _ block: borrowing Block) {
        state.pipe.write(block)
        state.isTurn = state.untilTurn && block.control(0) > 0.5
    }
}

extension Wake {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let gate = state.gate
        let position = block.position
        let opened = gate.value.opened.load(ordering: .acquiring)
        if opened != state.opened {
            state.opened = opened
            state.hasTurned = false
        }
        let end = gate.value.end.load(ordering: .acquiring)
        let isTurn = state.isTurn
        var isOpen = end != 0 && (position < end || state.hasTurned)
        if isOpen, state.untilTurn {
            if isTurn {
                state.hasTurned = true
            } else if state.hasTurned {
                isOpen = false
            }
        }
        // Closed for good, unless it was opened again meanwhile.
        if end != 0, !isOpen {
            _ = gate.value.end.compareExchange(expected: end, desired: 0, ordering: .acquiringAndReleasing)
        }
        if gate.value.isOpen.load(ordering: .relaxed) != isOpen {
            gate.value.changed.store(position, ordering: .relaxed)
            gate.value.isOpen.store(isOpen, ordering: .releasing)
        }
        gate.value.position.store(position, ordering: .relaxed)
        block.setControl(0, isOpen ? 1 : 0)
        block.setControl(1, isOpen ? 0 : 1)
    }
}
