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
            Setting("text", VG_SET_STRING, "spoken once when the graph starts", default: "\"\""),
            Setting("language", VG_SET_STRING, "used when no voice is given, as in en-US"),
            Setting(
                "engine", VG_SET_STRING,
                "what speaks; piper needs models (`voicegraph models install piper-joe onnxruntime`); auto: piper where a "
                    + "voice of it speaks the language, else espeak-ng",
                default: "\"espeak-ng\"", choices: VoiceEngines.names + [VoiceEngines.auto]),
            Setting(
                "command", VG_SET_STRINGS,
                "of the engine command: a program and its arguments, or a line for the shell; it reads a text from its "
                    + "standard input and writes a WAV file to its standard output, once a sentence", names: .program),
            Setting(
                "time_limit", VG_SET_NUMBER, "how long the command may take for a sentence", default: "30",
                range: 0.1...3600, unit: "s"),
            Setting(
                "queue", VG_SET_BOOL, "texts wait for their turn instead of stopping one another", default: "false",
                live: true),
            Setting(
                "hold_after_ms", VG_SET_NUMBER, "`hold` shorter than this does nothing, as a cough", default: "0",
                range: 0...5000, unit: "ms"),
            Setting(
                "hold_release_ms", VG_SET_NUMBER, "what is held goes on so long after `hold` fell", default: "500",
                range: 0...30000, unit: "ms"),
            Setting(
                "duck_others", VG_SET_BOOL,
                "lowers what other programs play through PipeWire by 12 dB while it speaks, but no calls, notifications and "
                    + "screen readers; with a JACK server lead them through a duck node", default: "false"),
        ] + voiceSettings(live: true),
        actions: [
            Action(
                VG_ACTION_SPEAK, "say a text; a blank one only stops",
                arguments: [
                    Setting("text", VG_SET_STRING, "what to say", required: true),
                    Setting(
                        "mode", VG_SET_STRING, "whether it stops what is spoken or waits; as `queue` says without it",
                        choices: ["interrupt", "queue"]),
                    Setting("language", VG_SET_STRING, "used when no voice is given, as in en-US"),
                ] + voiceSettings(live: false),
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
                arguments: [
                    Setting("engine", VG_SET_STRING, "of this engine only", choices: VoiceEngines.names),
                    Setting("language", VG_SET_STRING, "that speak this language only, as in en, en-GB or English"),
                ],
                results: [
                    Field("voices", VG_LIST, "tables of name, language and engine"),
                    Field("problems", VG_LIST, "why voices of other engines are not there"),
                ]),
        ],
        events: SpeechEvent.types, process: ttsProcess, absorb: ttsAbsorb)

    private static let heardFields = [
        Field("item", VG_INTEGER, "what was being heard; not there: nothing was"),
        Field("heard", VG_INTEGER, "unicode scalars of its text that were heard before the last word; 0: none"),
    ]

    /// The settings of the node, or the same as arguments for one text.
    private static func voiceSettings(live isLive: Bool) -> [Setting] {
        func setting(
            _ key: String, _ kind: vg_setting_kind, _ doc: String, _ text: String?,
            _ range: ClosedRange<Double>? = nil, unit: String? = nil
        ) -> Setting {
            Setting(key, kind, doc, default: isLive ? text : nil, range: range, unit: unit, live: isLive)
        }
        return [
            Setting(
                "voice", VG_SET_STRING,
                "voice of the engine or language tag, as in en-GB; of espeak-ng with +f3 a variant; without one en-us, "
                    + "kal16 or the first that is installed", live: isLive, names: .file),
            setting(
                "rate", VG_SET_NUMBER, "words per minute (80 to 450), or a multiple of 175 (0.46 to 2.57)", "175",
                0.46...450),
            setting(
                "pitch", VG_SET_INTEGER, "of the voice, 50 is its own; piper's cannot be set", "50", 0...99),
            setting(
                "volume", VG_SET_INTEGER, "of the voice, 100 is its own; it is limited to full scale", "100", 0...200,
                unit: "%"),
            Setting(
                "ssml", VG_SET_VALUE,
                "whether texts are SSML; auto: those that begin with <speak>; flite and piper do not understand it",
                default: isLive ? "\"auto\"" : nil, choices: ["auto", "true", "false"], live: isLive),
        ]
    }
}
