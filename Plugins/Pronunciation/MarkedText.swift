// SPDX-License-Identifier: Apache-2.0

/// A text that rules rewrite, which knows of each scalar what it comes from.
struct MarkedText: Sendable {
    private(set) var scalars: Scalars
    /// Of each scalar the part of the first text that it stands for.
    private(set) var origins: [Range<Int>]

    init(_ text: String) {
        scalars = text.scalars
        origins = scalars.indices.map { $0..<($0 + 1) }
    }

    private init() {
        scalars = []
        origins = []
    }

    /// What a range of it stands for in the first text.
    func origin(_ range: Range<Int>) -> Range<Int> {
        let parts = origins[range]
        guard let start = parts.map(\.lowerBound).min(), let end = parts.map(\.upperBound).max() else { return 0..<0 }
        return start..<end
    }

    /// What stands in place of something: text of the rule's, and parts that stay as they are.
    enum Part {
        case text(String)
        case same(Range<Int>)
    }

    /// Goes through the text, and replaces what `rule` finds at a place by what it says. A rule returns nil where nothing is to
    /// be replaced; what it has found is not looked at again. It sees the text as it was.
    mutating func replace(_ rule: (TextScan) -> (end: Int, parts: [Part])?) {
        var result = MarkedText()
        var place = 0
        var hasChanged = false
        result.scalars.reserveCapacity(scalars.count)
        result.origins.reserveCapacity(scalars.count)
        while place < scalars.count {
            guard let (end, parts) = rule(TextScan(scalars, place)), end > place else {
                result.scalars.append(scalars[place])
                result.origins.append(origins[place])
                place += 1
                continue
            }
            hasChanged = true
            let whole = origin(place..<end)
            for part in parts {
                switch part {
                case .same(let range):
                    result.scalars += scalars[range]
                    result.origins += origins[range]
                case .text(let text):
                    for scalar in text.unicodeScalars {
                        result.scalars.append(scalar)
                        result.origins.append(whole)
                    }
                }
            }
            place = end
        }
        if hasChanged { self = result }
    }
}

/// A place in a text, from which rules read on.
struct TextScan {
    private let text: Scalars
    let start: Int
    var place: Int

    init(_ text: Scalars, _ place: Int) {
        self.text = text
        start = place
        self.place = place
    }

    /// What stands here; nil: the end.
    var next: Unicode.Scalar? { place < text.count ? text[place] : nil }
    /// What stands before the place at which it began.
    var before: Unicode.Scalar? { start > 0 ? text[start - 1] : nil }
    var isAtEnd: Bool { place >= text.count }

    subscript(offset: Int) -> Unicode.Scalar? {
        let place = place + offset
        return place >= 0 && place < text.count ? text[place] : nil
    }

    /// What was read.
    var read: String { String(text[start..<place]) }

    func text(_ range: Range<Int>) -> String { String(text[range]) }

    /// Whether a word begins here, or no word goes on.
    var startsWord: Bool { !(before?.isOfWord ?? false) }
    var endsWord: Bool { !(next?.isOfWord ?? false) }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        place += 1
        return true
    }

    mutating func take(where isWanted: (Unicode.Scalar) -> Bool) -> Unicode.Scalar? {
        guard let next, isWanted(next) else { return nil }
        place += 1
        return next
    }

    mutating func takeSpace() -> Bool { take { $0.isSpace } != nil }

    mutating func take(_ word: String) -> Bool {
        var end = place
        for scalar in word.unicodeScalars {
            guard end < text.count, text[end] == scalar else { return false }
            end += 1
        }
        place = end
        return true
    }

    /// So many digits; at least `least` of them.
    mutating func digits(_ least: Int = 1, _ most: Int = .max) -> String? {
        var end = place
        while end < text.count, text[end].isDigit, end - place < most { end += 1 }
        guard end - place >= least else { return nil }
        defer { place = end }
        return String(text[place..<end])
    }

    /// A number such as 1,250.5.
    mutating func number() -> String? {
        let begin = place
        guard digits() != nil else { return nil }
        while next == ",", self[1]?.isDigit == true, self[2]?.isDigit == true, self[3]?.isDigit == true { place += 4 }
        if next == ".", self[1]?.isDigit == true {
            place += 1
            _ = digits()
        }
        return String(text[begin..<place])
    }

    /// The first of these words that stands here and after which `isEnd` is true.
    mutating func takeFirst(of words: [String], where isEnd: (TextScan) -> Bool = { _ in true }) -> String? {
        for word in words {
            var after = self
            if after.take(word), isEnd(after) {
                self = after
                return word
            }
        }
        return nil
    }
}
