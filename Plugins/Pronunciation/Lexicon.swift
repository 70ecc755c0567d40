// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How English is spoken.
public enum Accent: String, Sendable, CaseIterable {
    case american, british

    /// How files of lexicons call it.
    var code: String { self == .american ? "us" : "gb" }
}

/// What is behind a word that changes how it is said: "the" before a vowel, "used" before "to".
struct Following {
    /// Whether the next sound is a vowel; nil: a pause.
    var vowel: Bool?
    /// Whether the next word is "to".
    var isTo = false
}

/// A word as rules read it.
struct Reading {
    var text: String
    /// Its part of speech (Penn Treebank); nil: it does not matter.
    var tag: String?
    /// The sign of an amount of money that it is.
    var currency: String?
    /// Whether it does not continue the token before it.
    var isHead = true
}

/// How English words are said: two dictionaries, one checked by people and one made from it, and rules for what is not in
/// them. The entries and what the rules say are those of misaki (github.com/hexgrad/misaki), by which Kokoro's voices
/// learnt to speak.
struct Lexicon: Sendable {
    let accent: Accent
    private let checked, made: JSONTable

    /// Dollars and cents.
    static let currencies = ["$": ("dollar", "cent"), "£": ("pound", "pence"), "€": ("euro", "cent")]
    static let symbols = ["%": "percent", "&": "and", "+": "plus", "@": "at"]
    static let ordinals: Set = ["st", "nd", "rd", "th"]

    /// Reads both dictionaries of an accent.
    init(_ accent: Accent, checked: JSONTable, made: JSONTable) {
        self.accent = accent
        self.checked = checked
        self.made = made
    }

    // MARK: entries

    /// What one word has: one way to say it, or one for each part of speech.
    enum Entry {
        case one(Phonemes)
        case byTag([String: Phonemes?])

        /// For a part of speech; nil: none.
        func phonemes(_ tag: String?) -> Phonemes? {
            switch self {
            case .one(let phonemes): phonemes
            case .byTag(let ways): tag.flatMap { ways[$0] } ?? ways["DEFAULT"] ?? nil
            }
        }

        func has(_ tag: String?) -> Bool {
            guard case .byTag(let ways) = self, let tag else { return false }
            return ways[tag] != nil
        }
    }

    /// Of a word that has small letters alone there may be the entry with a capital, and the other way round.
    private static func place(of word: String, in table: JSONTable) -> Int? {
        if let place = table[word] { return place }
        guard word.utf8.count > 1 else { return nil }
        let small = word.lowercased()
        if word == small {
            let capitalized = word.capitalizedWord
            return capitalized == word ? nil : table[capitalized]
        }
        return word == small.capitalizedWord ? table[small] : nil
    }

    private static func entry(_ word: String, in table: JSONTable) -> Entry? {
        guard let place = place(of: word, in: table) else { return nil }
        if let one = table.string(at: place) { return .one(one.scalars) }
        var ways: [String: Phonemes?] = [:]
        table.entries(at: place) { key, value in
            ways[String(decoding: table.text[key], as: UTF8.self)] = .some(table.string(at: value)?.scalars)
        }
        return ways.isEmpty ? nil : .byTag(ways)
    }

    private func isChecked(_ word: String) -> Bool { Self.place(of: word, in: checked) != nil }
    private func isMade(_ word: String) -> Bool { Self.place(of: word, in: made) != nil }

    /// The way of a checked entry that has only one, or its usual one.
    private func usual(_ word: String, _ tag: String = "DEFAULT") -> Phonemes? {
        Self.entry(word, in: checked)?.phonemes(tag)
    }

    // MARK: words

    /// How a word is said; nil: no rule knows. [any]
    func say(_ reading: Reading, _ following: Following) -> Phonemes? {
        let word = String(reading.text.compatible.unicodeScalars.map { $0.isApostrophe ? "'" : $0 })
        // A capital is said with more weight, and one that is all capitals with more still.
        let stress: Double? = word == word.lowercased() ? nil : word == word.uppercased() ? 2 : 0.5
        if let said = say(word, reading.tag, stress, following) {
            guard let currency = reading.currency.flatMap({ Self.currencies[$0] }) else { return said }
            return said + [" "] + (withS(currency.0 + "s") ?? [])
        }
        return isNumber(word, isHead: reading.isHead)
            ? say(number: word, currency: reading.currency, isHead: reading.isHead) : nil
    }

    private func say(_ given: String, _ tag: String?, _ stress: Double?, _ following: Following) -> Phonemes? {
        if let special = special(given, tag, stress, following) { return special }
        let word = isSmallInLexicon(given, tag, stress, following) ? given.lowercased() : given
        if isKnown(word) { return lookup(word, tag, stress, following) }
        if word.hasSuffix("s'"), case let other = word.without(last: 2) + "'s", isKnown(other) {
            return lookup(other, tag, stress, following)
        }
        if word.hasSuffix("'"), case let other = word.without(last: 1), isKnown(other) {
            return lookup(other, tag, stress, following)
        }
        return withS(word, tag, stress, following) ?? withED(word, tag, stress, following)
            ?? withING(word, tag, stress ?? 0.5, following)
    }

