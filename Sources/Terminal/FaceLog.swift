// SPDX-License-Identifier: Apache-2.0

/// What has happened, and how far somebody has gone back in it.
struct FaceLog: Sendable {
    /// How much an entry matters.
    enum Level: Sendable { case plain, warning, error }

    struct Entry: Sendable {
        var text: String
        var level: Level
        /// The graph's time, in seconds.
        var time: Double
    }

    /// The newest ones, the oldest first.
    private(set) var entries: [Entry] = []
    /// How many were let go.
    private var gone = 0
    /// What the last entry is of, if that goes on.
    private var growing: String?
    /// The number, from the first of all, of the entry that is read at the bottom; nil: the newest, whatever comes.
    private var bottom: Int?

    /// How many are kept.
    static let limit = 1000

    /// Adds an entry; in place of the last one if that was of the same thing, which goes on: `key`.
    mutating func note(_ text: String, _ level: Level = .plain, key: String? = nil, at time: Double = 0) {
        if key != nil, key == growing, !entries.isEmpty { entries.removeLast() }
        growing = key
        entries.append(Entry(text: text, level: level, time: time))
        if entries.count > Self.limit {
            gone += entries.count - Self.limit
            entries.removeFirst(entries.count - Self.limit)
        }
    }

    /// Those that are read: up to the newest, or to where somebody has gone back to.
    var read: ArraySlice<Entry> { entries[..<place] }

    /// How many came after them.
    var newer: Int { entries.count - place }

    private var place: Int { min(max((bottom ?? .max - gone) - gone, 0), entries.count - 1) + 1 }

    /// Goes on by so many entries, or back if there are fewer than none, at most until `first` entries are read: as many as
    /// there is room for.
    mutating func scroll(_ entries: Int, first: Int) {
        let last = gone + self.entries.count - 1
        let next = max((bottom ?? last) + entries, min(gone + first - 1, last))
        bottom = next >= last ? nil : next
    }

    /// Goes to the newest, whatever comes.
    mutating func follow() { bottom = nil }
}
