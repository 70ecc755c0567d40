// SPDX-License-Identifier: Apache-2.0

/// Whether a number begins here that is not the end of another one, or of a word.
private func startsNumber(_ scan: TextScan) -> Bool { scan.startsWord && scan.before != "." }

/// Times, amounts and other numbers with something.
extension Normalizer {
    private static let scales = ["hundred", "thousand", "million", "billion", "trillion"]
    private static let fractions = [
        2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth",
    ]

    private func plural(_ number: String, _ words: [String]) -> String {
        ["1", "1.0", "-1"].contains(number.filter { $0 != "," }) ? words[0] : words[1]
    }

    /// As in 9:30am and 17:05:20.
    func time(_ scan: TextScan) -> Found {
        var scan = scan
        guard scan.startsWord, let hours = scan.digits(1, 2), scan.take(":"), let minutes = scan.digits(2, 2) else {
            return nil
        }
        var seconds: String?
        var after = scan
        if after.take(":"), let found = after.digits(2, 2), after.next?.isDigit != true {
            seconds = found
            scan = after
        }
        guard scan.next?.isDigit != true else { return nil }
        var half: Unicode.Scalar?
        if let (letter, end) = halfOfDay(scan) {
            half = letter
            scan.place = end
        }
        guard let hour = Int(hours), let minute = Int(minutes), hour <= 24, minute < 60, Int(seconds ?? "0")! < 60
        else {
            return (scan.place, [.same(scan.start..<scan.place)])
        }
        var words = NumberWords.cardinal(hour)
        if minute > 0 {
            words += (minute < 10 ? " oh " : " ") + NumberWords.cardinal(minute)
        } else if half == nil, seconds == nil {
            words += " o'clock"
        }
        if let seconds, let count = Int(seconds) {
            words += " and \(NumberWords.cardinal(count)) second" + (count == 1 ? "" : "s")
        }
        // With points the letters are spelled.
        if let half { words += " \(half.properties.uppercaseMapping).M" + (scan.next == "." ? "" : ".") }
        return (scan.place, [.text(words)])
    }

    /// am or pm in any of its forms, and where it ends.
    private func halfOfDay(_ scan: TextScan) -> (Unicode.Scalar, Int)? {
        var scan = scan
        _ = scan.takeSpace()
        guard let letter = scan.take(where: { "AaPp".unicodeScalars.contains($0) }) else { return nil }
        _ = scan.take(".")
        guard scan.take("m") || scan.take("M") else { return nil }
        func isLetter(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { $0.isLetter && $0.isASCII } ?? false }
        var after = scan
        if after.take("."), !isLetter(after.next), after.next?.isDigit != true { return (letter, after.place) }
        return isLetter(scan.next) || scan.next?.isDigit == true ? nil : (letter, scan.place)
    }

    /// As in $3.2 billion and £5m.
    func amountInWords(_ scan: TextScan) -> Found {
        guard let sign = scan.next, "$£€".unicodeScalars.contains(sign), let names = money["\(sign)"] else {
            return nil
        }
        var scan = scan
        scan.place += 1
        let begin = scan.place
        guard scan.number() != nil, case let end = scan.place, let scale = scale(&scan) else { return nil }
        return (scan.place, [.same(begin..<end), .text(" \(scale) \(names[1])")])
    }

    /// A thousand and more, in words or by a letter.
    private func scale(_ scan: inout TextScan) -> String? {
        var after = scan
        _ = after.takeSpace()
        var found = after.takeFirst(of: Self.scales)
        if found == nil, let letter = after.take(where: { "kKmMbB".unicodeScalars.contains($0) }), after.endsWord {
            found = ["k": "thousand", "m": "million", "b": "billion"][letter.properties.lowercaseMapping]
        }
        if found != nil { scan = after }
        return found
    }

    func cents(_ scan: TextScan) -> Found {
        var scan = scan
        guard startsNumber(scan), let number = scan.number(), case let end = scan.place, let names = money["¢"] else {
            return nil
        }
        _ = scan.takeSpace()
        guard scan.take("¢") else { return nil }
        return (scan.place, [.same(scan.start..<end), .text(" " + plural(number, names))])
    }

