// SPDX-License-Identifier: Apache-2.0

extension SpokenText {
    /// A line that is at least so long may have been broken where it was full, in the middle of a sentence.
    private static let full = 40
    /// Without one of these, and in one line, a text is spoken as it stands.
    private static let marks = Set("*_`#[~\u{2022}\u{25E6}\u{2023}\u{25AA}-=".unicodeScalars)

    /// A text that is read aloud, without marks of emphasis and the like; a line that ends without a mark is followed by a
    /// pause, if it was not broken because the next word had no room.
    public init(reading text: String) {
        guard text.unicodeScalars.contains(where: { $0.isNewline || Self.marks.contains($0) }) else {
            self.init(asWritten: text)
            return
        }
        self = Markdown.read(text, as: .text).withPauses
    }

    private var withPauses: SpokenText {
        var result = SpokenText()
        var start = 0
        var longest = longestLine(from: 0)
        for index in scalars.indices {
            if scalars[index].isNewline, index >= start {
                let isPair = scalars[index] == "\r" && index + 1 < count && scalars[index + 1] == "\n"
                let next = index + (isPair ? 2 : 1)
                let line = start..<index
                if endsOpen(line), next < count, !scalars[next].isNewline, !isFull(line, next, longest) {
                    result.append(".", from: nil)
                }
                // Behind an empty line another paragraph begins.
                if scalars[line].allSatisfy(\.properties.isWhitespace) { longest = longestLine(from: next) }
                start = next
            }
            result.append(scalars[index], from: origins[index])
        }
        return result
    }

    /// Of the paragraph that begins there.
    private func longestLine(from start: Int) -> Int {
        var (longest, length) = (0, 0)
        for index in start..<max(start, count) {
            length += 1
            if !scalars[index].isNewline { continue }
            if length == 1 { break }
            longest = max(longest, length - 1)
            length = 0
        }
        return max(longest, length)
    }

    /// Whether a line ends with a letter or a number, and not with a mark.
    private func endsOpen(_ line: Range<Int>) -> Bool {
        guard let last = scalars[line].last(where: { !$0.properties.isWhitespace }) else { return false }
        return last.isWordPart || last.properties.generalCategory == .currencySymbol || last == "%" || last == ")"
    }

    /// Whether the next word had no room on a line.
    private func isFull(_ line: Range<Int>, _ next: Int, _ longest: Int) -> Bool {
        guard longest >= Self.full else { return false }
        let word = scalars[next...].prefix { !$0.properties.isWhitespace }.count
        return line.count + 1 + word > longest
    }
}
