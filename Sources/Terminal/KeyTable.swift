// SPDX-License-Identifier: Apache-2.0

/// Keys of a view, and what they do, for people.
public struct KeyHelp: Sendable {
    /// "up, down"
    public let keys: String
    /// "choose a node"
    public let does: String

    /// What stands above them in --help.
    public static let title = "Keys on a terminal:"

    /// The keys as a part of what a command says with --help.
    public static func text(_ keys: [KeyHelp]) -> String {
        let width = keys.map(\.keys.count).max() ?? 0
        return
            ([title]
            + keys.map { "  \($0.keys)" + String(repeating: " ", count: width + 2 - $0.keys.count) + $0.does })
            .joined(separator: "\n")
    }
}

/// All keys of one view. The view asks it what a key does; its list of keys, --help and the manual are made of it.
struct KeyTable<Act: Sendable>: Sendable {
    /// Keys that belong together.
    struct Entry: Sendable {
        let help: KeyHelp
        let keys: [(key: KeyPress, act: Act)]

        /// `keys` are listed, `others` are not. `named` says what else does it than keys.
        init(
            _ does: String, _ keys: [(KeyPress, Act)], others: [(KeyPress, Act)] = [], named: String? = nil
        ) {
            help = KeyHelp(keys: named ?? keys.map(\.0.name).joined(separator: ", "), does: does)
            self.keys = keys + others
        }
    }

    let entries: [Entry]

    /// For people.
    var help: [KeyHelp] { entries.map(\.help) }

    /// What a key does; nil: nothing.
    func act(_ key: KeyPress) -> Act? {
        for entry in entries {
            if let found = entry.keys.first(where: { $0.key == key }) { return found.act }
        }
        return nil
    }
}

extension KeyPress {
    /// As it is written for people.
    var name: String {
        switch self {
        case .text(" "): "space"
        case .text(let letter): String(letter)
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .home: "Home"
        case .end: "End"
        case .enter: "Enter"
        case .erase: "Backspace"
        case .escape: "Esc"
        case .control(let letter): "Ctrl-\(letter.uppercased())"
        case .click, .wheel: "mouse"
        case .up, .down, .left, .right: "\(self)"
        }
    }
}