    /// Whether a word with capitals stands in the lexicon in small letters only, and is no name.
    private func isSmallInLexicon(
        _ word: String, _ tag: String?, _ stress: Double?, _ following: Following
    ) -> Bool {
        let small = word.lowercased()
        let length = word.unicodeScalars.count
        guard length > 1, word != small, tag != "NNP" || length > 7, word.filter({ $0 != "'" }).isLetters,
            word == word.uppercased() || word == word.capitalizedWord
                || word.last(length - 1) == small.last(length - 1),
            !isChecked(word), !isMade(word)
        else { return false }
        return isChecked(small) || isMade(small) || withS(small, tag, stress, following) != nil
            || withED(small, tag, stress, following) != nil || withING(small, tag, stress, following) != nil
    }

    /// What is said in its own way by what it is or by what follows.
    private func special(_ word: String, _ tag: String?, _ stress: Double?, _ following: Following) -> Phonemes? {
        if tag == "ADD", let name = [".": "dot", "/": "slash"][word] { return lookup(name, nil, -0.5, following) }
        if let name = Self.symbols[word] { return lookup(name, nil, nil, following) }
        if isDotted(word) { return spelled(word) }
        switch word {
        case "a", "A": return tag == "DT" ? ["ɐ"] : "ˈA".scalars
        case "am", "Am", "AM":
            if tag?.hasPrefix("NN") == true { return spelled(word) }
            if following.vowel == nil || word != "am" || (stress ?? 0) > 0 { return usual("am") }
            return "ɐm".scalars
        case "AN" where tag?.hasPrefix("NN") == true: return spelled(word)
        case "an", "An", "AN": return "ɐn".scalars
        case "I" where tag == "PRP": return "ˌI".scalars
        case "by", "By", "BY": return Self.parent(of: tag) == "ADV" ? "bˈI".scalars : nil
        case "TO" where tag != "TO" && tag != "IN": return nil
        case "to", "To", "TO":
            guard let vowel = following.vowel else { return usual("to") }
            return vowel ? "tʊ".scalars : "tə".scalars
        case "IN" where tag == "NNP": return nil
        case "in", "In", "IN": return (following.vowel == nil || tag != "IN" ? [Sound.primary] : []) + "ɪn".scalars
        case "THE" where tag != "DT": return nil
        case "the", "The", "THE": return following.vowel == true ? "ði".scalars : "ðə".scalars
        case "used", "Used", "USED":
            return usual("used", (tag == "VBD" || tag == "JJ") && following.isTo ? "VBD" : "DEFAULT")
        default: break
        }
        if tag == "IN", ["vs", "vs."].contains(word.lowercased()) { return lookup("versus", nil, nil, following) }
        return nil
    }

    /// Whether it is letters with points between them, as in U.S. and p.m.
    private func isDotted(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.firstIndex(where: { !$0.isEmpty }),
            let last = parts.lastIndex(where: { !$0.isEmpty }), first < last
        else { return false }
        return parts.joined().isLetters && parts.allSatisfy { $0.unicodeScalars.count < 3 }
    }

    /// Whether `lookup` says something of it.
    private func isKnown(_ word: String) -> Bool {
        if isChecked(word) || Self.symbols[word] != nil || isMade(word) { return true }
        guard word.isLetters, word.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        if word.utf8.count == 1 || word == word.uppercased() && isChecked(word.lowercased()) { return true }
        let rest = word.last(word.utf8.count - 1)
        return rest == rest.uppercased()
    }

    /// How a word is said that stands in the lexicon, or is spelled. nil: it is neither.
    private func lookup(_ given: String, _ tag: String?, _ stress: Double?, _ following: Following?) -> Phonemes? {
        var word = given
        var isName = false
        if word == word.uppercased(), !isChecked(word) {
            word = word.lowercased()
            isName = tag == "NNP"
        }
        let entry = Self.entry(word, in: checked) ?? (isName ? nil : Self.entry(word, in: made))
        var said: Phonemes?
        if let entry {
            let isBeforePause = following.map { $0.vowel == nil } ?? false
            let wanted = isBeforePause && entry.has("None") ? "None" : entry.has(tag) ? tag : Self.parent(of: tag)
            said = entry.phonemes(wanted)
        }
        if said == nil || isName && !said!.contains(Sound.primary), let spelled = spelled(word) { return spelled }
        return said?.stressed(stress)
    }

    /// Letter by letter; nil: one has no name.
    private func spelled(_ word: String) -> Phonemes? {
        var said: Phonemes = []
        for letter in word.unicodeScalars where letter.isLetter {
            guard let name = usual(letter.properties.uppercaseMapping) else { return nil }
            said += name
        }
        said = said.stressed(0)
        // The last letter has the stress.
        if let last = said.lastIndex(of: Sound.secondary) { said[last] = Sound.primary }
        return said
    }

