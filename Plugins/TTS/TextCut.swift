// SPDX-License-Identifier: GPL-3.0-or-later
import SpokenText

/// Where a text is cut into pieces for an engine.
enum TextCut: Sendable {
    /// After sentences, some at a time.
    case paragraphs
    /// After each sentence.
    case sentences
    /// After what stands between two marks of punctuation.
    case clauses
}

/// A part of a text, in unicode scalars.
struct TextSpan: Sendable, Equatable {
    var start, length: Int
    var end: Int { start + length }
}

/// What an engine is given at a time.
struct TextPiece: Sendable, Equatable {
    var text: String
    /// Unicode scalars of the whole text before it.
    var start: Int
    /// The sentences that begin in it, by their places in the whole text, without white space at their ends.
    var sentences: [TextSpan]
}

/// Cuts a text, one piece at a time. Together the pieces are the whole text.
struct TextPieces: IteratorProtocol {
    /// Scalars after which a paragraph of sentences is long enough.
    static let paragraph = 500
    /// Scalars after which a sentence is cut at white space, and after which anywhere.
    static let longest = 600
    /// Scalars that a clause has at least, so that it does not sound like a list.
    static let clause = 16

    private let scalars: [Unicode.Scalar]
    private let cut: TextCut
    private let from: Int
    private var place: Int
    /// Clauses of a sentence that are still to be given.
    private var clauses: [TextPiece] = []

    /// `from`: scalars of the text that were heard already; a sentence that was begun is not told again.
    init(_ text: SpokenText, cut: TextCut, from: Int = 0) {
        scalars = text.scalars
        self.cut = cut
        self.from = min(max(0, from), scalars.count)
        place = self.from
    }

    mutating func next() -> TextPiece? {
        if !clauses.isEmpty { return clauses.removeFirst() }
        if place >= scalars.count { return nil }
        let start = place
        var sentences: [TextSpan] = []
        repeat {
            let begin = place
            place = endOfSentence(from: place)
            let (first, last) = bounds(begin, place)
            // What begins in the middle of a sentence has been told.
            if first < last, begin > from || from == 0 {
                sentences.append(TextSpan(start: first, length: last - first))
            }
        } while cut == .paragraphs && place < scalars.count && place - start < Self.paragraph
        let piece = TextPiece(text: text(start, place), start: start, sentences: sentences)
        guard cut == .clauses else { return piece }
        clauses = split(piece, end: place)
        return clauses.removeFirst()
    }

    private func text(_ start: Int, _ end: Int) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[start..<end])
        return String(view)
    }

    private func isSpace(_ place: Int) -> Bool { scalars[place].properties.isWhitespace }

    /// Without white space at both ends.
    private func bounds(_ start: Int, _ end: Int) -> (Int, Int) {
        var (first, last) = (start, end)
        while first < last, isSpace(first) { first += 1 }
        while last > first, isSpace(last - 1) { last -= 1 }
        return (first, last)
    }

    private static let pauses = Set<Unicode.Scalar>([",", ";", ":", "—", "–", "،", "、", "，"])
    /// Whether an empty line begins at white space.
    private func isBlankLine(_ place: Int) -> Bool {
        var (next, lines) = (place, 0)
        while next < scalars.count, isSpace(next) {
            if scalars[next] == "\n" { lines += 1 }
            next += 1
        }
        return lines > 1
    }

    /// Behind a sentence and the white space after it.
    private func endOfSentence(from start: Int) -> Int {
        var place = start
        while place < scalars.count, isSpace(place) { place += 1 }
        while place < scalars.count {
            let scalar = scalars[place]
            let count = place - start
            place += 1
            if Sentences.isMark(scalar) {
                let end = Sentences.end(at: place - 1, in: scalars, from: start, isWhole: true)
                if case .at(let end) = end {
                    place = end
                    break
                }
            } else if scalar.properties.isWhitespace {
                if count >= Self.longest || isBlankLine(place - 1) { break }
                if Sentences.isBreak(at: place - 1, in: scalars, from: start) { break }
            } else if count >= 2 * Self.longest {
                break
            }
        }
        while place < scalars.count, isSpace(place) { place += 1 }
        return place
    }

    private func split(_ sentence: TextPiece, end: Int) -> [TextPiece] {
        var pieces: [TextPiece] = []
        var start = sentence.start
        func add(_ end: Int) {
            let sentences = sentence.sentences.filter { (start..<end).contains($0.start) }
            pieces.append(TextPiece(text: text(start, end), start: start, sentences: sentences))
            start = end
        }
        var place = start
        while place < end {
            let scalar = scalars[place]
            place += 1
            // What stands behind it must be long enough, too.
            let isPause = Self.pauses.contains(scalar) && place < end && isSpace(place)
            if isPause, place - start >= Self.clause, end - place >= Self.clause {
                while place < end, isSpace(place) { place += 1 }
                add(place)
            }
        }
        add(end)
        return pieces
    }
}

/// What in a text cannot be read aloud: it is no text. The first control character, and where it stands.
func binaryPart(of text: String) -> (scalar: Unicode.Scalar, place: Int)? {
    for (place, scalar) in text.unicodeScalars.enumerated() {
        let isControl = scalar.value < 32 && !(9...13).contains(scalar.value) || scalar.value == 127
        if isControl || scalar == "\u{FFFD}" { return (scalar, place) }
    }
    return nil
}
