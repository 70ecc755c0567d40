// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

extension TTS {
    static let descriptor = NodeDescriptor(
        "tts", "speaks text",
        doc: """
            Speaks what `text` says when it starts, then every message that arrives, as the action `speak` does: a \
            message stops the speech before it unless `queue` is set, a blank one only stops. Messages of one item are \
            spoken one after another; what comes of one that was stopped is dropped. Events tell what is heard, at the \
            frame at which it is: the latency of the graph behind the node and of the device counts. Link `speech` of a \
            vad to `hold`, and the voice is silent while somebody speaks.
            """,
        ports: [
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the voice"),
            Port(
                VG_CONTROL_PORT, VG_OUTPUT, "speaking", doc: "1 from the first sample of a text to the last, else 0",
                bus: "state"),
            Port(VG_CONTROL_PORT, VG_INPUT, "hold", doc: "above 0.5 what is heard is held", bus: "hold"),
            Port(VG_MESSAGE_PORT, VG_INPUT, "text", doc: "what to say"),
            Port(
                VG_MESSAGE_PORT, VG_OUTPUT, "heard",
                doc: "of each text that ends, what was heard of it, to the last whole word", bus: "heard"),
        ],
        settings: [
            text, language, VoiceEngines.engine, CommandEngine.command, CommandEngine.timeLimit, queue, holdAfter,
            holdRelease, duckOthers, voice, rate, pitch, volume, ssml,
        ],
        actions: [
            Action(
                VG_ACTION_SPEAK, "say a text; a blank one only stops",
                arguments: [
                    spoken, mode, language, voice.optional(), rate.optional(), pitch.optional(), volume.optional(),
                    ssml.optional(),
                ],
                results: [Field("item", VG_INTEGER, "what the events about this text carry")]),
            Action(
                "stop", "end all speech with a short fade, also what waits for its turn", results: heardFields,
                urgent: true),
            Action(
                "skip", "end the item that is heard with a short fade; the next one follows", results: heardFields,
                urgent: true),
            Action("pause", "hold what is heard, with a short fade, until `resume`", urgent: true),
            Action("resume", "go on where `pause` has held it", urgent: true),
            Action(
                "voices", "list the voices that are installed",
                arguments: [listedEngine, listedLanguage],
                results: [
                    Field("voices", VG_LIST, "tables of name, language and engine"),
                    Field("problems", VG_LIST, "why voices of other engines are not there"),
                ]),
        ],
        events: SpeechEvent.types,
        needs: [
            Need(["onnxruntime", HibariEngine.model], setting: VoiceEngines.engine.name, value: HibariEngine.name),
            Need(["onnxruntime", "piper-joe"], setting: VoiceEngines.engine.name, value: PiperEngine.name),
        ],
        otherNames: ["speech", "say", "espeak", "voice", "speak"], process: { TTS.process($0, $1, $2) },
        absorb: { TTS.absorb($0, $1, $2) })

    private static let heardFields = [
        Field("item", VG_INTEGER, "what was being heard; not there: nothing was"),
        Field("heard", VG_INTEGER, "unicode scalars of its text that were heard before the last word; 0: none"),
    ]

    static let text = Key.text("text", "spoken once when the graph starts", default: "")
    static let language = Key.text("language", "used when no voice is given, as in en-US")
    static let queue = Key.flag(
        "queue", "texts wait for their turn instead of stopping one another", default: false, live: true)
    static let holdAfter = Key.number(
        "hold_after_ms", "`hold` shorter than this does nothing, as a cough", default: 0, in: 0...5000, unit: "ms")
    static let holdRelease = Key.number(
        "hold_release_ms", "what is held goes on so long after `hold` fell", default: 500, in: 0...30000, unit: "ms")
    static let duckOthers = Key.flag(
        "duck_others",
        "lowers what other programs play through PipeWire by 12 dB while it speaks, but no calls, notifications and "
            + "screen readers; with a JACK server lead them through a duck node", default: false)

    // Of the node, or with `optional()` of one text.
    static let voice = Key.text(
        "voice",
        "voice of the engine or language tag, as in en-GB; of espeak-ng with +f3 a variant; without one heart, en-us, "
            + "kal16 or the first that is installed", live: true, names: .file)
    static let rate = Key.number(
        "rate", "words per minute (80 to 450), or a multiple of 175 (0.46 to 2.57)", default: Double(Voice().rate),
        in: 0.46...450, live: true)
    static let pitch = Key.integer(
        "pitch", "of the voice, 50 is its own; piper's cannot be set", default: Voice().pitch, in: 0...99, live: true)
    static let volume = Key.integer(
        "volume", "of the voice, 100 is its own; it is limited to full scale", default: Voice().volume, in: 0...200,
        unit: "%", live: true)
    static let ssml = Key.value(
        "ssml",
        "whether texts are SSML; auto: those that begin with <speak>; hibari, flite and piper do not understand it",
        default: .string("auto"), choices: ["auto", "true", "false"], live: true)

    static let spoken = Key.text("text", "what to say").required()
    static let mode = Key.choice(
        "mode", "whether it stops what is spoken or waits; as `queue` says without it", default: Mode.interrupt
    ).optional()
    /// What a text does to what is spoken.
    enum Mode: String, CaseIterable {
        case interrupt, queue
    }

    static let listedEngine = Key.text("engine", "of this engine only", choices: VoiceEngines.names)
    static let listedLanguage = Key.text("language", "that speak this language only, as in en, en-GB or English")
}