    /// Of currencies that no rule of numbers knows.
    func otherMoney(_ scan: TextScan) -> Found {
        guard scan.startsWord else { return nil }
        var scan = scan
        guard let sign = scan.takeFirst(of: ["¥", "₹", "₩", "Rs.", "Rs", "USD", "EUR", "GBP"]),
            let names = money[sign.filter { $0 != "." }]
        else { return nil }
        _ = scan.takeSpace()
        let begin = scan.place
        guard let number = scan.number() else { return nil }
        let end = scan.place
        let scale = scale(&scan).map { " \($0) \(names[1])" }
        return (scan.place, [.same(begin..<end), .text(scale ?? " " + plural(number, names))])
    }

    /// A number that may be negative, and where it ends.
    private func signed(_ scan: inout TextScan) -> String? {
        guard startsNumber(scan) else { return nil }
        let isNegative = scan.take("-")
        return scan.number().map { isNegative ? "-" + $0 : $0 }
    }

    func degrees(_ scan: TextScan) -> Found {
        var scan = scan
        guard let number = signed(&scan), case let end = scan.place else { return nil }
        _ = scan.takeSpace()
        guard scan.take("°") else { return nil }
        let degrees = " " + plural(number, ["degree", "degrees"])
        for hasSpace in [true, false] {
            var after = scan
            if hasSpace, !after.takeSpace() { continue }
            if let letter = after.take(where: { $0 == "C" || $0 == "F" }), after.endsWord {
                let name = letter == "C" ? " Celsius" : " Fahrenheit"
                return (after.place, [.same(scan.start..<end), .text(degrees + name)])
            }
        }
        return scan.endsWord ? (scan.place, [.same(scan.start..<end), .text(degrees)]) : nil
    }

    func unit(_ scan: TextScan) -> Found {
        var scan = scan
        guard let number = signed(&scan), case let end = scan.place else { return nil }
        _ = scan.takeSpace()
        func found(_ names: [String]) -> Found {
            (scan.place, [.same(scan.start..<end), .text(" " + plural(number, names))])
        }
        if let unit = scan.takeFirst(of: unitNames, where: \.endsWord), let names = units[unit] { return found(names) }
        // The sign and the Greek letter.
        guard scan.take("µ") || scan.take("μ"), let unit = scan.take(where: { Self.small[$0] != nil }), scan.endsWord,
            let name = Self.small[unit]
        else { return nil }
        return found(["micro" + name, "micro" + name + "s"])
    }

    /// Of which there are micrometers and so on.
    private static let small: [Unicode.Scalar: String] = [
        "m": "meter", "s": "second", "g": "gram", "l": "liter", "L": "liter", "F": "farad", "V": "volt", "A": "ampere",
        "W": "watt",
    ]

    /// Digit by digit, with a pause at each hyphen.
    func phone(_ scan: TextScan) -> Found {
        guard startsNumber(scan), scan.before != "-", scan.next?.isDigit == true else { return nil }
        for groups in [[3, 3, 4], [3, 4]] {
            var after = scan
            let isNumber = groups.enumerated().allSatisfy { index, count in
                (index == 0 || after.take("-")) && after.digits(count, count) != nil
            }
            guard isNumber, after.endsWord, after.next != ".", after.next != "-" else { continue }
            let digits = after.read.unicodeScalars.map { $0 == "-" ? "," : String($0) }
            return (after.place, [.text(digits.joined(separator: " "))])
        }
        return nil
    }

    func fraction(_ scan: TextScan) -> Found {
        var scan = scan
        guard startsNumber(scan), scan.before != "/", let upper = scan.digits(1, 2), scan.take("/"),
            let lower = scan.digits(1, 2), scan.endsWord, scan.next != ".", scan.next != "/",
            let above = Int(upper), let below = Int(lower)
        else { return nil }
        func found(_ text: String) -> Found { (scan.place, [.text(text)]) }
        if above > 0, above < below, let name = Self.fractions[below] {
            if below == 2 { return found("one half") }
            return found("\(upper) \(name)" + (above == 1 ? "" : "s"))
        }
        return found(date(month: above, day: below) ?? "\(upper) slash \(lower)")
    }

