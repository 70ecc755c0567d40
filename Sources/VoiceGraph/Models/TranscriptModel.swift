// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// What is said in a graph, for views: one item for each utterance, by whoever makes text of it.
@MainActor @Observable public final class TranscriptModel {
    /// One utterance.
    public struct Item: Sendable, Equatable, Identifiable {
        /// Tells it from others.
        public struct ID: Sendable, Hashable {
            /// The node that tells it.
            public var node: String
            /// Its number there.
            public var number: Int
        }

        /// What tells it from others.
        public let id: ID
        /// All that was understood of it so far.
        public internal(set) var text: String
        /// Whether the text is the last.
        public internal(set) var isFinal: Bool
        /// Who is heard, where that is told.
        public internal(set) var speaker: String?
        /// When it begins, in seconds of the graph.
        public internal(set) var start: Double
    }

    /// In the order in which they begin.
    public private(set) var items: [Item] = []
    @ObservationIgnored private var reader: HostReader?

    /// Follows the texts of `node`, by default of all nodes that tell some.
    public init(_ host: Host, node: String? = nil) {
        reader = HostReader(host) { published in
            guard case .event(let event) = published, case .text? = event.type?.role else { return false }
            return event.node != nil && (node == nil || event.node == node)
        } take: { [weak self] published in
            if case .event(let event) = published { self?.take(event) }
            return self != nil
        }
    }

    /// Forgets what was said.
    public func clear() { items = [] }

    private func take(_ event: Event) {
        guard case .text(let stage)? = event.type?.role, let node = event.node else { return }
        let fields = Settings(event.fields)
        let id = Item.ID(node: node, number: fields.integer("item") ?? 0)
        let place = items.firstIndex { $0.id == id }
        let text = event.text("text") ?? ""
        // A blank text takes back what was told of it.
        guard stage != .withdrawn, text.contains(where: { !$0.isWhitespace }) else {
            if let place { items.remove(at: place) }
            return
        }
        var item = place.map { items[$0] } ?? Item(id: id, text: "", isFinal: false, start: event.time)
        item.text = text
        item.isFinal = stage == .whole
        item.speaker = event.text("speaker") ?? item.speaker
        item.start = fields.number("start") ?? item.start
        if let place { items.remove(at: place) }
        items.insert(item, at: items.firstIndex { $0.start > item.start } ?? items.endIndex)
    }
}
