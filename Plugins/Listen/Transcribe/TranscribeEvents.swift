// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the node `transcribe` tells, and how it is declared.
enum TranscribeEvent {
    static let partial = "transcribe.partial"
    static let final = "transcribe.final"
    static let cancelled = "transcribe.cancelled"
    static let failed = "transcribe.failed"
    static let ignored = "transcribe.ignored"
    static let unsure = "transcribe.unsure"
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
                Field("speaker", VG_STRING, "who said it, where that is told and known"),
            ], role: .text(.whole), says: "[{speaker}: {text}|{text}]"),
        EventType(
            cancelled, "an item was given up", fields: [item], role: .text(.withdrawn),
            says: "what was said last is not transcribed"),
        EventType(failed, "an item could not be recognized", fields: [item, reason], kind: .failure),
        EventType(
            ignored, "an item was not recognized, since `speakers` does not name who said it",
            fields: [item, Field("speaker", VG_STRING, "who said it; blank: nobody that is known")],
            says: "not transcribed: [{speaker} said it|somebody said it who is not known]"),
        EventType(
            unsure, "what an item may say is no text, since the engine is not sure enough while `strict` is on",
            fields: [item, Field("text", VG_STRING, "what it may say"), Field("confidence", VG_NUMBER, "0 to 1")],
            role: .text(.withdrawn), says: "not sure enough of what was said: {text}"),
        EventType(
            behind, "how far recognition is behind the audio, when that becomes a second more, or nothing again",
            fields: [Field("seconds", VG_NUMBER, "how far", unit: "s")],
            says: "[{seconds:1} s behind what is said|no more behind what is said]"),
        EventType(
            dropped, "audio was not listened to, because recognition was too far behind",
            fields: [
                Field("frames", VG_INTEGER, "since the last time", unit: "frames"),
                Field("total", VG_INTEGER, "since the node began", unit: "frames"),
            ], kind: .loss, says: "{frames:frame} not listened to: too far behind"),
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
    private static let partials = Key.value(
        "partials", "whether there are partial texts, or the seconds between them", default: .number(usualInterval))
    private static let silence = Key.number(
        "silence", "how long a pause ends an item", default: 0.6, in: 0.1...10, unit: "s")
    private static let longest = Key.number(
        "max_segment",
        "how long an item may be; it is cut where it is quietest near its end, and goes on as the next",
        default: 15, in: 2...30, unit: "s")
    private static let gated = Key.flag(
        "gated", "listens only while the control input `gate` is above 0.5, and each time is an item", default: false)
    private static let behind = Key.choice(
        "behind",
        "what happens when recognition is `max_behind` seconds behind: what comes is heard as "
            + "far as there is room, or all that waits is dropped", default: Behind.catchUp)
    private static let mostBehind = Key.number(
        "max_behind", "how far it may be behind", default: 30, in: 1...600, unit: "s")
    private static let speakers = Key.texts(
        "speakers",
        "only what these say becomes text, as the port `speaker` tells; \"*\": whoever is known. Where that is not told, nothing"
    )
    private static let sureness = Key.number(
        "min_confidence",
        "while the control input `strict` is above 0.5, what the engine is less sure of is no text; unless it is said: 0.78 with"
            + " moonshine, nothing with others", in: 0...1)
    private static let autostart = Key.flag(
        "autostart", "listens from the first block on, not from `start`", default: true)

    static let settings: [any SettingDeclaration] = [
        RecognizerChoice.engine, RecognizerChoice.model, SherpaModel.kind, RecognizerChoice.language, partials, silence,
        longest, gated,
        DetectorChoice.key.described("what tells speech from other sound, without `gated`"), behind, mostBehind,
        speakers, sureness, autostart, PocketSphinxSearch.keyphrases, PocketSphinxSearch.threshold,
        PocketSphinxSearch.grammarFile,
        CommandRecognizer.Command.line, CommandRecognizer.Command.limit,
    ]

    private enum Behind: String, CaseIterable {
        case catchUp = "catch up"
        case drop
    }

    /// Seconds between partial texts, unless the file gives others.
    private static let usualInterval = 0.4
    /// Seconds of speech that are an item at least.
    static let shortest = 0.09

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
    /// Only what these say becomes text; empty: what anybody says.
    let speakers: Set<String>
    let detector: DetectorChoice
    /// How sure the engine must be where it is to be strict; nil: as is usual for it.
    let sureness: Double?

    /// Seconds that an item has before what began it.
    var preroll: Double { isGated ? 0.5 : 0.3 }

    init(_ settings: Settings) throws(NodeError) {
        isGated = try settings[Self.gated]
        partials = try Self.interval(settings[Self.partials] ?? .bool(true))
        longest = try settings[Self.longest]
        silence = try settings[Self.silence]
        drops = try settings[Self.behind] == .drop
        mostBehind = try settings[Self.mostBehind]
        startsItself = try settings[Self.autostart]
        detector = try settings[DetectorChoice.key]
        speakers = Set(try settings[Self.speakers])
        sureness = try settings[Self.sureness]
    }

    /// Whether what this one says becomes text; blank: nobody known.
    func takes(_ name: String) -> Bool {
        speakers.isEmpty || speakers.contains(name) || !name.isEmpty && speakers.contains("*")
    }

    /// The seconds between partial texts; nil: there are none.
    private static func interval(_ given: SettingValue) throws(NodeError) -> Double? {
        if case .bool(let isOn) = given { return isOn ? usualInterval : nil }
        if let seconds = Settings([partials.name: given]).number(partials.name), (0.1...60).contains(seconds) {
            return seconds
        }
        throw NodeError(
            "partials must be true, false or the seconds between them", hint: "0.1 to 60", key: partials.name)
    }
}
