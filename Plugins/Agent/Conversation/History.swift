// SPDX-License-Identifier: Apache-2.0

/// What was said, as far back as is kept.
struct History {
    enum Speaker: Sendable {
        case user
        case agent
    }

    /// One thing that was said.
    struct Entry: Sendable {
        var speaker: Speaker
        /// Who said it, by its item.
        var key: ItemKey
        var text: String
    }

    private(set) var entries: [Entry] = []
    /// Turns of the user, and characters in all.
    private let turns: Int
    private let characters: Int

    init(turns: Int, characters: Int) {
        self.turns = turns
        self.characters = characters
    }

    /// Adds what was said; a blank text is nothing.
    mutating func add(_ speaker: Speaker, _ key: ItemKey, _ text: String) {
        if text.isEmpty { return }
        entries.append(Entry(speaker: speaker, key: key, text: text))
        // The newest stays, however long it is.
        while entries.count > 1, isTooLong { entries.removeFirst() }
        // What is left begins with the user.
        while entries.count > 1, entries[0].speaker == .agent { entries.removeFirst() }
    }

    private var isTooLong: Bool {
        entries.count(where: { $0.speaker == .user }) > turns
            || entries.reduce(0) { $0 + $1.text.utf8.count } > characters
    }

    /// Replaces what was said under a key, or removes it if nothing was.
    mutating func replace(_ speaker: Speaker, _ key: ItemKey, _ text: String) {
        guard let index = entries.lastIndex(where: { $0.speaker == speaker && $0.key == key }) else { return }
        if text.isEmpty { entries.remove(at: index) } else { entries[index].text = text }
    }

    mutating func clear() { entries = [] }
}

/// What belongs together: the number of an item, and who counts.
struct ItemKey: Hashable, Sendable {
    /// Whether the agent itself has given the number: to its replies, and to what was typed.
    var isOwn: Bool
    var item: UInt64
}
