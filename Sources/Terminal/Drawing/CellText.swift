// SPDX-License-Identifier: Apache-2.0

/// One character cell's content. Plain data, so that comparing grids is cheap.
struct Glyph: Sendable, Hashable {
    /// The visible scalar.
    var base: UInt32
    /// One combining mark on it, or 0.
    var mark: UInt32 = 0
    /// Columns: 1 or 2; 0 for the right half of a wide one.
    var width: UInt8 = 1

    static let space = Glyph(base: 32)
    static let rightHalf = Glyph(base: 0, width: 0)
}

/// Text from anywhere as glyphs that are safe to print: no control characters, so no escape sequences; what terminals
/// measure differently (joined emoji, flags, variation selectors) is reduced to what all of them measure alike.
func glyphs(_ text: String, unicode: Bool = true) -> [Glyph] {
    var result: [Glyph] = []
    result.reserveCapacity(text.utf8.count)
    var joined = false
    for scalar in text.unicodeScalars {
        let value = scalar.value
        if value >= 32 && value < 127 {
            result.append(Glyph(base: value))
            joined = false
        } else if value == 9 || value == 10 || value == 13 || value == 0x2028 || value == 0x2029 {
            result.append(.space)
        } else if value < 0xA0 {
            continue
        } else if value == 0x200D {
            joined = true
        } else if joined {
            joined = false
        } else if let glyph = glyph(scalar, unicode: unicode) {
            result.append(glyph)
        } else if unicode, isMark(scalar), let last = result.indices.last, result[last].mark == 0 {
            if !(0xFE00...0xFE0F).contains(value) && !(0xE0100...0xE01EF).contains(value) { result[last].mark = value }
        }
    }
    return result
}

/// Columns that a text takes on a terminal.
public func columns(_ text: String, unicode: Bool = true) -> Int {
    glyphs(text, unicode: unicode).reduce(0) { $0 + Int($1.width) }
}

/// A text without anything that a terminal could take for a command; for plain lines.
public func printable(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        let value = scalar.value
        if value == 9 || value == 10 || value == 13 || value == 0x2028 || value == 0x2029 {
            result.append(" ")
        } else if value >= 32 && value < 127 || value >= 0xA0 && !isBidirectionalControl(value) {
            result.append(scalar)
        }
    }
    return String(result)
}

/// The same of a text of several lines, which stay lines.
public func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }.joined(separator: "\n")
}

/// A scalar that takes columns of its own; nil for all others.
private func glyph(_ scalar: Unicode.Scalar, unicode: Bool) -> Glyph? {
    let value = scalar.value
    if isMark(scalar) { return nil }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return nil
    default: break
    }
    // Skin tones change the emoji before them and stand alone only by mistake.
    if (0x1F3FB...0x1F3FF).contains(value) { return nil }
    // Flags are pairs of these; as letters everyone agrees on their width.
    if (0x1F1E6...0x1F1FF).contains(value) { return Glyph(base: value - 0x1F1E6 + 65) }
    guard unicode else { return Glyph(base: asciiLookAlike(value)) }
    return Glyph(base: value, width: isWide(scalar) ? 2 : 1)
}

private func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    // Vowels and finals of decomposed Hangul stand in the cell of their initial.
    default: (0x1160...0x11FF).contains(scalar.value)
    }
}

private func isBidirectionalControl(_ value: UInt32) -> Bool {
    (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F
}

/// East Asian wide and fullwidth blocks (Unicode annex 11), and what is an emoji without being asked.
private func isWide(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    guard value >= 0x1100 else { return false }
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18D08,
        0x1B000...0x1B2FF, 0x20000...0x3FFFD:
        return true
    default: return scalar.properties.isEmojiPresentation
    }
}

private func asciiLookAlike(_ value: UInt32) -> UInt32 {
    switch value {
    case 0xA0, 0x2000...0x200A, 0x3000: 32
    case 0xB7, 0x2022, 0x2010...0x2015, 0x2212: 45
    case 0x2018, 0x2019: 39
    case 0x201C, 0x201D, 0xAB, 0xBB: 34
    case 0x2026: 46
    default: 63
    }
}