    /// The kind of word that a part of speech belongs to.
    static func parent(of tag: String?) -> String? {
        switch tag?.prefix(2) {
        case "VB": "VERB"
        case "NN": "NOUN"
        case "RB": "ADV"
        case "JJ": "ADJ"
        default: tag.map { $0.hasPrefix("ADV") ? "ADV" : $0.hasPrefix("ADJ") ? "ADJ" : $0 }
        }
    }

    // MARK: endings

    /// Of a word that ends in s, from the word without it.
    func withS(
        _ word: String, _ tag: String? = nil, _ stress: Double? = nil, _ following: Following? = nil
    ) -> Phonemes? {
        let length = word.unicodeScalars.count
        guard length > 2, word.hasSuffix("s") else { return nil }
        let stem: String
        if !word.hasSuffix("ss"), isKnown(word.without(last: 1)) {
            stem = word.without(last: 1)
        } else if word.hasSuffix("'s") || length > 4 && word.hasSuffix("es") && !word.hasSuffix("ies"),
            isKnown(word.without(last: 2))
        {
            stem = word.without(last: 2)
        } else if length > 4, word.hasSuffix("ies"), isKnown(word.without(last: 3) + "y") {
            stem = word.without(last: 3) + "y"
        } else {
            return nil
        }
        return addS(lookup(stem, tag, stress, following))
    }

    func addS(_ stem: Phonemes?) -> Phonemes? {
        guard let stem, let last = stem.last else { return nil }
        if "ptkfθ".unicodeScalars.contains(last) { return stem + ["s"] }
        return stem + ("szʃʒʧʤ".unicodeScalars.contains(last) ? [accent == .british ? "ɪ" : "ᵻ", "z"] : ["z"])
    }

    private func withED(_ word: String, _ tag: String?, _ stress: Double?, _ following: Following?) -> Phonemes? {
        let length = word.unicodeScalars.count
        guard length > 3, word.hasSuffix("d") else { return nil }
        if !word.hasSuffix("dd"), isKnown(word.without(last: 1)) {
            return addED(lookup(word.without(last: 1), tag, stress, following))
        }
        guard length > 4, word.hasSuffix("ed"), !word.hasSuffix("eed"), isKnown(word.without(last: 2)) else {
            return nil
        }
        return addED(lookup(word.without(last: 2), tag, stress, following))
    }

    func addED(_ stem: Phonemes?) -> Phonemes? {
        guard let stem, let last = stem.last else { return nil }
        if "pkfθʃsʧ".unicodeScalars.contains(last) { return stem + ["t"] }
        if last == "d" { return stem + [accent == .british ? "ɪ" : "ᵻ", "d"] }
        if last != "t" { return stem + ["d"] }
        if accent == .british || stem.count < 2 { return stem + ["ɪ", "d"] }
        return isFlapped(stem) ? stem.dropLast() + ["ɾ", "ᵻ", "d"] : stem + ["ᵻ", "d"]
    }

    private func withING(_ word: String, _ tag: String?, _ stress: Double?, _ following: Following?) -> Phonemes? {
        let length = word.unicodeScalars.count
        guard length > 4, word.hasSuffix("ing") else { return nil }
        let stem: String
        if length > 5, isKnown(word.without(last: 3)) {
            stem = word.without(last: 3)
        } else if isKnown(word.without(last: 3) + "e") {
            stem = word.without(last: 3) + "e"
        } else if length > 5, isDoubled(word.without(last: 3).last(2)), isKnown(word.without(last: 4)) {
            stem = word.without(last: 4)
        } else {
            return nil
        }
        return addING(lookup(stem, tag, stress, following))
    }

    /// Whether a consonant was doubled, as in running and picnicking.
    private func isDoubled(_ pair: String) -> Bool {
        pair == "ck" || pair.first == pair.last && "bcdgklmnprstvxz".contains(pair.last ?? "a")
    }

    func addING(_ stem: Phonemes?) -> Phonemes? {
        guard let stem, let last = stem.last else { return nil }
        let ending = "ɪŋ".scalars
        if accent == .british { return last == "ə" || last == "ː" ? nil : stem + ending }
        return isFlapped(stem) ? stem.dropLast() + ["ɾ"] + ending : stem + ending
    }

    private func isFlapped(_ stem: Phonemes) -> Bool {
        stem.count > 1 && stem.last == "t" && Sound.beforeFlap.contains(stem[stem.count - 2])
    }

    /// A word that is part of a number.
    func part(_ word: String) -> Phonemes { lookup(word, nil, word == "point" ? -2 : nil, nil) ?? [] }

    /// How the letter O is said where it stands for zero.
    var oh: Phonemes { lookup("O", nil, -2, nil) ?? [] }
}
