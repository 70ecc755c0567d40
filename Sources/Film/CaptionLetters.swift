// SPDX-License-Identifier: Apache-2.0
import System
import Terminal

/// A text as captions show it, with white space as single blanks, and where it may be cut.
struct CaptionLetters {
    /// How well a caption ends at a place; higher is better.
    enum Cut: Int, Comparable {
        /// Between two words, or two letters of a script without blanks.
        case word
        /// Where Japanese begins a word more often than not: behind hiragana.
        case kana
        /// Behind a comma, or before a pause.
        case clause
        case sentence

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    let letters: [Character]
    /// Unicode scalars of the text before each letter, and of all of it.
    let offsets: [Int]
    /// Columns before each letter, and of all.
    private let widths: [Int]
    /// How well the text is cut before each letter; nil: not.
    private(set) var cuts: [Cut?]

    init(_ text: String) {
        var letters: [Character] = []
        var offsets: [Int] = []
        var offset = 0
        for letter in text {
            let isBlank = Self.isBlank(letter)
            if !isBlank {
                letters.append(letter)
                offsets.append(offset)
            } else if let last = letters.last, !Self.isBlank(last) {
                letters.append(letter.isNewline || letter == "\t" ? " " : letter)
                offsets.append(offset)
            }
            offset += letter.unicodeScalars.count
        }
        if let last = letters.last, Self.isBlank(last) {
            letters.removeLast()
            offsets.removeLast()
        }
        self.letters = letters
        self.offsets = offsets + [offset]
        widths = letters.reduce(into: [0]) { $0.append($0.last! + Terminal.columns(String($1))) }
        cuts = []
        cuts = letters.indices.map { cut(before: $0) }
    }

    /// Columns of some letters.
    func columns(_ range: Range<Int>) -> Int { widths[range.upperBound] - widths[range.lowerBound] }

    /// Without the blanks at both ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Self.isBlank(letters[start]) { start += 1 }
        while end > start, Self.isBlank(letters[end - 1]) { end -= 1 }
        return start..<end
    }

    /// The first letter or number of some letters.
    func word(in range: Range<Int>) -> Int? { range.first { letters[$0].isLetter || letters[$0].isNumber } }

    /// Whether a word begins at a letter, as far as blanks and scripts tell.
    func beginsWord(_ place: Int) -> Bool { place == 0 || Self.isBlank(letters[place - 1]) || isHan(place) }

    /// The letter at or behind a place of the text, in Unicode scalars.
    func place(of offset: Int) -> Int {
        var (low, high) = (0, letters.count)
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Makes a cut between words one before a pause.
    mutating func setPause(before place: Int) {
        if cuts.indices.contains(place), let cut = cuts[place] { cuts[place] = max(cut, .clause) }
    }

    // MARK: where it may be cut

    /// What stands behind the last letter of a sentence, and what a sentence may have behind that.
    private static let ends = Set<Character>(".!?…。！？．｡।॥۔؟።፧፨։။។៕")
    private static let pauses = Set<Character>(",;:—–،؛、，；：﹐､፣၊")
    private static let wide = Set<Character>("、。，．！？：；…—「」『』（）【】《》〈〉〔〕・～ー｡､｢｣")
    private static let opening = Set<Character>("([{«‹“‘„‚「『（【《〈〔｢¿¡$£€¥#@")
    private static let closing = Set<Character>("\"')]}»›”’」』）】》〉〕｣*_")
    /// What stands with what is before it, though there is a blank between them, as in French.
    private static let following = Set<Character>("?!:;»›)]}%‰€°£¥")
    /// What begins no line of Japanese or Chinese (W3C, Requirements for Japanese Text Layout, 3.1.7).
    private static let never = Set<Character>("、。，．！？：；…—・～ー｡､ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ々ゝゞヽヾ〻％％")
        .union(closing)
    /// What a full stop behind it does not end a sentence after.
    private static let short: Set<String> = [
        "mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "no", "z.b", "d.h", "bzw", "ca", "nr", "sr", "jr",
        "approx",
        "fig", "vol", "hr", "fr", "mme", "mlle", "sra", "dra", "gen", "sen", "rev", "mt",
    ]

    /// White space at which a line may end.
    private static func isBlank(_ letter: Character) -> Bool {
        letter.isWhitespace && letter != "\u{A0}" && letter != "\u{202F}" && letter != "\u{2007}"
    }

    private func isHan(_ place: Int) -> Bool { letters[place].unicodeScalars.first?.isHanOrKana == true }
    private func isWide(_ place: Int) -> Bool { isHan(place) || Self.wide.contains(letters[place]) }

    private func cut(before place: Int) -> Cut? {
        guard place > 0, !Self.isBlank(letters[place]) else { return nil }
        let isBehindBlank = Self.isBlank(letters[place - 1])
        let last = isBehindBlank ? place - 2 : place - 1
        guard last >= 0, !Self.opening.contains(letters[last]) else { return nil }
        if isBehindBlank {
            if Self.following.contains(letters[place]) { return nil }
        } else {
            let isBroken = isWide(last) && (isWide(place) || Self.opening.contains(letters[place]))
            if !isBroken || Self.never.contains(letters[place]) { return nil }
        }
        var mark = last
        while mark > 0, Self.closing.contains(letters[mark]) { mark -= 1 }
        if Self.ends.contains(letters[mark]) { return isEnd(mark, before: place) ? .sentence : .word }
        if Self.pauses.contains(letters[mark]) { return .clause }
        let isBehindKana = !isBehindBlank && isHiragana(last) && !isHiragana(place)
        return isBehindKana ? .kana : .word
    }

    private func isHiragana(_ place: Int) -> Bool {
        letters[place].unicodeScalars.first.map { (0x3041...0x309F).contains($0.value) } == true
    }

    /// Whether a mark ends a sentence: none before a small letter, and no full stop behind a short form, an initial, or a
    /// number that may be an ordinal.
    private func isEnd(_ mark: Int, before next: Int) -> Bool {
        if letters[next].isLowercase { return false }
        guard letters[mark] == ".", mark > 0, letters[mark - 1] != "." else { return true }
        var first = mark
        while first > 0, mark - first < 8,
            letters[first - 1].isLetter || letters[first - 1].isNumber
                || letters[first - 1] == "."
        {
            first -= 1
        }
        let word = String(letters[first..<mark])
        if word.count <= 2, word.allSatisfy(\.isNumber) { return false }
        return !(word.count == 1 && word.first!.isUppercase) && !Self.short.contains(word.lowercased())
    }
}
