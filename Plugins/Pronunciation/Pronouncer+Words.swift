// SPDX-License-Identifier: Apache-2.0

/// From tokens to sounds.
extension Pronouncer {
    /// What voices take for marks that are no pauses.
    private static let marksOfTags = ["-LRB-": "(", "-RRB-": ")", "``": "“", "\"\"": "”", "''": "”"]
    private static let tagsOfMarks: Set = [".", ",", "-LRB-", "-RRB-", "``", "\"\"", "''", ":", "$", "#", "NFP"]
    private static let symbols: [Unicode.Scalar: String] = [
        "/": "slˈæʃ", "=": "ˈikwᵊlz", "+": "plˈʌs", "&": "ænd", "@": "æt", "%": "pəɹsˈɛnt", "#": "hˈæʃ",
        "*": "ˈæstəɹˌɪsk",
        "~": "tˈɪldə", "^": "kˈɛɹət", "<": "lˈɛs ðən", ">": "ɡɹˈATəɹ ðən", "—": "—",
    ]

    // MARK: groups

    /// Tokens, or parts of them, that are said as one word together. Marks are settled.
    func groups(of tokens: [SpokenToken]) -> [[SpokenToken]] {
        var groups: [[SpokenToken]] = []
        var isOpen = false
        var currency: String?
        for (index, token) in tokens.enumerated() {
            let parts = token.parts
            for place in parts.indices {
                var part = parts[place]
                if part.tag == "$", Lexicon.currencies[part.text] != nil {
                    currency = part.text
                    part.phonemes = []
                } else if part.tag == ":", part.text == "-" || part.text == "–" {
                    part.phonemes = ["—"]
                } else if isMark(part) {
                    part.phonemes =
                        Self.marksOfTags[part.tag]?.scalars
                        ?? part.text.unicodeScalars.filter(SpokenToken.marks.contains).map { $0 }
                } else if currency != nil {
                    if part.tag != "CD" {
                        currency = nil
                    } else if place + 1 == parts.count, index + 1 == tokens.count || tokens[index + 1].tag != "CD" {
                        part.currency = currency
                    }
                } else if place > 0, place + 1 < parts.count, part.text == "2",
                    parts[place - 1].text.last(1).isLetters,
                    String(parts[place + 1].text.unicodeScalars.prefix(1)).isLetters
                {
                    part.alias = "to"
                }
                if part.isSettled {
                    groups.append([part])
                    isOpen = false
                } else if isOpen, let last = groups.last?.last, !last.isBeforeSpace {
                    part.isHead = false
                    groups[groups.count - 1].append(part)
                } else {
                    groups.append([part])
                    isOpen = !part.isBeforeSpace
                }
            }
        }
        return groups
    }

    /// Whether something is a mark by its tag: letters and numbers never are.
    private func isMark(_ token: SpokenToken) -> Bool {
        guard Self.tagsOfMarks.contains(token.tag) else { return false }
        let scalars = token.text.unicodeScalars
        if scalars.contains(where: \.isDigit) { return false }
        return !scalars.allSatisfy { $0.isLetter && $0.isASCII }
    }

    // MARK: sounds

    /// Says a group; from the last to the first, since what follows counts.
    func say(_ group: inout [SpokenToken], _ following: inout Following) {
        if group.count == 1 {
            if group[0].phonemes == nil {
                let reading = Reading(
                    text: group[0].alias ?? group[0].text, tag: group[0].tag, currency: group[0].currency,
                    isHead: group[0].isHead)
                group[0].phonemes = lexicon.say(reading, following) ?? spell(group[0].text)
            }
            pass(group[0].phonemes ?? [], SpokenToken.reading(group[...]), &following)
            return
        }
        // The longest part that is known, from its end; what is left of it, in the same way.
        var (left, right) = (0, group.count)
        while left < right {
            let part = group[left..<right]
            let reading = part.contains(where: \.isSettled) ? nil : SpokenToken.reading(part)
            if let reading, let said = lexicon.say(reading, following) {
                for place in left..<right { group[place].phonemes = place == left ? said : [] }
                pass(said, reading, &following)
                (left, right) = (0, left)
            } else if left + 1 < right {
                left += 1
            } else {
                right -= 1
                left = 0
                if group[right].phonemes != nil { continue }
                guard group[right].isJunk else {
                    let whole = spell(SpokenToken.reading(group[...]).text)
                    for place in group.indices { group[place].phonemes = place == 0 ? whole : [] }
                    return
                }
                group[right].phonemes = []
            }
        }
        balance(&group)
    }