    func range(_ scan: TextScan) -> Found {
        var scan = scan
        guard startsNumber(scan), scan.before != "-", scan.digits(1, 4) != nil, case let end = scan.place else {
            return nil
        }
        _ = scan.takeSpace()
        guard scan.take("-") || scan.take("–") else { return nil }
        _ = scan.takeSpace()
        let begin = scan.place
        guard scan.digits(1, 4) != nil, scan.endsWord,
            !(scan.next.map { ".-%".unicodeScalars.contains($0) } ?? false)
        else { return nil }
        return (scan.place, [.same(scan.start..<end), .text(" to "), .same(begin..<scan.place)])
    }

    // MARK: dates

    /// As in "October twelfth"; nil: there is no such day.
    private func date(month: Int, day: Int, year: String? = nil) -> String? {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let name = months.values.first { Self.number(ofMonth: $0) == month } ?? ""
        return "\(name) \(NumberWords.ordinal(day))" + (year.map { ", \($0)" } ?? "")
    }

    private static func number(ofMonth name: String) -> Int {
        let order = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return (order.firstIndex(of: String(name.lowercased().prefix(3))) ?? -1) + 1
    }

    func isoDate(_ scan: TextScan) -> Found {
        var scan = scan
        guard scan.startsWord, let year = scan.digits(4, 4), scan.take("-"), let month = scan.digits(2, 2),
            scan.take("-"),
            let day = scan.digits(2, 2), scan.endsWord,
            let date = date(month: Int(month) ?? 0, day: Int(day) ?? 0, year: year)
        else { return nil }
        return (scan.place, [.text(date)])
    }

    /// The month first, as Americans write it, or the day as Britons do, where it can be one.
    func slashedDate(_ scan: TextScan) -> Found {
        var scan = scan
        guard scan.startsWord, let first = scan.digits(1, 2), scan.take("/"), let second = scan.digits(1, 2),
            scan.take("/"),
            let digits = scan.digits(2, 4), digits.utf8.count != 3, scan.endsWord, let a = Int(first),
            let b = Int(second)
        else { return nil }
        let year = digits.utf8.count == 4 ? digits : (Int(digits)! > 30 ? "19" : "20") + digits
        let isMonthFirst = accent == .american ? a <= 12 : b > 12
        let date = isMonthFirst ? date(month: a, day: b, year: year) : date(month: b, day: a, year: year)
        return date.map { (scan.place, [.text($0)]) }
    }

    func monthAndDay(_ scan: TextScan) -> Found {
        guard let next = scan.next, next.isCapital, scan.startsWord else { return nil }
        func isDay(_ scan: TextScan) -> Bool {
            var scan = scan
            _ = scan.take(".")
            return scan.take(" ") && scan.next?.isDigit == true
        }
        var after = scan
        guard let name = after.takeFirst(of: monthNames, where: isDay), let month = months[key(name)] else {
            return nil
        }
        _ = after.take(".")
        _ = after.take(" ")
        guard let digits = after.digits(1, 2), let day = Int(digits) else { return nil }
        _ = after.takeFirst(of: ["st", "nd", "rd", "th"])
        if let next = after.next, next.isOfWord || next == ":" || next == "%" { return nil }
        guard (1...31).contains(day) else { return (after.place, [.same(scan.place..<after.place)]) }
        return (after.place, [.text("\(month) \(NumberWords.ordinal(day))")])
    }

    func dayAndMonth(_ scan: TextScan) -> Found {
        guard scan.startsWord, let next = scan.next, next.isDigit || next == "t" else { return nil }
        var scan = scan
        _ = scan.take("the ")
        guard let digits = scan.digits(1, 2), scan.take(" ") else { return nil }
        _ = scan.take("of ")
        guard let name = scan.takeFirst(of: monthNames, where: \.endsWord), let month = months[key(name)],
            let day = Int(digits)
        else { return nil }
        _ = scan.take(".")
        guard (1...31).contains(day) else { return (scan.place, [.same(scan.start..<scan.place)]) }
        return (scan.place, [.text("the \(NumberWords.ordinal(day)) of \(month)")])
    }

    private func key(_ month: String) -> String { String(month.lowercased().prefix(3)) }
}
