// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the node `transcribe` tells, and how it is declared.
enum TranscribeEvent {
    static let partial = "transcribe.partial"
    static let final = "transcribe.final"
    static let cancelled = "transcribe.cancelled"
    static let failed = "transcribe.failed"
    static let behind = "transcribe.behind"
    static let dropped = "transcribe.dropped"
    static let state = "transcribe.state"

    private static let item = Field(
        "item", VG_INTEGER, "what the text belongs to; each one is higher than those before")
    private static let reason = Field("reason", VG_STRING, "why")

    static let types = [
        EventType(
            partial, "what an item says so far; replaces what was told of it before",
            fields: [item, Field("text", VG_STRING, "the whole text")], role: .text(.partial)),
        EventType(
            final, "what an item says in the end; blank only where a partial text has to be taken back",
            fields: [
                item, Field("text", VG_STRING, "the whole text"),
                Field("start", VG_NUMBER, "when it begins, in the graph's time", unit: "s"),
                Field("end", VG_NUMBER, "when it ends", unit: "s"),
                Field("start_frame", VG_INTEGER, "when it begins", unit: "frames"),
                Field("end_frame", VG_INTEGER, "when it ends", unit: "frames"),
                Field(
                    "words", VG_LIST,
                    "where the engine knows them: tables with text, start and end in seconds, and confidence"),
                Field("confidence", VG_NUMBER, "0 to 1, where the engine knows it"),
            ], role: .text(.whole)),
        EventType(cancelled, "an item was given up", fields: [item], role: .text(.withdrawn)),
        EventType(failed, "an item could not be recognized", fields: [item, reason]),
        EventType(
            behind, "how far recognition is behind the audio, when that becomes a second more, or nothing again",
            fields: [Field("seconds", VG_NUMBER, "how far", unit: "s")]),
        EventType(
            dropped, "audio was not listened to, because recognition was too far behind",
            fields: [
                Field("frames", VG_INTEGER, "since the last time", unit: "frames"),
                Field("total", VG_INTEGER, "since the node began", unit: "frames"),
            ]),
        EventType(
            state, "what it does",
            fields: [
                Field(
                    "state", VG_STRING,
                    "idle, listening (nobody speaks), hearing (an item grows), finishing (its final text is made), failed"
                ),
                Field("engine", VG_STRING, "what recognizes"), reason,
            ], retained: true),
    ]
}

/// What the node does, as its state tells.
enum TranscribeState: String {
    case idle, listening, hearing, finishing, failed
}

/// How the node listens, as its settings say.
struct TranscribeOptions: Sendable {
    /// Whether it listens only while the control `gate` is above 0.5.
    let isGated: Bool
    /// Seconds between partial texts; nil: there are none.
    let partials: Double?
    /// Seconds of audio that an item has at most.
    let longest: Double
    /// Seconds of silence that end an item.
    let silence: Double
    /// Whether what is too far behind is dropped, not caught up with.
    let drops: Bool
    /// Seconds that it may be behind.
    let mostBehind: Double
    let startsItself: Bool
    let detector: String

    /// Seconds that an item has before what began it.
    var preroll: Double { isGated ? 0.5 : 0.3 }
    /// Seconds of speech that are an item at least.
    static let shortest = 0.09

    init(_ settings: Settings) throws(NodeError) {
        isGated = settings.bool("gated") ?? false
        switch settings.values["partials"] {
        case .bool(let isOn): partials = isOn ? 0.4 : nil
        case nil: partials = 0.4
        default:
            guard let seconds = settings.number("partials"), (0.1...60).contains(seconds) else {
                throw NodeError(
                    "partials must be true, false or the seconds between them", hint: "0.1 to 60", key: "partials")
            }
            partials = seconds
        }
        longest = settings.number("max_segment") ?? 15
        silence = settings.number("silence") ?? 0.6
        drops = settings.string("behind") == "drop"
        mostBehind = settings.number("max_behind") ?? 30
        startsItself = settings.bool("autostart") ?? true
        detector = settings.string("detector") ?? "auto"
    }

    static let settings = [
        Setting(
            "engine", VG_SET_STRING, "what recognizes; auto: moonshine where it is installed, else pocketsphinx",
            default: "\"auto\"", choices: RecognizerChoice.names),
        Setting(
            "model", VG_SET_STRING, "another model: the name of one for moonshine, a folder for pocketsphinx",
            names: .file),
        Setting("language", VG_SET_STRING, "what is spoken", default: "\"en-US\""),
        Setting(
            "partials", VG_SET_VALUE, "whether there are partial texts, or the seconds between them", default: "0.4"),
        Setting(
            "silence", VG_SET_NUMBER, "how long a pause ends an item", default: "0.6", range: 0.1...10, unit: "s"),
        Setting(
            "max_segment", VG_SET_NUMBER,
            "how long an item may be; it is cut where it is quietest near its end, and goes on as the next",
            default: "15", range: 2...30, unit: "s"),
        Setting(
            "gated", VG_SET_BOOL, "listens only while the control input `gate` is above 0.5, and each time is an item",
            default: "false"),
        Setting(
            "detector", VG_SET_STRING, "what tells speech from other sound, without `gated`", default: "\"auto\"",
            choices: detectorNames),
        Setting(
            "behind", VG_SET_STRING,
            "what happens when recognition is `max_behind` seconds behind: what comes is heard as "
                + "far as there is room, or all that waits is dropped", default: "\"catch up\"",
            choices: ["catch up", "drop"]),
        Setting(
            "max_behind", VG_SET_NUMBER, "how far it may be behind", default: "30", range: 1...600, unit: "s"),
        Setting("autostart", VG_SET_BOOL, "listens from the first block on, not from `start`", default: "true"),
        Setting("keyphrases", VG_SET_STRINGS, "pocketsphinx hears only these phrases"),
        Setting("threshold", VG_SET_NUMBER, "how unlike a keyphrase may be", default: "1e-20", range: 1e-50...1),
        Setting("grammar", VG_SET_PATH, "a JSGF file; pocketsphinx hears only what it allows"),
        Setting(
            "command", VG_SET_STRINGS,
            "reads WAV (16-bit mono, 16 kHz) and writes text: a line for the shell, or a program and its arguments",
            names: .program),
        Setting(
            "time_limit", VG_SET_NUMBER, "how long the command may take for an item", default: "30", range: 0.1...3600,
            unit: "s"),
    ]
}
