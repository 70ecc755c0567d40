// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// A text that is or will be spoken.
struct Speech: Sendable {
    /// Not the same for any two speeches of a node.
    var number: Int
    /// What it belongs to, as events tell it.
    var item: UInt64
    var text: String
    /// Whether it is SSML.
    var isMarkup: Bool
    var voice: Voice
    /// Raised by each stop; a speech of an older one is void.
    var generation: Int
    /// Unicode scalars of the text before the word that was heard last; it goes on there in another pipe.
    var heard = 0

    /// Letters of a text that events carry.
    static let shownLetters = 2000
    /// The text as events tell it.
    var shown: String {
        // Bytes are counted in no time, and are never fewer than letters.
        if text.utf8.count <= Self.shownLetters { return text }
        let start = text.prefix(Self.shownLetters)
        return start.endIndex == text.endIndex ? text : start + "…"
    }
}

/// Something to publish once the frame before which it stands was heard.
struct Mark {
    enum Kind {
        case started, word(text: String, start: Int, length: Int), sentence(text: String, TextSpan)
        /// The speech has come to this scalar of its text; of engines that tell no words.
        case place(Int)
        /// `frames`: how long it was.
        case finished(frames: Int)
        case failed(String)
    }
    var kind: Kind
    /// In the pipe.
    var index: Int
    var speech: Speech

    /// Whether the speech is over there.
    var isEnd: Bool {
        switch kind {
        case .started, .word, .sentence, .place: false
        case .finished, .failed: true
        }
    }

    var isStart: Bool { if case .started = kind { true } else { false } }
}

/// What the node tells, and how it is declared.
enum SpeechEvent {
    static let started = "speech.started"
    static let sentence = "speech.sentence"
    static let word = "speech.word"
    static let finished = "speech.finished"
    static let synthesized = "speech.synthesized"
    static let stopped = "speech.stopped"
    static let failed = "speech.failed"
    static let gap = "speech.gap"
    static let state = "speech.state"

    private static let item = Field("item", VG_INTEGER, "what the text belongs to")
    private static let text = Field(
        "text", VG_STRING, "the whole text; of a long one the first \(Speech.shownLetters) letters, and …")
    private static let heard = Field("heard", VG_INTEGER, "unicode scalars of the text that were heard before")

    private static func part(_ name: String) -> [Field] {
        [
            item, Field("text", VG_STRING, "the \(name)"),
            Field("offset", VG_INTEGER, "unicode scalars of the text before it"),
            Field("length", VG_INTEGER, "unicode scalars of the \(name)"),
        ]
    }

    static let types = [
        EventType(started, "the first sample of a text is heard", fields: [item, text], says: "speaking"),
        EventType(
            sentence, "a sentence is heard", fields: part("sentence"), kind: .sentence, public: true,
            says: ""),
        EventType(
            word, "a word is heard, by an engine that tells words", fields: part("word"), kind: .word,
            public: true, says: ""),
        EventType(
            finished, "the last sample of a text was heard", fields: [item, text], ends: .heard,
            says: "finished speaking"),
        EventType(
            synthesized, "the last sample of a text was made",
            fields: [item, text, Field("frames", VG_INTEGER, "how long it is", unit: "frames")], says: "speech prepared"
        ),
        EventType(
            stopped, "a text was cut short or skipped, or given up before it was heard", fields: [item, text, heard],
            says: "stopped speaking"),
        EventType(
            failed, "a text could not be spoken, or not to its end",
            fields: [item, text, heard, Field("reason", VG_STRING, "why")], kind: .failure),
        EventType(
            gap, "silence had to be played because the voice was not made in time",
            fields: [Field("frames", VG_INTEGER, "how long", unit: "frames")], kind: .loss,
            says: "the voice was late: {frames:frame} of silence"),
        EventType(
            state, "whether a text is being heard",
            fields: [
                Field("speaking", VG_BOOL, "whether one has begun, and not ended"),
                Field("paused", VG_BOOL, "whether it is held"), item, text,
            ], retained: true, public: true),
    ]
}

extension NodeHost {
    /// Publishes an event about a speech. [any]
    func publish(_ event: String, _ speech: Speech, _ fields: [(String, SettingValue)] = [], at position: UInt64?) {
        publish(
            event, [("item", .integer(Int64(clamping: speech.item))), ("text", .string(speech.shown))] + fields,
            at: position)
    }

    /// Publishes a word or a sentence. [any]
    func publish(_ event: String, _ speech: Speech, part text: String, _ span: TextSpan, at position: UInt64?) {
        publish(
            event,
            [
                ("item", .integer(Int64(clamping: speech.item))), ("text", .string(text)),
                ("offset", .integer(Int64(span.start))), ("length", .integer(Int64(span.length))),
            ], at: position)
    }

    /// Publishes what is being heard; nil: nothing. [any]
    func publish(speaking speech: Speech?, paused isPaused: Bool = false, at position: UInt64?) {
        publish(
            SpeechEvent.state,
            [
                ("speaking", .bool(speech != nil)), ("paused", .bool(isPaused)),
                ("item", .integer(Int64(clamping: speech?.item ?? 0))), ("text", .string(speech?.shown ?? "")),
            ], at: position)
    }
}
