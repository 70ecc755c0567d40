// SPDX-License-Identifier: Apache-2.0

extension Lexicon {
    private static let endings = ["ing", "'d", "ed", "'s", "st", "nd", "rd", "th", "s"]

    /// Whether a word is a number, perhaps with an ending as in 1990s and 3rd.
    func isNumber(_ word: String, isHead: Bool) -> Bool {
        guard word.unicodeScalars.contains(where: \.isDigit) else { return false }
        let ending = Self.endings.first { word.hasSuffix($0) } ?? ""
        return word.without(last: ending.unicodeScalars.count).unicodeScalars.enumerated().allSatisfy { place, scalar in
            scalar.isDigit || scalar == "," || scalar == "." || isHead && place == 0 && scalar == "-"
        }
    }

    /// How a number is said. `isHead`: it stands by itself, and is not a part of a name as 747 in "B-747" is.
    func say(number given: String, currency: String? = nil, isHead: Bool) -> Phonemes? {
        let ending = String(given.unicodeScalars.reversed().prefix { ("a"..."z").contains($0) || $0 == "'" }.reversed())
        var word = given.without(last: ending.unicodeScalars.count)
        var said: [Phonemes] = []
        if word.hasPrefix("-") {
            said.append(part("minus"))
            word.removeFirst()
        }
        let units = currency.flatMap { Self.currencies[$0] }
        let isOrdinal = Self.ordinals.contains(ending)
        let plain = word.filter { $0 != "," }
        func add(_ words: String) {
            said += words.split { !$0.isLetter }.filter { $0 != "and" }.map { part(String($0)) }
        }
        if word.isDigits, isOrdinal {
            add(NumberWords.ordinal(word))
        } else if said.isEmpty, word.utf8.count == 4, units == nil, word.isDigits {
            add(NumberWords.year(word))
        } else if !isHead, !word.contains(".") {
            if plain.hasPrefix("0") || plain.utf8.count > 3 {
                add(NumberWords.each(plain))
            } else if plain.utf8.count == 3, !plain.hasSuffix("00") {
                add(NumberWords.cardinal(plain.prefix(1)))
                if plain.dropFirst().hasPrefix("0") {
                    said.append(oh)
                    add(NumberWords.cardinal(plain.suffix(1)))
                } else {
                    add(NumberWords.cardinal(plain.suffix(2)))
                }
            } else {
                add(NumberWords.cardinal(plain))
            }
        } else if !isHead || word.count(where: { $0 == "." }) > 1 {
            for part in plain.split(separator: ".") {
                let isOneByOne = part.hasPrefix("0") || part.utf8.count != 2 && part.dropFirst().contains { $0 != "0" }
                add(isOneByOne ? NumberWords.each(part) : NumberWords.cardinal(part))
            }
        } else if let units, isAmount(word) {
            say(amount: plain, units, add: add) { said.append($0) }
        } else if word.contains(".") {
            add(word.hasPrefix(".") ? "point " + NumberWords.each(plain.dropFirst()) : NumberWords.decimal(plain))
        } else {
            add(isOrdinal ? NumberWords.ordinal(plain) : NumberWords.cardinal(plain))
        }
        if said.isEmpty { return nil }
        let whole = Phonemes(said.joined(separator: [" "]))
        switch ending {
        case "s", "'s": return addS(whole)
        case "ed", "'d": return addED(whole)
        case "ing": return addING(whole)
        default: return whole
        }
    }

    /// Whether a price has no more places than there are cents.
    private func isAmount(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 1 || parts.count == 2 && parts[1].utf8.count < 3
    }

    /// "five dollars and one cent".
    private func say(
        amount: String, _ units: (String, String), add: (String) -> Void, append: (Phonemes) -> Void
    ) {
        let digits = amount.split(separator: ".", omittingEmptySubsequences: false).map { $0.drop { $0 == "0" } }
        var parts = Array(zip(digits, [units.0, units.1]))
        if parts.count > 1 { parts = parts[1].0.isEmpty ? [parts[0]] : parts[0].0.isEmpty ? [parts[1]] : parts }
        for (index, (number, unit)) in parts.enumerated() {
            if index > 0 { append(part("and")) }
            add(NumberWords.cardinal(number))
            append(number != "1" && unit != "pence" ? withS(unit + "s") ?? [] : part(unit))
        }
    }
}
