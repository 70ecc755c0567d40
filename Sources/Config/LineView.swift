// SPDX-License-Identifier: Apache-2.0

/// One line of a file as a terminal shows it, with a caret under part of it. Tabs become spaces, what could move the
/// cursor or reverse the text is replaced, and of a long line only the part around the caret is kept.
struct LineView {
    /// The line; no tabs, no control characters.
    private(set) var line = ""
    /// How many cells stand before the caret.
    private(set) var column = 0
    /// "^~~~".
    private(set) var caret = "^"

    private static let width = 110

    /// `column` counts bytes from 1, `length` is in bytes.
    init(_ whole: ArraySlice<UInt8>, column place: Int, length: Int) {
        let (bytes, cut) = Self.near(whole, place)
        let wanted = place - cut
        var cells: [(text: String, width: Int)] = []
        var before = 0
        var marked = 0
        var position = 0
        var offset = 0
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let width = scalar == "\t" ? 4 - position % 4 : cellWidth(scalar)
            cells.append((scalar == "\t" ? String(repeating: " ", count: width) : harmless(scalar), width))
            if offset < wanted - 1 { before += width } else if offset < wanted - 1 + length { marked += width }
            position += width
            // Bytes that are no UTF-8 each become one replacement character, which is longer than they are.
            offset += scalar == "\u{FFFD}" ? replacedLength(bytes, offset) : UTF8.width(scalar)
        }
        var skipped = 0
        var start = 0
        if position > Self.width, before > Self.width * 2 / 3 {
            while start < cells.count, skipped < before - Self.width / 3 {
                skipped += cells[start].width
                start += 1
            }
        }
        var shown = 0
        let isCut = start > 0 || cut > 0
        line = isCut ? "..." : ""
        for cell in cells[start...] {
            guard shown + cell.width <= Self.width else {
                line += "..."
                break
            }
            line += cell.text
            shown += cell.width
        }
        column = before - skipped + (isCut ? 3 : 0)
        let room = max(1, Self.width - (before - skipped))
        caret = "^" + String(repeating: "~", count: max(0, min(marked, room) - 1))
    }
}

extension LineView {
    /// The part of a line that can come to be shown, and how many bytes stand before it: a line may hold megabytes, and
    /// a thousand mistakes.
    fileprivate static func near(_ line: ArraySlice<UInt8>, _ column: Int) -> (ArraySlice<UInt8>, Int) {
        var start = line.startIndex
        if column > 1000 {
            start = min(line.startIndex + column - 500, line.endIndex)
            while start < line.endIndex, line[start] & 0xC0 == 0x80 { start += 1 }
        }
        // What is cut off in the middle of a character at the end is beyond the width shown.
        let end = min(line.endIndex, line.startIndex + column + 600)
        return (line[start..<max(start, end)], start - line.startIndex)
    }
}

/// How many bytes at an offset became a replacement character: 3 if it stood there itself.
private func replacedLength(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> Int {
    let start = min(bytes.startIndex + offset, bytes.endIndex)
    return bytes[start...].starts(with: [0xEF, 0xBF, 0xBD]) ? 3 : 1
}

/// Text without what could move the cursor or reverse what follows.
func harmless(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars { result += harmless(scalar) }
    return result
}

private func harmless(_ scalar: Unicode.Scalar) -> String {
    switch scalar.value {
    case 0..<32: String(Unicode.Scalar(0x2400 + scalar.value)!)  // its picture: U+2400 to U+241F exist
    case 127: "\u{2421}"
    case 0x80..<0xA0, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: "\u{FFFD}"
    default: String(scalar)
    }
}

/// Cells that a terminal gives a character: 0 for combining marks, 2 for East Asian wide ones and emoji.
func cellWidth(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    switch scalar.value {
    case 0x200B...0x200D, 0x2060, 0xFE00...0xFE0F: return 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        return 2
    default: return 1
    }
}
