// SPDX-License-Identifier: Apache-2.0

/// Reads a written text that comes in pieces of any size, and gives what of it is spoken: without the marks of Markdown
/// (CommonMark 0.31, and the tables, strikethrough, task lists and footnotes of GitHub). What is decided only by what
/// follows is held back, within a line at most.
public struct Markdown: Sendable {
    /// What a text is, by which some marks are for the eye or not.
    public enum Kind: Sendable {
        /// What a language model writes: code, tables and addresses are for the eye, too.
        case answer
        /// What somebody wants to have read: only emphasis, headings, bullets, rules and links are taken for marks.
        case text
    }

    /// What a line is held back for at most.
    static let longest = 2000

    let kind: Kind
    /// Scalars that are not decided yet, those before `place` are; `base`: scalars of the text before them.
    var waiting: [Unicode.Scalar] = []
    var place = 0
    private var base = 0
    /// Whether nothing follows.
    var isWhole = false
    var spoken = SpokenText()
    /// The scalar before `place`.
    var before: Unicode.Scalar?
    var isLineStart = true
    var isHeading = false
    var isTable = false
    /// Whether something of the line was spoken, since the last cell in a table.
    var hasSpoken = false
    /// The emphasis that is open: its mark, and how many of them.
    var open: [(mark: Unicode.Scalar, count: Int)] = []
    /// The fence of the code that is open.
    private var fence: (mark: Unicode.Scalar, count: Int)?

    /// Before anything has come.
    public init(_ kind: Kind) { self.kind = kind }

    /// A whole text.
    public static func read(_ text: String, as kind: Kind) -> SpokenText {
        var markdown = Markdown(kind)
        var result = markdown.take(text)
        result.append(markdown.finish())
        return result
    }

    /// Takes what follows; what is known to be spoken of it.
    public mutating func take(_ text: some StringProtocol) -> SpokenText {
        waiting.append(contentsOf: text.unicodeScalars)
        return work()
    }

    /// Nothing more comes: what is left.
    public mutating func finish() -> SpokenText {
        isWhole = true
        return work()
    }

    private mutating func work() -> SpokenText {
        while place < waiting.count, isLineStart ? readLineStart() : readInline() {}
        waiting.removeFirst(place)
        base += place
        place = 0
        defer { spoken = SpokenText() }
        return spoken
    }

    // MARK: Moves

    /// The scalar so many places ahead.
    func ahead(_ count: Int) -> Unicode.Scalar? {
        place + count < waiting.count ? waiting[place + count] : nil
    }

    /// Whether what stands behind the newest scalar could still change what is before it.
    func mustWait(from start: Int) -> Bool { !isWhole && waiting.count - start < Self.longest }

    /// Goes on without saying what stands there.
    mutating func skip(_ count: Int) {
        if count > 0 { before = waiting[place + count - 1] }
        place += count
    }

    /// Says what stands there.
    mutating func say(_ count: Int) {
        for index in place..<place + count { say(waiting[index], at: index) }
        skip(count)
    }

    /// Says something for what stands at a place.
    mutating func say(_ scalar: Unicode.Scalar, at index: Int) {
        if !scalar.properties.isWhitespace { hasSpoken = true }
        spoken.append(scalar, from: base + index)
    }

    /// Says a part as if it were a text of its own.
    mutating func sayInline(_ range: Range<Int>) {
        var part = Markdown(kind)
        part.isLineStart = false
        part.isWhole = true
        part.waiting = Array(waiting[range])
        part.base = base + range.lowerBound
        part.before = " "
        while part.place < part.waiting.count, part.readInline() {}
        spoken.append(part.spoken)
        hasSpoken = hasSpoken || !part.spoken.isEmpty
    }

    /// The end of the line, without its mark; nil: it has not come.
    func lineEnd(from start: Int) -> Int? {
        waiting[start...].firstIndex(where: \.isNewline) ?? (mustWait(from: place) ? nil : waiting.count)
    }

    // MARK: Lines

