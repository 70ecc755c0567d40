// SPDX-License-Identifier: Apache-2.0
import JSON

/// A token, by its place in the text.
struct Token {
    var range: Range<Int>
    var text: String
    /// Whether white space follows.
    var isBeforeSpace = false
}

/// Cuts a text into words and marks as the corpora do by which parts of speech are learnt (spaCy's rules for English): what
/// stands between white space loses marks at its front and its end, then is cut at hyphens, strokes and colons within.
/// Contractions and abbreviations are listed.
struct Tokenizer: Sendable {
    /// How long the parts are of what is cut in its own way.
    private let special: [String: [Int]]

    private static let quotes = Set("'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉".unicodeScalars)
    private static let marks = Set("…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·".unicodeScalars)
    private static let icons = Set("™®©°§¶†‡•".unicodeScalars)
    private static let currencies = Set("$£€¥฿₽₹₩₪₺₴₦₫₱₲₵₸₼₾₿".unicodeScalars)
    private static let units: Set = [
        "km", "km²", "km³", "m", "m²", "m³", "dm", "dm²", "dm³", "cm", "cm²", "cm³", "mm", "mm²", "mm³", "ha", "µm",
        "nm",
        "yd", "in", "ft", "kg", "g", "mg", "µg", "t", "lb", "oz", "m/s", "km/h", "kmh", "mph", "hPa", "Pa", "mbar",
        "mb",
        "MB", "kb", "KB", "gb", "GB", "tb", "TB", "T", "G", "M", "K", "%",
    ]
    /// Takes the list of what is cut in its own way, with its parts.
    init(_ json: JSON) {
        special = json.fields.mapValues { $0.items.map { $0.string?.unicodeScalars.count ?? 0 } }
    }

    /// The tokens of a text, in their order. [any]
    func tokens(_ text: Scalars) -> [Token] {
        var tokens: [Token] = []
        var place = 0
        while place < text.count {
            if text[place].isSpace {
                place += 1
                continue
            }
            var end = place
            while end < text.count, !text[end].isSpace { end += 1 }
            tokens += cut(text, place..<end).map { Token(range: $0, text: String(text[$0])) }
            if end < text.count, !tokens.isEmpty { tokens[tokens.count - 1].isBeforeSpace = true }
            place = end
        }
        return tokens
    }

    private func parts(_ text: Scalars, _ range: Range<Int>) -> [Range<Int>]? {
        guard let lengths = special[String(text[range])] else { return nil }
        var start = range.lowerBound
        return lengths.map { length in
            defer { start += length }
            return start..<(start + length)
        }
    }

    private func cut(_ text: Scalars, _ whole: Range<Int>) -> [Range<Int>] {
        if let parts = parts(text, whole) { return parts }
        var rest = whole
        var front: [Range<Int>] = []
        var back: [Range<Int>] = []
        while !rest.isEmpty, special[String(text[rest])] == nil {
            let prefix = prefix(text[rest])
            let afterPrefix = (rest.lowerBound + prefix)..<rest.upperBound
            if prefix > 0, !afterPrefix.isEmpty, special[String(text[afterPrefix])] != nil {
                front.append(rest.lowerBound..<afterPrefix.lowerBound)
                rest = afterPrefix
                break
            }
            let suffix = suffix(text[afterPrefix])
            let beforeSuffix = rest.lowerBound..<(rest.upperBound - suffix)
            if suffix > 0, !beforeSuffix.isEmpty, special[String(text[beforeSuffix])] != nil {
                back.append(beforeSuffix.upperBound..<rest.upperBound)
                rest = beforeSuffix
                break
            }
            if prefix == 0, suffix == 0 { break }
            if prefix > 0 { front.append(rest.lowerBound..<afterPrefix.lowerBound) }
            if suffix > 0 { back.append(beforeSuffix.upperBound..<rest.upperBound) }
            rest = afterPrefix.lowerBound..<beforeSuffix.upperBound
        }
        var tokens = front
        if !rest.isEmpty {
            if let parts = parts(text, rest) {
                tokens += parts
            } else {
                tokens += within(text, rest)
            }
        }
        tokens += back.reversed()
        return tokens.count > 1 ? joined(text, tokens) : tokens
    }

    /// Pieces that together are something that is listed become that: "Sept" and "." are "Sept.".
    private func joined(_ text: Scalars, _ tokens: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var index = 0
        search: while index < tokens.count {
            for count in [3, 2] where index + count <= tokens.count {
                if let parts = parts(text, tokens[index].lowerBound..<tokens[index + count - 1].upperBound) {
                    result += parts
                    index += count
                    continue search
                }
            }
            result.append(tokens[index])
            index += 1
        }
        return result
    }

