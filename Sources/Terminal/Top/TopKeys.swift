// SPDX-License-Identifier: Apache-2.0

/// What keys have changed on the screen of `voicegraph top`.
public struct TopKeys: Sendable {
    var column = TopColumn.share
    var isReversed = false
    /// The row of the table that is shown first.
    var first = 0
    /// Rows that there was room for.
    var page = 10
    var showsHelp = false

    enum Act: Sendable { case quit, help, up, down, pageUp, pageDown, top, bottom, columnBefore, columnAfter, turn }

    static let table = KeyTable<Act>(entries: [
        .init(
            "scroll", [(.up, .up), (.down, .down), (.pageUp, .pageUp), (.pageDown, .pageDown)],
            others: [(.text("k"), .up), (.text("j"), .down)]),
        .init("go to the first node, to the last one", [(.home, .top), (.end, .bottom)]),
        .init(
            "sort by the column before, by the one after", [(.left, .columnBefore), (.right, .columnAfter)],
            others: [(.text("<"), .columnBefore), (.text(">"), .columnAfter)]),
        .init("turn the order round", [(.text("r"), .turn)]),
        .init("this list", [(.text("?"), .help)], others: [(.text("h"), .help)]),
        .init(
            "quit", [(.text("q"), .quit), (.control("c"), .quit)],
            others: [(.text("Q"), .quit), (.control("d"), .quit)]),
    ])

    /// All keys, for who asks.
    public static var help: [KeyHelp] { table.help }

    /// Does what a key says; true: it asks to quit.
    mutating func press(_ key: KeyPress) -> Bool {
        if case .wheel(let step, _, _) = key {
            first += 3 * step
            return false
        }
        let act = Self.table.act(key)
        if showsHelp, act != .quit {
            showsHelp = false
            return false
        }
        switch act {
        case .quit: return true
        case .help: showsHelp = true
        case .up: first -= 1
        case .down: first += 1
        case .pageUp: first -= page
        case .pageDown: first += page
        case .top: first = 0
        case .bottom: first = .max / 2
        case .columnBefore: sort(-1)
        case .columnAfter: sort(1)
        case .turn: isReversed.toggle()
        case nil: break
        }
        return false
    }

    private mutating func sort(_ step: Int) {
        let all = TopColumn.allCases
        column = all[(column.rawValue + step + all.count) % all.count]
        (isReversed, first) = (false, 0)
    }
}
