// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

/// Writes out what is not said as it is written: times, dates, amounts, units, abbreviations, symbols, addresses. Plain
/// numbers stay: how they are said depends on what they belong to. The words for them stand in a table of the model.
struct Normalizer: Sendable {
    typealias Part = MarkedText.Part
    typealias Found = (end: Int, parts: [Part])?

    /// By which dates are written.
    let accent: Accent
    /// January to December, by their first three letters.
    let months: [String: String]
    let titles, abbreviations: [String: String]
    /// One of it, and several.
    let units, money: [String: [String]]
    let symbols: [Unicode.Scalar: String]
    /// What may stand there, the longest first.
    let monthNames, titleNames, abbreviationNames, unitNames, cardinalNames, ordinalNames: [String]

    /// Reads the table of a model. The error names `path`.
    init(_ json: JSON, _ accent: Accent = .american, path: String) throws(NodeError) {
        self.accent = accent
        func texts(_ key: String) -> [String: String] { json[key]?.fields.compactMapValues(\.string) ?? [:] }
        func lists(_ key: String) -> [String: [String]] {
            (json[key]?.fields ?? [:]).mapValues { $0.items.compactMap(\.string) }.filter { $0.value.count == 2 }
        }
        func longest(_ words: some Sequence<String>) -> [String] {
            words.sorted { ($0.unicodeScalars.count, $1) > ($1.unicodeScalars.count, $0) }
        }
        months = texts("months")
        titles = texts("titles")
        abbreviations = texts("abbreviations")
        units = lists("units")
        money = lists("currency")
        var names: [Unicode.Scalar: String] = [:]
        for (symbol, name) in texts("symbols") {
            if let scalar = symbol.unicodeScalars.first, symbol.unicodeScalars.count == 1 { names[scalar] = name }
        }
        symbols = names
        monthNames = longest(Set(months.values).union(months.keys.map(\.capitalizedWord)).union(["Sept"]))
        titleNames = longest(titles.keys)
        abbreviationNames = longest(abbreviations.keys)
        unitNames = longest(units.keys)
        cardinalNames = longest(json["roman_cardinal"]?.items.compactMap(\.string) ?? [])
        ordinalNames = longest(json["roman_ordinal"]?.items.compactMap(\.string) ?? [])
        guard months.count == 12, !units.isEmpty, !abbreviations.isEmpty else {
            throw NodeError("\(path) has no words for numbers and signs", hint: "remove and install the model again")
        }
    }

    /// The text as it is said. [any]
    func normalize(_ text: String) -> MarkedText {
        var text = MarkedText(text)
        let rules: [(TextScan) -> Found] = [
            blank, typeset, address, emoji, time, isoDate, slashedDate, amountInWords, cents, otherMoney, degrees, unit,
            monthAndDay, dayAndMonth, title, abbreviation, numberSign, roman, phone, fraction, range, plus, symbol,
            blank,
        ]
        for rule in rules { text.replace(rule) }
        return text
    }

    // MARK: white space and signs

    /// One space in place of several, none at the ends and before marks.
    private func blank(_ scan: TextScan) -> Found {
        guard scan.next?.isSpace == true else { return nil }
        var scan = scan
        while scan.takeSpace() {}
        let isNeeded =
            scan.start > 0 && !scan.isAtEnd && !(scan.next.map { ",.;:!?".unicodeScalars.contains($0) } ?? false)
        if isNeeded, scan.place == scan.start + 1, scan[-1] == " " { return nil }
        return (scan.place, isNeeded ? [.text(" ")] : [])
    }

    private func typeset(_ scan: TextScan) -> Found {
        switch scan.next {
        case "’": (scan.place + 1, [.text("'")])
        case "‒": (scan.place + 1, [.text("-")])
        case "―": (scan.place + 1, [.text("—")])
        // A minus sign before a number.
        case "−" where scan[1]?.isDigit == true: (scan.place + 1, [.text("-")])
        default: nil
        }
    }

    private func plus(_ scan: TextScan) -> Found {
        guard scan.next == "+", scan[1]?.isDigit == true, scan.startsWord, scan.before != "+" else { return nil }
        return (scan.place + 1, [.text("plus ")])
    }