    // MARK: ends

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        marks.contains(scalar) || quotes.contains(scalar) || icons.contains(scalar)
    }

    /// How many scalars at the front are a mark.
    private func prefix(_ text: ArraySlice<Unicode.Scalar>) -> Int {
        guard let first = text.first else { return 0 }
        let second = text.dropFirst().first
        if "§%=—–".unicodeScalars.contains(first) || Self.isMark(first) || Self.currencies.contains(first) { return 1 }
        if first == "+" { return second?.isDigit == true ? 0 : 1 }
        if first == "." { return second == "." ? text.prefix { $0 == "." }.count : 0 }
        if second == "$", first == "C" || first == "A" { return 2 }
        return text.starts(with: "US$".unicodeScalars) ? 3 : 0
    }

    /// How many scalars at the end are a mark, an ending or a unit.
    private func suffix(_ text: ArraySlice<Unicode.Scalar>) -> Int {
        guard let last = text.last else { return 0 }
        let front = text.dropLast()
        func isAfterDigit(_ length: Int) -> Bool { text.dropLast(length).last?.isDigit == true }
        // The longest one that is preceded by a number.
        for length in [4, 3, 2, 1] where isAfterDigit(length) && Self.units.contains(String(text.suffix(length))) {
            return length
        }
        if last == "$", isAfterDigit(3), front.suffix(2).elementsEqual("US".unicodeScalars) { return 3 }
        if last == "$", isAfterDigit(2), let before = front.last, before == "C" || before == "A" { return 2 }
        if last == "s" || last == "S", let before = front.last, before == "'" || before == "’" { return 2 }
        if last == "." {
            let dots = text.reversed().prefix { $0 == "." }.count
            return dots > 1 ? dots : endsSentence(front) ? 1 : 0
        }
        if Self.isMark(last) || last == "—" || last == "–" { return 1 }
        return (last == "+" || Self.currencies.contains(last)) && isAfterDigit(1) ? 1 : 0
    }

    /// Whether a point behind this is none of it.
    private func endsSentence(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let last = text.last else { return false }
        let before = text.dropLast()
        if last.isDigit || last.isSmall || "%²-+".unicodeScalars.contains(last) || Self.marks.contains(last)
            || Self.quotes.contains(last)
        {
            return true
        }
        if last.isCapital, before.last?.isCapital == true { return true }
        return "FfCcKk".unicodeScalars.contains(last) && before.last == "°"
    }

    // MARK: within

    /// Cuts at what stands between two parts of a word.
    private func within(_ text: Scalars, _ range: Range<Int>) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var start = range.lowerBound
        var place = range.lowerBound
        while place < range.upperBound {
            let length = infix(text, range, place)
            if length == 0 || place == range.lowerBound {
                place += max(length, 1)
                continue
            }
            if place > start { result.append(start..<place) }
            result.append(place..<(place + length))
            place += length
            start = place
        }
        if start < range.upperBound { result.append(start..<range.upperBound) }
        return result
    }

    private func infix(_ text: Scalars, _ range: Range<Int>, _ place: Int) -> Int {
        func at(_ place: Int) -> Unicode.Scalar? { range.contains(place) ? text[place] : nil }
        let scalar = text[place]
        let (before, after) = (at(place - 1), at(place + 1))
        if scalar == ".", after == "." { return text[place..<range.upperBound].prefix { $0 == "." }.count }
        if scalar == "…" || Self.icons.contains(scalar) { return 1 }
        guard let before else { return 0 }
        if before.isDigit, "+-*^".unicodeScalars.contains(scalar), let after, after.isDigit || after == "-" { return 1 }
        func isQuote(_ scalar: Unicode.Scalar) -> Bool { Self.quotes.contains(scalar) }
        if scalar == ".", before.isSmall || isQuote(before), let after, after.isCapital || isQuote(after) { return 1 }
        if scalar == ",", before.isWordLetter, after?.isWordLetter == true { return 1 }
        guard before.isWordLetter || before.isDigit else { return 0 }
        if "-–—~:<>=/".unicodeScalars.contains(scalar), after?.isWordLetter == true { return 1 }
        // Several hyphens.
        for length in [2, 3] where scalar == "-" || scalar == "—" && length == 2 {
            let run = text[place..<min(place + length, range.upperBound)]
            if run.count == length, run.allSatisfy({ $0 == scalar }), at(place + length)?.isWordLetter == true {
                return length
            }
        }
        return 0
    }
}
