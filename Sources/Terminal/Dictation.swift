// SPDX-License-Identifier: Apache-2.0
import Host

/// What one node has heard since its text was kept last.
struct Dictation: Sendable {
    private(set) var state = "idle"
    /// The newest items, in their order.
    private var items: [(number: Int, text: String)] = []

    /// How many are kept.
    private static let limit = 1000

    /// Whether it listens, or still makes a text of what it heard.
    var isOn: Bool { state != "idle" && state != "failed" }

    /// All of it.
    var text: String { items.map(\.text).joined(separator: " ") }

    /// The node tells how it stands.
    mutating func take(state: String?) { self.state = state ?? self.state }

    /// Takes an event of the node that tells a text.
    mutating func take(_ event: Event) {
        guard let number = event.integer("item"), event.textStage != nil else { return }
        let text = event.text("text") ?? ""
        let place = items.lastIndex { $0.number == number }
        if text.allSatisfy(\.isWhitespace) {
            if let place { items.remove(at: place) }
        } else if let place {
            items[place].text = text
        } else {
            items.append((number, text))
            if items.count > Self.limit { items.removeFirst() }
        }
    }

    /// It is kept: what comes is of another text.
    mutating func clear() { items.removeAll() }
}
