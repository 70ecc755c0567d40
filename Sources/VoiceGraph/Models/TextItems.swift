// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

/// One text that is said in a graph, typed, or answered.
public struct TextItem: Sendable, Equatable, Identifiable {
    /// Tells it from others.
    public struct ID: Sendable, Hashable {
        /// The node that tells it; empty: none has told it yet.
        public var node: String
        /// Its number there.
        public var number: Int
    }

    /// What tells it from others.
    public internal(set) var id: ID
    /// All of it, as far as it is known.
    public internal(set) var text: String
    /// Whether the text is the last.
    public internal(set) var isFinal: Bool
    /// Who is heard, where that is told.
    public internal(set) var speaker: String?
    /// When it begins, in seconds of the graph.
    public internal(set) var start: Double
    /// Whether it answers what the others say.
    public internal(set) var isReply = false
}

/// Texts in the order in which they begin, by the events that tell of them: of one item each replaces the one before, and one
/// that is blank or withdrawn takes it back.
struct TextItems {
    private(set) var items: [TextItem] = []

    /// Takes an event that has the role of a text.
    mutating func take(_ event: Event, isReply: Bool = false) {
        guard case .text(let stage)? = event.type?.role, let node = event.node else { return }
        let fields = Settings(event.fields)
        let id = TextItem.ID(node: node, number: fields.integer("item") ?? 0)
        let place = items.firstIndex { $0.id == id }
        let text = event.text("text") ?? ""
        guard stage != .withdrawn, !trimmed(text).isEmpty else {
            if let place { items.remove(at: place) }
            return
        }
        var item = place.map { items.remove(at: $0) } ?? TextItem(id: id, text: "", isFinal: false, start: event.time)
        item.text = text
        item.isFinal = stage == .whole
        item.speaker = event.text("speaker") ?? item.speaker
        item.start = fields.number("start") ?? item.start
        item.isReply = isReply
        put(item)
    }

    /// Adds an item where it belongs.
    mutating func put(_ item: TextItem) {
        items.insert(item, at: items.firstIndex { $0.start > item.start } ?? items.endIndex)
    }

    mutating func removeFirst(where isIt: (TextItem) -> Bool) {
        if let place = items.firstIndex(where: isIt) { items.remove(at: place) }
    }
}
