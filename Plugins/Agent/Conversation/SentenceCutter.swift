// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Cuts a text that comes in pieces of any size into sentences, each given as soon as it is known to be whole.
struct SentenceCutter {
    private var rest: [Character] = []
    /// Characters that were looked at already.
    private var seen = 0

    private static let marks: Set<Character> = [".", "!", "?", "\u{2026}"]
    /// Marks of scripts that write no space behind them.
    private static let wideMarks: Set<Character> = ["\u{3002}", "\u{FF01}", "\u{FF1F}"]
    private static let closing: Set<Character> = ["\"", "'", ")", "]", "\u{201D}", "\u{2019}", "\u{BB}", "\u{300D}"]
    private static let short: Set<String> = [
        "mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "no", "fig", "approx", "e.g", "i.e", "z.b", "bzw", "ca",
    ]
    /// What is longer is spoken in parts.
    private static let longest = 400

    /// Takes what follows; the sentences that are whole now.
    mutating func take(_ text: some StringProtocol) -> [String] {
        rest += text
        var result: [String] = []
        while let end = nextEnd() {
            let sentence = trimmed(String(rest[..<end]))
            if !sentence.isEmpty { result.append(sentence) }
            rest.removeFirst(end)
            seen = 0
        }
        return result
    }

    /// Nothing more comes: what is left, if that is anything.
    mutating func finish() -> String? {
        let sentence = trimmed(String(rest))
        rest = []
        seen = 0
        return sentence.isEmpty ? nil : sentence
    }

    /// The place after the first sentence; nil: it may go on.
    private mutating func nextEnd() -> Int? {
        while seen < rest.count {
            let character = rest[seen]
            if character.isNewline { return seen + 1 }
            if Self.wideMarks.contains(character) { return seen + 1 }
            if Self.marks.contains(character) {
                var end = seen + 1
                while end < rest.count, Self.marks.contains(rest[end]) || Self.closing.contains(rest[end]) { end += 1 }
                // What stands behind it decides, and has not come yet.
                if end == rest.count { break }
                if rest[end].isWhitespace, isEnd(seen) { return end }
                seen = end
            } else {
                seen += 1
            }
        }
        guard rest.count > Self.longest else { return nil }
        let part = rest[..<Self.longest]
        let pause = part.lastIndex { ",;:".contains($0) } ?? part.lastIndex { $0.isWhitespace }
        return (pause ?? Self.longest - 1) + 1
    }

    /// Whether the mark ends a sentence: not that of a short form, of an initial, or of a number in front of a list.
    private func isEnd(_ mark: Int) -> Bool {
        if rest[mark] != "." { return true }
        var first = mark
        while first > 0, !rest[first - 1].isWhitespace { first -= 1 }
        let word = String(rest[first..<mark]).lowercased().drop { Self.closing.contains($0) || $0 == "(" }
        if Self.short.contains(String(word)) { return false }
        if word.count == 1, word.first!.isLetter, word != "i" { return false }
        let isAlone = rest[..<first].allSatisfy(\.isWhitespace)
        return !(isAlone && word.allSatisfy(\.isNumber))
    }
}
