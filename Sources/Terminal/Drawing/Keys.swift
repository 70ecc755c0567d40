// SPDX-License-Identifier: Apache-2.0

/// A key as a terminal tells it.
public enum KeyPress: Sendable, Hashable {
    /// A letter, or anything else that is written.
    case text(Character)
    case up, down, left, right, pageUp, pageDown, home, end, enter, erase, escape
    /// Ctrl with a letter.
    case control(Character)
    /// The left button of a mouse, pressed on a cell, which is counted from 0 at the top left.
    case click(x: Int, y: Int)
    /// The wheel of a mouse, turned by one step over a cell: -1 up, 1 down.
    case wheel(Int, x: Int, y: Int)

    /// Whether it ends a view, where nothing is being written: q, Ctrl-C or Ctrl-D.
    var quits: Bool { [.text("q"), .text("Q"), .control("c"), .control("d")].contains(self) }
}

/// The keys in what a terminal has sent; those that are not known are left out.
package func keys(_ bytes: some Collection<UInt8>) -> [KeyPress] {
    var keys: [KeyPress] = []
    var rest = Array(bytes)[...]
    while let byte = rest.popFirst() {
        switch byte {
        case 0x1B where isString(rest.first):
            // What a terminal tells of itself, up to a bell or escape and backslash: no keys.
            while let part = rest.popFirst(), part != 0x07 {
                if part == 0x1B, rest.first == 0x5C {
                    rest.removeFirst()
                    break
                }
            }
        case 0x1B:
            guard let kind = rest.first, kind == 0x5B || kind == 0x4F else {
                keys.append(.escape)
                continue
            }
            rest.removeFirst()
            var parts: [UInt8] = []
            while let part = rest.popFirst() {
                parts.append(part)
                if (0x40...0x7E).contains(part) { break }
            }
            switch String(decoding: parts, as: UTF8.self) {
            case "A": keys.append(.up)
            case "B": keys.append(.down)
            case "C": keys.append(.right)
            case "D": keys.append(.left)
            case "5~": keys.append(.pageUp)
            case "6~": keys.append(.pageDown)
            case "H", "1~", "7~": keys.append(.home)
            case "F", "4~", "8~": keys.append(.end)
            case "M" where rest.count >= 3:
                // Terminals that know no numbers here: a byte each, from 32 on.
                let told = rest.prefix(3).map { Int($0) - 32 }
                rest = rest.dropFirst(3)
                if let key = mouse(told) { keys.append(key) }
            case let text where text.first == "<" && text.last == "M":
                let told = text.dropFirst().dropLast().split(separator: ";").compactMap { Int($0) }
                if let key = mouse(told) { keys.append(key) }
            default: break
            }
        case 0x0D, 0x0A: keys.append(.enter)
        case 0x08, 0x7F: keys.append(.erase)
        case 1..<0x20: keys.append(.control(Character(UnicodeScalar(byte + 0x60))))
        case 0x20..<0x7F: keys.append(.text(Character(UnicodeScalar(byte))))
        default:
            // The rest of a letter beyond ASCII.
            let count = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0
            guard count > 0, rest.count >= count else { continue }
            let letter = String(decoding: [byte] + rest.prefix(count), as: UTF8.self)
            rest = rest.dropFirst(count)
            if let first = letter.first, first != "\u{FFFD}" { keys.append(.text(first)) }
        }
    }
    return keys
}

/// What a mouse did, from a button with its modifiers, a column and a row, as terminals tell them (xterm's modes 1000 and
/// 1006); nil: it was let go, moved, or is of another button.
private func mouse(_ told: [Int]) -> KeyPress? {
    guard told.count == 3, told[1] > 0, told[2] > 0 else { return nil }
    let (x, y) = (told[1] - 1, told[2] - 1)
    // Without Shift, Alt and Ctrl.
    switch told[0] & ~0b11100 {
    case 0: return .click(x: x, y: y)
    case 64: return .wheel(-1, x: x, y: y)
    case 65: return .wheel(1, x: x, y: y)
    default: return nil
    }
}

/// Whether escape and this begin a string of any length: of the operating system, the device, a program, or private.
private func isString(_ byte: UInt8?) -> Bool { byte == 0x5D || byte == 0x50 || byte == 0x5F || byte == 0x5E }
