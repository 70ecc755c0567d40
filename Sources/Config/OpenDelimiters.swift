// SPDX-License-Identifier: Apache-2.0

/// What is open at a place of a TOML text: the strings, lists and tables in braces that have begun before it. The
/// parser says where it gave up; this says what was left open, which is where the mistake is.
struct OpenDelimiters {
    /// Where the string begins that the place is in.
    private(set) var string: Int?
    /// Where the lists and tables begin that the place is in, outermost first.
    private(set) var brackets: [Int] = []

    init(_ text: [UInt8], at place: Int) {
        var index = 0
        // A table's header is the only bracket that stands first in a line outside of any other.
        var isLineStart = true
        let place = min(place, text.count)
        while index < place {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let end = Self.endOfString(text, index)
                if end > place || end < 0 {
                    string = index
                    return
                }
                index = end - 1
            case UInt8(ascii: "#"):
                while index + 1 < place, text[index + 1] != 10 { index += 1 }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if isLineStart, brackets.isEmpty {
                    while index + 1 < place, text[index + 1] != 10 { index += 1 }
                } else {
                    brackets.append(index)
                }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if !brackets.isEmpty { brackets.removeLast() }
            default: break
            }
            isLineStart = byte == 10 || isLineStart && byte.isBlank
            index += 1
        }
    }

    /// One past the closing quote; the line's end for a string that is not closed there; -1 without an end.
    private static func endOfString(_ text: [UInt8], _ start: Int) -> Int {
        let quote = text[start]
        func isTriple(_ index: Int) -> Bool {
            index + 2 < text.count && text[index] == quote && text[index + 1] == quote && text[index + 2] == quote
        }
        let triple = isTriple(start)
        var index = start + (triple ? 3 : 1)
        while index < text.count {
            if text[index] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                index += 2
            } else if triple ? isTriple(index) : text[index] == quote {
                index += triple ? 3 : 1
                // Up to two more quotes may belong to a string of several lines.
                while triple, index < text.count, text[index] == quote { index += 1 }
                return index
            } else if !triple, text[index] == 10 {
                return index + 1
            } else {
                index += 1
            }
        }
        return -1
    }
}
