// SPDX-License-Identifier: Apache-2.0

/// The keys of `voicegraph record`.
public enum RecordKeys {
    /// What a key asks.
    public enum Act: Sendable {
        /// To pause, or to go on.
        case pause
        /// To complete the file.
        case finish
    }

    static let table = KeyTable<Act>(entries: [
        .init("pause, and go on", [(.text(" "), .pause), (.text("p"), .pause)]),
        .init(
            "complete the file", [(.text("q"), .finish), (.control("c"), .finish)],
            others: [(.text("Q"), .finish), (.control("d"), .finish)]),
    ])

    /// All keys, for who asks.
    public static var help: [KeyHelp] { table.help }

    /// What a key asks; nil: nothing.
    public static func act(_ key: KeyPress) -> Act? { table.act(key) }

    /// The first ones in a few words, while it records or is paused; the longest first.
    static func words(isPaused: Bool) -> [String] {
        ["space: \(isPaused ? "go on" : "pause")  q: finish", "q: finish"]
    }
}
