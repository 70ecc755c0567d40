// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Makes text of speech.
final class Transcribe: AudioNode {
    static let calls: NodeCalls = [.receive, .wait, .idle, .perform, .finish]
    static let descriptor = NodeDescriptor(
        "transcribe", "makes text of speech",
        doc: """
            What is said between two pauses is an item: a message of `text`, and the event transcribe.final, with what \
            the engine knows of its words. While it is said there are partial texts, each of which replaces the one \
            before. With `gated` an item is what is said while the control `gate` is above 0.5, and half a second before. \
            Engines: moonshine (`voicegraph models install moonshine-base-en`), pocketsphinx (Debian's packages \
            libpocketsphinx3 and pocketsphinx-en-us), sherpa with a model of your own of most languages, or a command. \
            Recognition never holds up the audio; when it falls behind, that is told.
            """,
        ports: Port.audio(VG_INPUT, channels: 1, doc: "what is said") + [
            Port(VG_CONTROL_PORT, VG_INPUT, "gate", doc: "above 0.5 it listens, with `gated`"),
            Port(
                VG_CONTROL_PORT, VG_INPUT, "strict",
                doc:
                    "above 0.5 where an item begins: it is a text only where the engine is sure, as while a voice is heard"
            ),
            Port(VG_MESSAGE_PORT, VG_OUTPUT, "text", doc: "partial and final texts, by items"),
            Port(
                VG_MESSAGE_PORT, VG_INPUT, "speaker", doc: "who speaks from a frame on, as speaker.name", bus: "speaker"
            ),
        ],
        settings: TranscribeOptions.settings,
        actions: [
            Action("start", "listen; refused while it does already"),
            Action("stop", "listen no more, and finish what is under way", results: texts),
            Action(
                "toggle", "start where it does not listen, else stop; refused while it finishes",
                results: [Field("listening", VG_BOOL, "whether it listens now")] + texts),
            Action("cancel", "listen no more, and throw away what is under way", urgent: true),
        ],
        events: TranscribeEvent.types,
        needs: [
            // Where a model is broken the library ends the process.
            Need(["onnxruntime", "sherpa-onnx"], RecognizerChoice.engine, .sherpa, alone: true),
            Need(["onnxruntime", "moonshine-base-en"], RecognizerChoice.engine, .moonshine, better: true),
        ],
        otherNames: ["stt", "asr", "whisper", "vosk", "recognizer"], process: { Transcribe.process($0, $1, $2) })

