// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
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
    private static let block = 4096

    /// The sound file.
    public var path: String
    /// Settings of the node, such as `engine`.
    public var settings: [String: SettingValue]

    /// Describes one.
    public init(path: String, settings: [String: SettingValue] = [:]) {
        self.path = path
        self.settings = settings
    }

    /// Gives each item to `take` when it is there, and now and then the seconds done to `progress`, which ends it by
    /// returning false. Throws if the file cannot be read, or nothing can recognize. [control]
    public func run(
        registry: NodeRegistry, progress: (Double) -> Bool = { _ in true }, take: (Item) -> Void
    ) throws(HostError) -> Outcome {
        let bus = EventBus()
        let events = bus.subscribe(.lossless) {
            if case .event(let event) = $0 { event.node != nil } else { false }
        }
        let running = try RunningGraph.start(
            try prepared(bus, registry), on: OfflineDriver(rate: Self.rate, maxBlock: Self.block))
        guard let driver = running.driver as? OfflineDriver else { throw HostError("there is no offline driver") }
        defer { bus.finish() }
        var outcome = Outcome()
        var fault: String?
        func read() {
            while case .event(let event)? = events.poll() {
                switch event.name {
                case "transcribe.final":
                    if let item = Item(event) { take(item) }
                case "transcribe.failed": outcome.failures.append(event.text("reason") ?? "")
                case "file.failed": fault = "\(path): \(event.text("reason") ?? "")"
                case "transcribe.state" where event.text("state") == "failed": fault = event.text("reason")
                case HostEvent.health.name where event.text("state") == "failed": fault = event.text("reason")
                default: break
                }
            }
        }
        var frames = 0
        while fault == nil, !running.isIdle {
            running.wait(frames: Self.block)
            driver.process(frames: Self.block)
            frames += Self.block
            running.pump()
            read()
            outcome.seconds = Double(frames) / Self.rate
            if !progress(outcome.seconds) { break }
        }
        running.stop()
        read()
        if let fault { throw HostError(fault) }
        return outcome
    }

    private func prepared(_ bus: EventBus, _ registry: NodeRegistry) throws(HostError) -> PreparedGraph {
        func entries(_ settings: [String: SettingValue]) -> [String: Entry] { settings.mapValues { Entry($0) } }
        let fileSettings: [String: SettingValue] = ["path": .string(absolute(path)), "channels": .integer(1)]
        let description = GraphDescription(
            name: "transcribe",
            nodes: [
                NodeDescription(name: "file", type: "file", entries: entries(fileSettings), required: true),
                NodeDescription(
                    name: "text", type: "transcribe",
                    entries: entries(settings.merging(["partials": .bool(false)]) { given, _ in given }), required: true
                ),
            ], links: [LinkDescription(from: Endpoint("file"), to: Endpoint("text"))])
        let context = GraphContext(bus)
        let built = PreparedGraph.build(description, registry: registry, context: context)
        if let error = built.diagnostics.first(where: { $0.severity == .error }) {
            throw HostError(error.message, hint: error.hint)
        }
        guard let graph = built.graph else { throw HostError("\(path) cannot be transcribed") }
        return PreparedGraph(
            description: description, graph: graph, degraded: built.degraded, bus: bus, context: context)
    }
}

extension Transcription.Item {
    /// What the event transcribe.final tells; nil: there is no text.
    init?(_ event: Event) {
        guard let text = event.text("text"), !text.isEmpty else { return nil }
        self.text = text
        let fields = Settings(event.fields)
        start = fields.number("start") ?? event.time
        end = fields.number("end") ?? event.time
        confidence = fields.number("confidence")
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
