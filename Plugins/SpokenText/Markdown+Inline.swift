// SPDX-License-Identifier: Apache-2.0

/// What stands within a line.
extension Markdown {
    /// Reads what comes next. False: more must come first.
    mutating func readInline() -> Bool {
        let scalar = waiting[place]
        if scalar.isNewline {
            say(1)
            (isLineStart, isHeading, isTable) = (true, false, false)
            return true
        }
        switch scalar {
        case "*", "_", "~": return readEmphasis()
        case "`": return readCode()
        case "[": return readBracket(at: place)
        case "!":
            guard let next = ahead(1) else { return waitOrSay() }
            if next == "[" { return readBracket(at: place + 1) }
        case "#" where isHeading && before?.properties.isWhitespace == true: return readHeadingEnd()
        default: break
        }
        guard kind == .answer else {
            say(1)
            return true
        }
        switch scalar {
        case "\\":
            guard let next = ahead(1) else { return waitOrSay() }
            if next.isNewline || next.value < 0x80 && next.isPunctuation {
                skip(1)
                if !next.isNewline { say(1) }
                return true
            }
        case "<": return readTag()
        case "&": return readEntity()
        case "|": return readCell()
        case " " where isTable:
            guard let next = ahead(1) else { return waitOrSay() }
            if next == "|" || next == " " {
                skip(1)
                return true
            }
        case "h", "H", "w", "W":
            if before?.isWordPart != true { return readAddress() }
        default: break
        }
        say(1)
        return true
    }

    /// What stands last is decided by what follows, if anything does.
    private mutating func waitOrSay() -> Bool {
        if !isWhole { return false }
        say(1)
        return true
    }

    // MARK: Emphasis

    /// Marks of emphasis, which are not spoken, or what only looks like them: "2 * 3", snake_case.
    private mutating func readEmphasis() -> Bool {
        let mark = waiting[place]
        var count = 1
        while ahead(count) == mark { count += 1 }
        let next = ahead(count)
        if next == nil, !isWhole { return false }
        let isSpaceBefore = before?.properties.isWhitespace ?? true
        let isSpaceBehind = next?.properties.isWhitespace ?? true
        let isOpen = open.contains { $0.mark == mark }
        if !isSpaceBefore, !isSpaceBehind, before!.isWordPart, next!.isWordPart {
            guard let isMark = isMarkWithin(mark, count, next!, isOpen) else { return false }
            if isMark { emphasize(mark, count, closes: isOpen) } else { say(count) }
        } else if !isSpaceBefore, isOpen, mark != "~" || count > 1 {
            emphasize(mark, count, closes: true)
        } else if !isSpaceBehind, opens(mark, count, next!) {
            emphasize(mark, count, closes: false)
        } else if !isSpaceBefore, count > 1, before != mark, mark != "_" {
            // Its beginning is not there.
            skip(count)
        } else {
            say(count)
        }
        return true
    }

    private func opens(_ mark: Unicode.Scalar, _ count: Int, _ next: Unicode.Scalar) -> Bool {
        switch mark {
        case "~": count > 1
        case "_": before?.isWordPart != true
        // An operator.
        default: count > 1 || !(before?.isWordPart ?? false) && !"=/<>".unicodeScalars.contains(next)
        }
    }

    /// The same within a word; nil: the word has not come to its end.
    private func isMarkWithin(_ mark: Unicode.Scalar, _ count: Int, _ next: Unicode.Scalar, _ isOpen: Bool) -> Bool? {
        if mark == "_" || mark == "~" && count == 1 { return false }
        if before!.numericType != nil || next.numericType != nil, before!.value < 0x80, next.value < 0x80, !isOpen {
            return false
        }
        if before!.isDigit, next.isDigit { return false }
        if isOpen || count > 1 { return true }
        // Another one must end it, behind more than a letter.
        var index = place + count
        while index < waiting.count, !waiting[index].properties.isWhitespace, waiting[index] != mark { index += 1 }
        if index == waiting.count { return mustWait(from: place) ? nil : false }
        return waiting[index] == mark && index - place - count > 1
    }

    private mutating func emphasize(_ mark: Unicode.Scalar, _ count: Int, closes: Bool) {
        if closes {
            var rest = count
            while rest > 0, let last = open.lastIndex(where: { $0.mark == mark }) {
                let closed = min(rest, open[last].count)
                open[last].count -= closed
                rest -= closed
                if open[last].count == 0 { open.remove(at: last) }
            }
        } else if open.count < 64 {
            open.append((mark, count))
        }
        // What stands before the next scalar is what stood before the marks, or nothing.
        let outside = before
        skip(count)
        if !closes { before = outside ?? " " }
    }

    private mutating func readHeadingEnd() -> Bool {
        var count = 1
        while ahead(count) == "#" || ahead(count) == " " { count += 1 }
        if ahead(count) == nil, !isWhole { return false }
        if ahead(count)?.isNewline ?? true { skip(count) } else { say(1) }
        return true
    }

    // MARK: Code, cells

    /// Code within a line: what it says, without its marks.
    private mutating func readCode() -> Bool {
        var count = 1
        while ahead(count) == "`" { count += 1 }
        if ahead(count) == nil, !isWhole { return false }
        var index = place + count
        while index < waiting.count, !waiting[index].isNewline {
            var end = index
            while end < waiting.count, waiting[end] == "`" { end += 1 }
            if end - index == count, end < waiting.count || isWhole {
                skip(count)
                say(index - place)
                skip(count)
                return true
            }
            index = max(end, index + 1)
        }
        if index == waiting.count, mustWait(from: place) { return false }
        skip(count)
        return true
    }

    /// A border between two cells, or a mark between two words.
    private mutating func readCell() -> Bool {
        let isBetween = before?.properties.isWhitespace == true
        guard let next = ahead(1) else { return waitOrSay() }
        guard isTable || isBetween && next.properties.isWhitespace else {
            say(1)
            return true
        }
        var count = 1
        while let next = ahead(count), next == " " || next == "\t" { count += 1 }
        if ahead(count) == nil, !isWhole { return false }
        let isEnd = ahead(count)?.isNewline ?? true
        if !isEnd, hasSpoken {
            say(",", at: place)
            say(" ", at: place)
        }
        hasSpoken = false
        skip(count)
        before = " "
        return true
    }
}

extension Unicode.Scalar {
    fileprivate var numericType: Unicode.NumericType? { properties.numericType }
}
