// SPDX-License-Identifier: Apache-2.0

/// Whether a sentence ends at a mark.
public enum SentenceEnd: Equatable, Sendable {
    case none
    /// It does, before this place: what closes quotes and brackets belongs to it.
    case at(Int)
    /// What stands behind it decides, and has not come yet.
    case unknown
}

/// Where sentences end, in all scripts. Marks are those that Unicode calls Sentence_Terminal (PropList.txt), the ellipsis,
/// and what ends a clause in Tibetan, where a sentence has no other mark.
public enum Sentences {
    /// Scalars after which a script without marks (Thai, Lao) is cut at a space.
    private static let unmarked = 40

    /// Whether a scalar may end a sentence.
    public static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isSentenceTerminal || scalar == "\u{2026}" || ("\u{F0D}"..."\u{F11}").contains(scalar)
            || scalar == "\u{F14}"
    }

    /// What may stand between a mark and the space behind it.
    private static func isClosing(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Some languages close with the marks by which others open.
        case .closePunctuation, .finalPunctuation, .initialPunctuation: true
        default: scalar == "\"" || scalar == "'" || scalar == "*" || scalar == "_"
        }
    }

    /// Marks of Latin, Greek and Cyrillic, which also stand within words and numbers: a space must follow.
    private static func needsSpace(_ mark: Unicode.Scalar) -> Bool {
        mark.value < 0x80 || (0x2000...0x206F).contains(mark.value) || (0x2E00...0x2E7F).contains(mark.value)
    }

    /// Scripts that write no spaces between sentences.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        (0x2E80...0x9FFF).contains(scalar.value) || (0xF900...0xFAFF).contains(scalar.value)
            || (0x20000...0x3FFFF).contains(scalar.value)
    }

    /// Whether a sentence that begins at `start` ends with the mark at `place`; `isWhole`: nothing follows the text.
    public static func end(
        at place: Int, in text: [Unicode.Scalar], from start: Int, isWhole: Bool
    ) -> SentenceEnd {
        let mark = text[place]
        var end = place + 1
        var marks = 1
        while end < text.count, isMark(text[end]) || isClosing(text[end]) {
            if isMark(text[end]) { marks += 1 }
            end += 1
        }
        let isBehindNumber = place > start && text[place - 1].properties.numericType != nil
        if !needsSpace(mark) {
            // A full width point may stand in a number.
            guard mark == "\u{FF0E}", isBehindNumber else { return .at(end) }
            if end == text.count { return isWhole ? .at(end) : .unknown }
            return text[end].properties.numericType == nil ? .at(end) : .none
        }
        if end == text.count { return isWhole ? .at(end) : .unknown }
        if isWide(text[end]), mark != "." { return .at(end) }
        guard text[end].properties.isWhitespace else { return .none }
        var next = end
        while next < text.count, text[next].properties.isWhitespace, !text[next].isNewline { next += 1 }
        let follows = next < text.count ? text[next] : nil
        if follows?.isNewline == true { return .at(end) }
        if follows?.properties.isLowercase == true { return .none }
        if mark != "." || marks > 1 { return .at(end) }
        return pointEnds(place, in: text, from: start, next: next, isWhole: isWhole).map { $0 ? .at(end) : .none }
            ?? .unknown
    }

    /// Whether a space may end a piece: in scripts that have no marks, when the piece is long enough.
    public static func isBreak(at place: Int, in text: [Unicode.Scalar], from start: Int) -> Bool {
        place - start >= unmarked && text[place].properties.isWhitespace
            && (0x0E00...0x0EFF).contains(text[place - 1].value)
    }

    /// Whether a full stop ends a sentence, and not a short form, an initial, the number of a list or an ordinal number; nil:
    /// what follows decides. `next`: where the next word begins.
    private static func pointEnds(
        _ point: Int, in text: [Unicode.Scalar], from start: Int, next: Int, isWhole: Bool
    ) -> Bool? {
        var first = point
        while first > start, !text[first - 1].properties.isWhitespace { first -= 1 }
        var begin = first
        while begin < point, text[begin].isPunctuation { begin += 1 }
        let word = lowercased(text[begin..<point])
        let follows = next < text.count ? text[next] : nil
        if ShortForms.always.contains(word) { return false }
        if ShortForms.beforeNumber.contains(word) {
            guard let follows else { return isWhole ? true : nil }
            return follows.properties.numericType == nil
        }
        if word.count == 1, text[begin].properties.isAlphabetic, word != "i" { return false }
        guard !word.isEmpty, text[begin..<point].allSatisfy({ $0.properties.numericType != nil }) else { return true }
        var before = first
        while before > start, text[before - 1].properties.isWhitespace, !text[before - 1].isNewline { before -= 1 }
        if before == start || text[before - 1].isNewline { return false }
        // "Am 3. Mai", "im 19. Jahrhundert".
        guard point - begin <= 2 else { return true }
        var previous = before
        while previous > start, !text[previous - 1].properties.isWhitespace { previous -= 1 }
        if ShortForms.articles.contains(lowercased(text[previous..<before])) { return false }
        var last = next
        while last < text.count, text[last].properties.isAlphabetic { last += 1 }
        let following = lowercased(text[next..<last])
        if ShortForms.months.contains(following) { return false }
        let mayGoOn = last == text.count && ShortForms.months.contains { $0.hasPrefix(following) }
        return mayGoOn && !isWhole ? nil : true
    }

    private static func lowercased(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view).lowercased()
    }
}

/// Words behind which a full stop ends no sentence.
private enum ShortForms {
    static let always: Set<String> = [
        "mr", "mrs", "ms", "mx", "dr", "prof", "st", "vs", "e.g", "i.e", "cf", "approx", "gov", "rep",
        "capt", "lt", "sgt", "rev", "hon", "mt", "dept", "ca", "z.b", "d.h", "u.a", "bzw", "vgl", "hr",
        "fr", "evtl", "ggf", "inkl", "sog", "mme", "mlle", "sra", "srta", "p.ej",
    ]
    static let beforeNumber: Set<String> = [
        "no", "nos", "nr", "nrs", "fig", "figs", "vol", "p", "pp", "s", "art", "sec", "ch", "abs", "kap", "bd", "abb",
        "tel", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
    ]
    /// German months, before which a number is an ordinal.
    static let months: Set<String> = [
        "januar", "jänner", "februar", "feber", "märz", "april", "mai", "juni", "juli", "august", "september",
        "oktober", "november", "dezember", "jan", "feb", "mär", "apr", "jun", "jul", "aug", "sep", "sept", "okt",
        "nov", "dez",
    ]
    /// German words behind which a number is an ordinal, as far as no English sentence ends so.
    static let articles: Set<String> = [
        "der", "die", "das", "dem", "den", "des", "im", "vom", "zum", "zur", "beim", "ins", "ab", "seit", "bis",
        "jeder", "jede", "jedes", "jeden",
    ]
}