    private func numberSign(_ scan: TextScan) -> Found {
        if scan.next == "#", scan[1]?.isDigit == true, scan.startsWord, scan.before != "&" {
            return (scan.place + 1, [.text("number ")])
        }
        guard scan.next == "N", scan.startsWord else { return nil }
        var scan = scan
        guard let word = scan.takeFirst(of: ["No.", "Nos."]) else { return nil }
        _ = scan.take(" ")
        return scan.next?.isDigit == true ? (scan.place, [.text(word == "No." ? "Number " : "Numbers ")]) : nil
    }

    private func symbol(_ scan: TextScan) -> Found {
        if let next = scan.next, let name = symbols[next], !Self.isBetween(next) {
            return (scan.place + 1, [.text(name.isEmpty ? " " : " \(name) ")])
        }
        if let name = greekLetter(scan) { return (scan.place + 1, [.text(" \(name) ")]) }
        // These are said between two things only.
        guard let before = scan.before, !before.isSpace else { return nil }
        var after = scan
        _ = after.take(" ")
        guard let sign = after.take(where: Self.isBetween), let name = symbols[sign] else { return nil }
        _ = after.take(" ")
        guard let next = after.next, !next.isSpace else { return nil }
        return (after.place, [.text(name.isEmpty ? " " : " \(name) ")])
    }

    /// The name of a letter of Greek that is none of a Greek word, as in formulas.
    private func greekLetter(_ scan: TextScan) -> String? {
        func isGreek(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { (0x370...0x3FF).contains($0.value) } ?? false }
        guard let next = scan.next, isGreek(next), next.isLetter, !isGreek(scan.before), !isGreek(scan[1]) else {
            return nil
        }
        return next.properties.name?.split(separator: " ").last?.lowercased()
    }

    private static func isBetween(_ scalar: Unicode.Scalar) -> Bool { "=<>~".unicodeScalars.contains(scalar) }

    // MARK: words

    private func title(_ scan: TextScan) -> Found {
        guard let next = scan.next, next.isLetter, scan.startsWord else { return nil }
        func isBeforeName(_ scan: TextScan) -> Bool {
            var scan = scan
            _ = scan.take(".")
            return scan.take(" ") && scan.next.map { ("A"..."Z").contains($0) } == true
        }
        var after = scan
        guard let title = after.takeFirst(of: titleNames, where: isBeforeName), let word = titles[title] else {
            return nil
        }
        _ = after.take(".")
        _ = after.take(" ")
        return (after.place, [.text(word + " ")])
    }

    private func abbreviation(_ scan: TextScan) -> Found {
        guard let next = scan.next, next.isLetter, scan.startsWord, scan.before != "." else { return nil }
        var after = scan
        guard let short = after.takeFirst(of: abbreviationNames, where: \.endsWord), let word = abbreviations[short]
        else {
            return nil
        }
        return (after.place, [.text(word + (after.isAtEnd && short.hasSuffix(".") ? "." : ""))])
    }

    private func roman(_ scan: TextScan) -> Found {
        guard let next = scan.next, next.isLetter, scan.startsWord else { return nil }
        func numeral(after names: [String]) -> (end: Int, name: Range<Int>, value: Int)? {
            for name in names {
                var after = scan
                guard after.take(name), case let end = after.place, after.take(" ") else { continue }
                var letters: Scalars = []
                while let letter = after.take(where: \.isOfWord) { letters.append(letter) }
                guard let value = NumberWords.roman(letters) else { continue }
                let isMore = after.next == "." || after.next?.isApostrophe == true
                if isMore, after[1]?.isOfWord == true { continue }
                return (after.place, scan.place..<end, value)
            }
            return nil
        }
        if let found = numeral(after: cardinalNames) {
            return (found.end, [.same(found.name), .text(" \(found.value)")])
        }
        guard let found = numeral(after: ordinalNames) else { return nil }
        return (found.end, [.same(found.name), .text(" the " + NumberWords.ordinal(found.value))])
    }
}
