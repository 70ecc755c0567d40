// SPDX-License-Identifier: Apache-2.0

/// A token, or a part of one, on its way to sounds.
struct SpokenToken {
    var range: Range<Int>
    var text: String
    let tag: String
    var isBeforeSpace: Bool
    /// nil: not known yet.
    var phonemes: Phonemes?
    /// What is read in its place.
    var alias: String?
    var currency: String?
    /// Whether it stands by itself, or first in a word.
    var isHead = true
    /// Whether a space is said before it.
    var isApart = false

    init(_ token: Token, tag: String) {
        range = token.range
        text = token.text
        isBeforeSpace = token.isBeforeSpace
        self.tag = tag
    }

    /// Whether it is said already, or read as something else.
    var isSettled: Bool { phonemes != nil || alias != nil }

    /// Marks that are part of words and are not said.
    static let junk = Set("',-._‘’/".unicodeScalars)
    /// Marks that voices know.
    static let marks = Set(";:,.!?—…\"“”".unicodeScalars)
    /// The same without quotation marks.
    static let pauses = Set(";:,.!?—…".unicodeScalars)

    var isJunk: Bool { text.unicodeScalars.allSatisfy(Self.junk.contains) }

    /// Of several that are one word.
    static func reading(_ tokens: ArraySlice<SpokenToken>) -> Reading {
        var text = ""
        for (index, token) in zip(tokens.indices, tokens) {
            text += token.text
            if index + 1 < tokens.endIndex, token.isBeforeSpace { text += " " }
        }
        // Of the longest, where capitals count twice.
        func weight(_ token: SpokenToken) -> Int {
            token.text.unicodeScalars.reduce(0) { $0 + ($1.properties.lowercaseMapping == String($1) ? 1 : 2) }
        }
        var heaviest = tokens[tokens.startIndex]
        for token in tokens where weight(token) > weight(heaviest) { heaviest = token }
        return Reading(
            text: text, tag: heaviest.tag, currency: tokens.compactMap(\.currency).max(),
            isHead: tokens[tokens.startIndex].isHead)
    }

    // MARK: parts

    /// Cuts it where letters, digits and marks meet, and where a capital begins another word in it.
    var parts: [SpokenToken] {
        let scalars = text.scalars
        var parts: [SpokenToken] = []
        var place = 0
        while place < scalars.count {
            let length = Self.part(scalars, place)
            if length == 0 {
                place += 1
                continue
            }
            var part = self
            part.text = String(scalars[place..<(place + length)])
            part.range = (range.lowerBound + place)..<(range.lowerBound + place + length)
            part.isBeforeSpace = false
            parts.append(part)
            place += length
        }
        if !parts.isEmpty { parts[parts.count - 1].isBeforeSpace = isBeforeSpace }
        return parts
    }

    /// How long the part is that begins at a place; 0: it is left out.
    private static func part(_ text: Scalars, _ place: Int) -> Int {
        func at(_ place: Int) -> Unicode.Scalar? { place < text.count ? text[place] : nil }
        func run(from place: Int, _ isPart: (Unicode.Scalar) -> Bool) -> Int {
            text[place...].prefix(while: isPart).count
        }
        let first = text[place]
        let apostrophes = run(from: place, \.isApostrophe)
        if apostrophes > 0, place == 0 { return apostrophes }
        // The last capital of several before a small letter.
        if first.isCapital, at(place + 1)?.isCapital == true, at(place + 2)?.isSmall == true { return 1 }
        if let length = number(text, place) { return length }
        let hyphens = run(from: place) { $0 == "-" || $0 == "_" }
        if hyphens > 0 { return hyphens }
        if apostrophes > 1 { return apostrophes }
        if first.isWordLetter {
            // Up to a small letter before a capital.
            for end in place..<text.count where text[end].isWordLetter {
                if text[place..<end].contains(where: { !$0.isWordLetter }) { break }
                if text[end].isSmall, at(end + 1)?.isCapital == true { return end + 1 - place }
            }
            var end = place + run(from: place, \.isWordLetter)
            while let mark = at(end), mark.isApostrophe, at(end + 1)?.isWordLetter == true { end += 2 }
            return end - place
        }
        if apostrophes > 0 { return place + apostrophes == text.count ? apostrophes : 0 }
        return 1
    }

    private static func number(_ text: Scalars, _ place: Int) -> Int? {
        var end = place
        if place == 0, text[0] == "-" { end += 1 }
        let begin = end
        while end < text.count {
            if text[end].isDigit {
                end += 1
            } else if text[end] == "," || text[end] == ".", end + 1 < text.count, text[end + 1].isDigit {
                end += 2
            } else {
                break
            }
        }
        return end > begin ? end - place : nil
    }
}
