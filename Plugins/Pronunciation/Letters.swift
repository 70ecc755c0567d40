// SPDX-License-Identifier: Apache-2.0

/// Text as its scalars: rules count and cut it by these.
typealias Scalars = [Unicode.Scalar]

extension Unicode.Scalar {
    /// 0 to 9.
    var isDigit: Bool { ("0"..."9").contains(self) }

    /// Of any alphabet.
    var isLetter: Bool {
        isASCII
            ? ("a"..."z").contains(self) || ("A"..."Z").contains(self)
            : Self.letters.contains(properties.generalCategory)
    }

    private static let letters: Set<Unicode.GeneralCategory> = [
        .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
    ]

    /// Of the Latin alphabet with what was added to it, or what only changes a letter.
    var isLatin: Bool {
        value < 0x250 || (0x1E00..<0x1F00).contains(value) || properties.generalCategory == .modifierLetter
    }

    /// A letter, or a number that is no digit, as ² is.
    var isWordLetter: Bool { isLetter || !isASCII && properties.numericType != nil }

    /// What words consist of.
    var isOfWord: Bool { isWordLetter || isDigit || self == "_" }

    /// A capital of Latin-1.
    var isCapital: Bool { ("A"..."Z").contains(self) || ("À"..."Þ").contains(self) && self != "×" }

    /// A small letter of Latin-1.
    var isSmall: Bool { ("a"..."z").contains(self) || ("ß"..."ÿ").contains(self) && self != "÷" }

    var isSpace: Bool { properties.isWhitespace }

    /// ' or what is typed or typeset for it.
    var isApostrophe: Bool { self == "'" || self == "‘" || self == "’" }
}

extension String {
    var scalars: Scalars { Array(unicodeScalars) }

    init(_ scalars: some Sequence<Unicode.Scalar>) {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        self.init(text)
    }

    /// With plain digits and letters in place of those of other widths and heights (a part of Unicode's NFKC).
    var compatible: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return String(
            unicodeScalars.flatMap { scalar -> Scalars in
                if (0xFF01...0xFF5E).contains(scalar.value) { return [Unicode.Scalar(scalar.value - 0xFEE0)!] }
                switch scalar {
                case "…": return "...".scalars
                case "ﬁ": return "fi".scalars
                case "ﬂ": return "fl".scalars
                case "ﬀ": return "ff".scalars
                case "ª": return ["a"]
                case "º": return ["o"]
                default: break
                }
                guard scalar.properties.numericType == .digit || scalar.properties.numericType == .decimal,
                    let value = scalar.properties.numericValue
                else { return [scalar] }
                return "\(Int(value))".scalars
            })
    }

    /// Not empty, and letters only.
    var isLetters: Bool { !isEmpty && unicodeScalars.allSatisfy(\.isLetter) }

    /// Not empty, and 0 to 9 only.
    var isDigits: Bool { !utf8.isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// Without this many scalars at its end.
    func without(last count: Int) -> String { String(unicodeScalars.dropLast(count)) }

    /// Its last scalars.
    func last(_ count: Int) -> String { String(unicodeScalars.suffix(count)) }

    /// The first letter as a capital, the others small.
    var capitalizedWord: String {
        guard let first = unicodeScalars.first else { return self }
        return first.properties.titlecaseMapping + String(unicodeScalars.dropFirst()).lowercased()
    }

    /// Whether there are letters that can be capitals, and all of them are small.
    var isAllSmall: Bool { self == lowercased() && self != uppercased() }

    /// Whether there are letters that can be small, and all of them are capitals.
    var isAllCapitals: Bool { self == uppercased() && self != lowercased() }
}