    private func pass(_ said: Phonemes, _ reading: Reading, _ following: inout Following) {
        for scalar in said {
            if SpokenToken.pauses.contains(scalar) {
                following.vowel = nil
            } else if Sound.vowels.contains(scalar) || Sound.consonants.contains(scalar) {
                following.vowel = Sound.vowels.contains(scalar)
            } else {
                continue
            }
            break
        }
        following.isTo =
            ["to", "To"].contains(reading.text) || reading.text == "TO" && ["TO", "IN"].contains(reading.tag)
    }

    /// Sets spaces between the parts of a group, or where it is one word takes stress from half of them.
    private func balance(_ group: inout [SpokenToken]) {
        var kinds: Set<Int> = []
        for (place, token) in group.enumerated() {
            for scalar in token.text.unicodeScalars where !SpokenToken.junk.contains(scalar) {
                kinds.insert(scalar.isLetter ? 0 : scalar.isDigit ? 1 : 2)
            }
            let isInner = place + 1 < group.count
            if token.text.unicodeScalars.contains("/") || isInner && token.isBeforeSpace { kinds.formUnion([3, 4]) }
        }
        let isApart = kinds.count > 1
        for place in group.indices.dropFirst() where group[place].phonemes != nil { group[place].isApart = isApart }
        if isApart { return }
        let spoken = group.indices.filter { group[$0].phonemes?.isEmpty == false }
        func lessen(_ place: Int) { group[place].phonemes = group[place].phonemes?.stressed(-0.5) }
        if spoken.count == 2, group[spoken[0]].text.unicodeScalars.count == 1 { return lessen(spoken[1]) }
        func isStressed(_ place: Int) -> Bool { group[place].phonemes?.contains(Sound.primary) == true }
        guard spoken.count > 1, spoken.count(where: isStressed) > (spoken.count + 1) / 2 else { return }
        let byWeight = spoken.sorted {
            (isStressed($0) ? 1 : 0, group[$0].phonemes?.weight ?? 0, $0)
                < (isStressed($1) ? 1 : 0, group[$1].phonemes?.weight ?? 0, $1)
        }
        for place in byWeight.prefix(spoken.count / 2) { lessen(place) }
    }

    /// What no rule knows: letters by `unknown`, digits as numbers, signs by their names.
    private func spell(_ text: String) -> Phonemes {
        let scalars = text.scalars
        var parts: [Phonemes] = []
        var place = 0
        func run(_ isPart: (Int) -> Bool) -> String {
            let start = place
            while place < scalars.count, isPart(place) { place += 1 }
            return String(scalars[start..<place])
        }
        func at(_ place: Int, _ isWanted: (Unicode.Scalar) -> Bool) -> Bool {
            place >= 0 && place < scalars.count && isWanted(scalars[place])
        }
        while place < scalars.count {
            let scalar = scalars[place]
            var said: Phonemes?
            if scalar.isWordLetter {
                said = unknown(
                    run { at($0, \.isWordLetter) || at($0, \.isApostrophe) && at($0 + 1, \.isWordLetter) })
            } else if scalar.isDigit {
                let digits = run {
                    at($0, \.isDigit) || at($0) { ",.".unicodeScalars.contains($0) } && at($0 + 1, \.isDigit)
                }
                said = lexicon.say(number: digits, isHead: false)
            } else if scalar.isSpace || scalar == "_" {
                place += 1
            } else {
                let signs = run { at($0) { !$0.isOfWord && !$0.isSpace } }
                said = signs.unicodeScalars.flatMap { Self.symbols[$0]?.scalars ?? [] }
            }
            if let said, !said.isEmpty { parts.append(said) }
        }
        return Phonemes(parts.joined(separator: [" "]))
    }
}