    /// Reads what a line begins with. False: more must come first.
    private mutating func readLineStart() -> Bool {
        if fence != nil { return readFenced() }
        var index = place
        while index < waiting.count, waiting[index] == " " || waiting[index] == "\t" { index += 1 }
        guard index < waiting.count else {
            if isWhole { skip(index - place) }
            return isWhole
        }
        let mark = waiting[index]
        if mark.isNewline {
            // A paragraph has ended.
            (open, isTable) = ([], false)
            say(index + 1 - place)
            return true
        }
        guard let isRule = isRule(from: index) else { return false }
        if isRule {
            guard let end = lineEnd(from: index) else { return false }
            skip(end - place)
            if place < waiting.count { skip(1) }
            return true
        }
        if mark == "`" || mark == "~", let isFence = readFence(at: index) { return isFence }
        if mark == "#" {
            var end = index
            while end < waiting.count, waiting[end] == "#" { end += 1 }
            if end == waiting.count, !isWhole { return false }
            let isSpaced = end < waiting.count && (waiting[end] == " " || waiting[end] == "\t")
            if isSpaced, end + 1 == waiting.count, !isWhole { return false }
            // "# 1" is "number 1" in a text.
            let isNumber = end + 1 < waiting.count && waiting[end + 1].isDigit && kind == .text
            if end - index <= 6, isSpaced, !isNumber {
                skip(end + 1 - place)
                isHeading = true
                isLineStart = false
                return true
            }
        }
        if mark == ">", kind == .answer {
            skip(index + 1 - place)
            return true
        }
        if isBullet(mark) {
            guard index + 1 < waiting.count || isWhole else { return false }
            if index + 1 < waiting.count, waiting[index + 1] == " " || waiting[index + 1] == "\t" {
                return readBullet(at: index)
            }
        }
        if mark == "|", kind == .answer {
            isTable = true
            skip(index + 1 - place)
        }
        beginLine()
        return true
    }

    private mutating func beginLine() {
        isLineStart = false
        hasSpoken = false
    }

    private func isBullet(_ mark: Unicode.Scalar) -> Bool {
        switch mark {
        case "*", "\u{2022}", "\u{25E6}", "\u{2023}", "\u{25AA}": true
        // What a text means by these may be said.
        case "-", "+": kind == .answer
        default: false
        }
    }

    /// The bullet, and the box of a task.
    private mutating func readBullet(at index: Int) -> Bool {
        let box = index + 2
        if box < waiting.count, waiting[box] == "[" {
            guard box + 3 < waiting.count || isWhole else { return false }
            let isBox =
                box + 3 < waiting.count && " xX".unicodeScalars.contains(waiting[box + 1])
                && waiting[box + 2] == "]" && waiting[box + 3] == " "
            if isBox {
                skip(box + 4 - place)
                return true
            }
        } else if box == waiting.count, !isWhole {
            return false
        }
        skip(box - place)
        return true
    }

    /// Whether the line consists of marks alone: a rule, the line under a heading, or that under the heads of a table; nil:
    /// not known yet.
    private func isRule(from start: Int) -> Bool? {
        var marks: [Unicode.Scalar] = []
        var index = start
        while index < waiting.count, !waiting[index].isNewline {
            let scalar = waiting[index]
            guard "-*_=|:+ \t".unicodeScalars.contains(scalar) else { return false }
            if scalar != " ", scalar != "\t" { marks.append(scalar) }
            index += 1
        }
        if index == waiting.count, mustWait(from: place) { return nil }
        let isTable = kind == .answer && marks.contains("|") && marks.contains("-")
        if isTable { return true }
        let least = marks.first == "=" ? 2 : 3
        let isEmpty = kind == .answer && marks.count == 1 && "-*".unicodeScalars.contains(marks[0])
        let isSame = marks.allSatisfy { $0 == marks[0] && "-*_=".unicodeScalars.contains($0) }
        return isEmpty || marks.count >= least && isSame
    }

    /// The beginning of code that is fenced; nil: it is none. False: more must come first.
    private mutating func readFence(at index: Int) -> Bool? {
        let mark = waiting[index]
        var end = index
        while end < waiting.count, waiting[end] == mark { end += 1 }
        if end == waiting.count, !isWhole { return false }
        guard end - index >= 3 else { return nil }
        guard let lineEnd = lineEnd(from: end) else { return false }
        if mark == "`", waiting[end..<lineEnd].contains("`") { return nil }
        fence = (mark, end - index)
        skipLine(lineEnd)
        return true
    }

    private mutating func skipLine(_ end: Int) {
        skip(end - place)
        if place < waiting.count { skip(1) }
    }

    /// A line of code, which an answer shows and a text has read.
    private mutating func readFenced() -> Bool {
        guard let fence, let end = lineEnd(from: place) else { return false }
        let line = waiting[place..<end].drop { $0 == " " || $0 == "\t" }
        let marks = line.prefix { $0 == fence.mark }
        if marks.count >= fence.count, line.dropFirst(marks.count).allSatisfy(\.properties.isWhitespace) {
            self.fence = nil
            skipLine(end)
        } else if kind == .answer {
            skipLine(end)
        } else {
            say(min(end + 1, waiting.count) - place)
        }
        return true
    }
}