    private static let texts = [
        Field("text", VG_STRING, "the final texts since the start, one after the other"),
        Field("items", VG_INTEGER, "how many those are"),
        Field("item", VG_INTEGER, "the last item"),
    ]
    private static let finishing = NodeError(
        "it is finishing what it heard", hint: "wait for the final text, or cancel", kind: "finishing")

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
        let marks: RingWriter<GateMark>
        var strict: ControlEdges
        /// Whether the gate was open in the last block; nil: there was none, and nobody knows of the audio before.
        var isOpen: Bool?
    }

    /// Seconds that the final text may take when the audio has ended; all nodes together have five.
    private static let patience = 4.0

    private let host: NodeHost
    private let options: TranscribeOptions
    private let abort = AbortFlag()
    private let session = Lock(TranscribeSession())
    private let marks = Ring<GateMark>(minimumCapacity: 1024)
    private let strict = Ring<ControlEdge>(minimumCapacity: 1024)
    private let names = SpeakerNames()
    private let transcriber: Transcriber
    private let thread: ListenThread
    private var speechInput: SpeechInput?
    private var preparation: Preparation?
    private var hasBegun = false

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let options = try TranscribeOptions(settings)
        self.options = options
        let choice = try RecognizerChoice(settings, host: host, abort: abort)
        // What cannot be had is told now, not with the first word.
        if !options.isGated { _ = try makeDetector(options.detector, host: host) }
        let transcriber = Transcriber(
            host: host, options: options, choice: choice, abort: abort, session: session, marks: marks.reader,
            strict: strict.reader, names: names
        ) { () throws(NodeError) in try makeDetector(options.detector, host: host) }
        self.transcriber = transcriber
        thread = ListenThread(transcriber)
    }

    deinit {
        abort.isRaised = true
        thread.end()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if let speechInput, let before = self.preparation, before.rate == preparation.rate,
            before.maxBlock >= preparation.maxBlock
        {
            return processor(speechInput)
        }
        let speechInput = try SpeechInput(preparation, seconds: options.mostBehind + (options.drops ? 10 : 0))
        speechInput.pipe.isOpen = session.withLock { $0.phase == .running }
        // The thread ends with what was heard at the old rate.
        thread.end()
        transcriber.adopt(speechInput, preparation)
        self.speechInput = speechInput
        self.preparation = preparation
        try thread.start()
        return processor(speechInput)
    }

    private func processor(_ speechInput: SpeechInput) -> Processor {
        Processor(pipe: speechInput.pipe.writer, marks: marks.writer, strict: ControlEdges(strict))
    }

    func activate() {
        if hasBegun { return }
        hasBegun = true
        if options.startsItself { begin() } else { thread.post { [transcriber] in transcriber.tell(.idle) } }
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "start":
            switch session.withLock(\.phase) {
            case .idle: begin()
            case .running:
                throw NodeError("it listens already", hint: "stop or cancel that first", kind: "already-listening")
            case .stopping: throw Self.finishing
            }
        case "stop":
            guard session.withLock(\.phase) == .running else {
                throw NodeError("it does not listen", hint: "start first", kind: "not-listening")
            }
            stop(call.later())
        case "toggle":
            switch session.withLock(\.phase) {
            case .idle:
                begin()
                call.put("listening", .bool(true))
            case .running:
                call.put("listening", .bool(false))
                stop(call.later())
            case .stopping: throw Self.finishing
            }
        default: cancel()
        }
    }

    func receive(_ message: Message, port: Int) {
        if case .text(let name) = message.content { names.take(name, from: message.position) }
    }

    /// Returns when everything that was heard was worked on.
    func wait(frames: Int) { thread.wait() }

    var isIdle: Bool { session.withLock { $0.phase != .stopping && !$0.isAtWork } && !transcriber.isBehind }

    func finish() {
        if session.withLock({ $0.phase }) == .running { stop(nil) }
        if preparation?.offline == true || thread.wait(seconds: Self.patience) {
            thread.wait()
            return
        }
        abort.isRaised = true
        host.log(VG_LOG_WARNING, "the final text was not there \(Self.patience) s after the end")
        thread.wait(seconds: 0.5)
    }

    private func begin() {
        session.withLock { session in
            session.phase = .running
            session.number += 1
            session.isCancelled = false
            session.isAtWork = true
        }
        abort.isRaised = false
        speechInput?.pipe.isOpen = true
        thread.post { [transcriber] in transcriber.goAlong() }
    }

    private func stop(_ call: PendingCall?) {
        let number = session.withLock { session in
            session.phase = .stopping
            return session.number
        }
        speechInput?.pipe.isOpen = false
        thread.post { [transcriber] in
            do throws(NodeError) {
                let text = try transcriber.stop(number)
                call?.put("text", .string(text))
                call?.put("items", .integer(Int64(transcriber.items)))
                call?.put("item", .integer(Int64(transcriber.numbers.last)))
                call?.finish()
            } catch {
                call?.fail(error)
            }
        }
    }

    private func cancel() {
        let isOn = session.withLock { session in
            session.isCancelled = session.phase != .idle
            return session.isCancelled
        }
        if !isOn { return }
        speechInput?.pipe.isOpen = false
        abort.isRaised = true
        thread.postUrgent { [transcriber] in transcriber.cancel() }
    }
}

/// Where the control `gate` crossed 0.5.
struct GateMark: BitwiseCopyable {
    /// In frames of the graph.
    var position: UInt64
    var isOpen: Bool
}

extension Transcribe {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let isOpen = block.control(0) > 0.5
        // Before the block, so that whoever has the block knows of it.
        state.strict.take(block.control(1), at: block.position)
        if isOpen != state.isOpen,
            state.marks.push(GateMark(position: block.position, isOpen: isOpen))
        {
            state.isOpen = isOpen
        }
        state.pipe.write(block)
    }
}
