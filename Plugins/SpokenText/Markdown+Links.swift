// SPDX-License-Identifier: Apache-2.0

/// Links, addresses, and what HTML is in a line.
extension Markdown {
    /// Where a bracket that opens at a place closes, with all in it; nil: it does not, on this line.
    private func closing(from start: Int, _ opens: Unicode.Scalar, _ closes: Unicode.Scalar) -> Int? {
        var depth = 0
        var index = start
        while index < waiting.count, !waiting[index].isNewline, index - start < Self.longest {
            if waiting[index] == "\\" {
                index += 2
                continue
            }
            if waiting[index] == opens { depth += 1 }
            if waiting[index] == closes {
                depth -= 1
                if depth == 0 { return index }
            }
            index += 1
        }
        return nil
    }

    /// Whether it may close in what has not come yet.
    private func mayClose(from start: Int) -> Bool {
        mustWait(from: place) && !waiting[start...].contains(where: \.isNewline)
    }

    /// A link or an image, of which the text is spoken, or a footnote, of which nothing is; else a bracket.
    mutating func readBracket(at start: Int) -> Bool {
        guard let end = closing(from: start, "[", "]") else {
            if mayClose(from: start) { return false }
            say(start + 1 - place)
            return true
        }
        guard end + 1 < waiting.count || isWhole else { return false }
        let follows = end + 1 < waiting.count ? waiting[end + 1] : nil
        let text = start + 1..<end
        if kind == .answer, text.count > 1, waiting[start + 1] == "^" {
            let isDefinition = follows == ":"
            skip(end + (isDefinition ? 2 : 1) - place)
            return true
        }
        var last: Int?
        if follows == "(" {
            last = closing(from: end + 1, "(", ")")
        } else if follows == "[", kind == .answer {
            last = closing(from: end + 1, "[", "]")
        } else if follows == ":", kind == .answer, !hasSpoken {
            guard let lineEnd = lineEnd(from: end) else { return false }
            // It says where a link of that name leads to.
            let target = waiting[(end + 2)..<max(end + 2, lineEnd)].drop { $0 == " " }
            if target.first == "<" || isAddress(target) {
                skip(lineEnd - place)
                return true
            }
        }
        guard let last else {
            if follows == "(" || follows == "[", mayClose(from: end + 1) { return false }
            say(start + 1 - place)
            return true
        }
        sayInline(text)
        skip(last + 1 - place)
        return true
    }

    // MARK: Addresses

    private static let schemes = ["https://", "http://", "www."].map { Array($0.unicodeScalars) }

    private func isAddress(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        Self.schemes.contains { scheme in
            text.count > scheme.count && zip(text, scheme).allSatisfy { Self.lower($0) == $1 }
        }
    }

    /// Of ASCII.
    private static func lower(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value | 32)) : scalar
    }

    /// An address, of which its host is spoken; else a letter.
    mutating func readAddress() -> Bool {
        let text = waiting[place...]
        let mayBe = Self.schemes.contains { scheme in
            text.count <= scheme.count && zip(text, scheme).allSatisfy { Self.lower($0) == $1 }
        }
        if mayBe, !isWhole { return false }
        guard isAddress(text) else {
            say(1)
            return true
        }
        var end =
            text.firstIndex {
                $0.properties.isWhitespace || $0.value >= 0x80 || "<>\"`|[]*".unicodeScalars.contains($0)
            } ?? waiting.count
        if end == waiting.count, mustWait(from: place) { return false }
        while end > place, ".,;:!?'_~)".unicodeScalars.contains(waiting[end - 1]) {
            // A bracket that the address itself opens belongs to it.
            if waiting[end - 1] == ")", waiting[place..<end].contains("(") { break }
            end -= 1
        }
        sayHost(place..<end)
        skip(end - place)
        return true
    }

    /// Says where an address leads to.
    private mutating func sayHost(_ range: Range<Int>) {
        let text = waiting[range]
        var start = range.lowerBound
        if let slashes = text.indices.dropLast(2).first(where: {
            text[$0] == ":" && text[$0 + 1] == "/" && text[$0 + 2] == "/"
        }) {
            start = slashes + 3
        }
        let end = waiting[start..<range.upperBound].firstIndex { "/?#".unicodeScalars.contains($0) } ?? range.upperBound
        if let user = waiting[start..<end].lastIndex(of: "@") { start = user + 1 }
        if waiting[start..<end].starts(with: "www.".unicodeScalars), end - start > 4 { start += 4 }
        for index in start..<end { say(waiting[index], at: index) }
    }

    // MARK: HTML

    private static let tags: Set<String> = [
        "a", "abbr", "b", "big", "blockquote", "br", "center", "cite", "code", "del", "details", "dd", "div", "dl",
        "dt", "em", "font", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol",
        "p", "pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody",
        "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var", "wbr",
    ]
    /// Those between words.
    private static let inWords: Set<String> = ["a", "b", "i", "u", "s", "em", "strong", "sub", "sup", "span", "wbr"]

    /// A tag, a comment, or an address in angle brackets; else a mark.
    mutating func readTag() -> Bool {
        guard let next = ahead(1) else {
            if !isWhole { return false }
            say(1)
            return true
        }
        let isComment = next == "!" && (ahead(2) ?? "-") == "-"
        guard next.properties.isAlphabetic || next == "/" || isComment else {
            say(1)
            return true
        }
        let line = waiting[place...].prefix(300).prefix { !$0.isNewline }
        guard let end = line.firstIndex(of: ">") else {
            let isCut = line.endIndex == waiting.count && line.count < 300
            if isCut, mustWait(from: place) { return false }
            say(1)
            return true
        }
        let inside = waiting[place + 1..<end]
        let name = String(
            String.UnicodeScalarView(inside.drop { $0 == "/" }.prefix { $0.isWordPart })
        ).lowercased()
        if isAddress(inside) {
            sayHost(place + 1..<end)
        } else if inside.contains("@"), !inside.contains(where: \.properties.isWhitespace) {
            for index in place + 1..<end { say(waiting[index], at: index) }
        } else if Self.tags.contains(name) {
            if !Self.inWords.contains(name) { say(" ", at: place) }
        } else if !isComment {
            say(1)
            return true
        }
        skip(end + 1 - place)
        return true
    }

    private static let entities: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ndash": "\u{2013}",
        "mdash": "\u{2014}", "hellip": "\u{2026}", "euro": "\u{20AC}", "deg": "\u{B0}", "times": "\u{D7}",
    ]

    /// A character by its name or number; else a mark.
    mutating func readEntity() -> Bool {
        var count = 1
        while let next = ahead(count), count < 10, next.isWordPart || next == "#" { count += 1 }
        if ahead(count) == nil, !isWhole { return false }
        if ahead(count) == ";" {
            let name = String(String.UnicodeScalarView(waiting[place + 1..<place + count]))
            let number =
                name.hasPrefix("#x") || name.hasPrefix("#X")
                ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            if let scalar = Self.entities[name] ?? number.flatMap(Unicode.Scalar.init), scalar.value >= 32 {
                say(scalar, at: place)
                skip(count + 1)
                return true
            }
        }
        say(1)
        return true
    }
}
