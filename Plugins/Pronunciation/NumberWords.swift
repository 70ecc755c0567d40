// SPDX-License-Identifier: Apache-2.0

/// English words for numbers, which are given as decimal digits of any length.
enum NumberWords {
    private static let ones = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ]
    private static let tens = [
        "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ]
    private static let scales = [
        "", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion", "septillion",
        "octillion", "nonillion", "decillion",
    ]
    private static let irregular = [
        "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
        "twelve": "twelfth",
    ]

    /// "one thousand two hundred and thirty-four". What has no name any more is told digit by digit.
    static func cardinal(_ digits: some StringProtocol) -> String {
        let digits = digits.drop { $0 == "0" }
        if digits.isEmpty { return ones[0] }
        var groups: [String] = []
        var rest = digits
        while !rest.isEmpty {
            let group = Int(rest.suffix(3)) ?? 0
            rest = rest.dropLast(3)
            guard groups.count < scales.count else { return each(digits) }
            groups.append(group == 0 ? "" : below(thousand: group) + (groups.isEmpty ? "" : " " + scales[groups.count]))
        }
        let last = groups[0]
        let named = groups.reversed().filter { !$0.isEmpty }
        // "one thousand and one"
        if named.count > 1, !last.isEmpty, !last.contains("hundred") {
            return named.dropLast().joined(separator: " ") + " and " + last
        }
        return named.joined(separator: " ")
    }

    /// The same of a number.
    static func cardinal(_ number: Int) -> String { cardinal("\(number)") }

    private static func below(thousand number: Int) -> String {
        var words: [String] = []
        let rest = number % 100
        if number >= 100 { words += [ones[number / 100], "hundred"] + (rest > 0 ? ["and"] : []) }
        if rest >= 20 {
            words.append(tens[rest / 10] + (rest % 10 > 0 ? "-" + ones[rest % 10] : ""))
        } else if rest > 0 {
            words.append(ones[rest])
        }
        return words.joined(separator: " ")
    }

    /// "four two": each digit.
    static func each(_ digits: some StringProtocol) -> String {
        digits.compactMap(\.wholeNumberValue).map { ones[$0] }.joined(separator: " ")
    }

    /// "twenty-third", "one hundred and first".
    static func ordinal(_ digits: some StringProtocol) -> String {
        let words = cardinal(digits)
        let cut = words.lastIndex { $0 == " " || $0 == "-" }.map { words.index(after: $0) } ?? words.startIndex
        let last = String(words[cut...])
        if let word = irregular[last] { return words[..<cut] + word }
        return words[..<cut] + (last.hasSuffix("y") ? last.dropLast() + "ieth" : last + "th")
    }

    /// The same of a number.
    static func ordinal(_ number: Int) -> String { ordinal("\(number)") }

    /// "nineteen oh-five", "two thousand and five", "twenty ten".
    static func year(_ digits: some StringProtocol) -> String {
        let year = Int(digits) ?? 0
        let (high, low) = (year / 100, year % 100)
        if high == 0 || high >= 100 || high % 10 == 0 && low < 10 { return cardinal(digits) }
        return cardinal(high) + " " + (low == 0 ? "hundred" : low < 10 ? "oh-" + cardinal(low) : cardinal(low))
    }

    /// "three point one four": without the zeros at its end.
    static func decimal(_ text: some StringProtocol) -> String {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var fraction = parts.count > 1 ? parts[1][...] : ""
        while fraction.hasSuffix("0") { fraction = fraction.dropLast() }
        return cardinal(parts[0]) + (fraction.isEmpty ? "" : " point " + each(fraction))
    }

    /// What a Roman numeral is; nil: it is none, or not as Romans write it, or above 399.
    static func roman(_ letters: some Collection<Unicode.Scalar>) -> Int? {
        var rest = letters[...]
        var total = 0
        for (one, five, ten, value) in [("C", "D", "M", 100), ("X", "L", "C", 10), ("I", "V", "X", 1)]
            as [(Unicode.Scalar, Unicode.Scalar, Unicode.Scalar, Int)]
        {
            func take(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
                guard rest.starts(with: [first, second]) else { return false }
                rest = rest.dropFirst(2)
                return true
            }
            if take(one, ten) {
                total += 9 * value
            } else if take(one, five) {
                total += 4 * value
            } else {
                if rest.first == five {
                    total += 5 * value
                    rest = rest.dropFirst()
                }
                for _ in 0..<3 where rest.first == one {
                    total += value
                    rest = rest.dropFirst()
                }
            }
        }
        return rest.isEmpty && total > 0 && letters.first != "D" ? total : nil
    }
}
