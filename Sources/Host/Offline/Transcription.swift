// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// Makes text of a sound file, as fast as it goes: a `file` node and a `transcribe` node, played offline.
public struct Transcription: Sendable {
    /// An item of the text.
    public struct Item: Sendable, Equatable {
        /// A word of it, where the engine knows them.
        public struct Word: Sendable, Equatable {
            /// The word.
            public var text: String
            /// Seconds since the file began.
            public var start: Double
            /// The same.
            public var end: Double
            /// 0 to 1, where it is known.
            public var confidence: Double?
        }

        /// What is said.
        public var text: String
        /// Seconds since the file began.
        public var start: Double
        /// The same.
        public var end: Double
        /// In their order.
        public var words: [Word]
        /// 0 to 1, where it is known.
        public var confidence: Double?
        /// Who says it, where that is known.
        public var speaker: String?

        /// What is said, behind the name of who says it.
        public var named: String { (speaker.map { $0 + ": " } ?? "") + text }

        /// Describes an item of which no more is known.
        public init(text: String, start: Double, end: Double) {
            self.text = text
            self.start = start
            self.end = end
            words = []
        }
    }

    /// How it ended.
    public struct Outcome: Sendable, Equatable {
        /// Seconds of the file.
        public var seconds = 0.0
        /// Items that could not be recognized, and why the first could not.
        public var failures: [String] = []
    }

    /// What engines take: all that they know is below 8 kHz.
    public static let rate = 16000.0

    /// The sound file.
    public var path: String
    /// Settings of the node, such as `engine`.
    public var settings: [String: SettingValue]

    /// Whether it is told who says it, of the voices that are known.
    public var namesSpeakers: Bool

    /// Describes one.
    public init(path: String, settings: [String: SettingValue] = [:], namesSpeakers: Bool = false) {
        self.path = path
        self.settings = settings
        self.namesSpeakers = namesSpeakers
    }

    /// Gives each item to `take` when it is there, and now and then the seconds done to `progress`, which ends it by
    /// returning false. Throws if the file cannot be read, or nothing can recognize. [control]
    public func run(
        registry: NodeRegistry, progress: (Double) -> Bool = { _ in true }, take: (Item) -> Void
    ) throws(Fault) -> Outcome {
        var outcome = Outcome()
        let settings = settings.merging(["partials": .bool(false)]) { given, _ in given }
        var end: Double?
        var pass = FilePass(name: "transcribe", path: path, rate: Self.rate, channels: 1)
        if namesSpeakers {
            let node = NodeDescription(name: StandardType.speaker, type: StandardType.speaker, required: true)
            pass.witness = (node, "name", "speaker")
        }
        let played = try pass.run(
            registry: registry,
            listener: { _ in
                NodeDescription(name: "", type: StandardType.transcription, entries: settings.mapValues { Entry($0) })
            }, progress: progress
        ) { published in
            guard case .event(let event) = published else { return nil }
            guard event.node == FilePass.listener else {
                if event.type?.end != nil { end = Settings(event.fields).number("frames").map { $0 / Self.rate } }
                return nil
            }
            if event.type?.role == .text(.whole), let item = Item(event) { take(item) }
            if event.type?.kind == .failure { outcome.failures.append(event.text("reason") ?? "") }
            return event.isRetained && event.text("state") == "failed" ? event.text("reason") : nil
        }
        outcome.seconds = end ?? played
        return outcome
    }
}

extension Transcription.Item {
    /// What an event tells of a text; nil: there is none.
    init?(_ event: Event) {
        guard let text = event.text("text"), !text.isEmpty else { return nil }
        self.text = text
        let fields = Settings(event.fields)
        start = fields.number("start") ?? event.time
        end = fields.number("end") ?? event.time
        confidence = fields.number("confidence")
        speaker = event.text("speaker")
        words = []
        guard case .list(let list)? = event.fields["words"] else { return }
        for case .table(let table) in list {
            let word = Settings(table)
            words.append(
                Word(
                    text: word.string("text") ?? "", start: word.number("start") ?? 0, end: word.number("end") ?? 0,
                    confidence: word.number("confidence")))
        }
    }
}
