// SPDX-License-Identifier: Apache-2.0
import NodeKit
import SpokenText

/// A part of a reply that is spoken at a time.
struct ReplyPiece {
    /// As it is spoken, without marks for the eye.
    var spoken: SpokenText
    var text: String
    /// Unicode scalars of the reply before the end of it, with the marks that belong to it.
    var end: Int

    /// The piece without a sound that a text is which is only for the eye.
    static func silent(end: Int) -> ReplyPiece { ReplyPiece(spoken: SpokenText(), text: "", end: end) }
}

/// Cuts a text that comes in pieces of any size into sentences, each given as soon as it is known to be whole.
struct SentenceCutter {
    private var markdown = Markdown(.answer)
    private var rest = SpokenText()
    /// Scalars that were looked at already.
    private var seen = 0

    /// What is longer is spoken in parts.
    private static let longest = 400

    /// Takes what follows; the sentences that are whole now.
    mutating func take(_ text: String) -> [ReplyPiece] {
        rest.append(markdown.take(text))
        return pieces(isWhole: false)
    }

    /// Nothing more comes: what is left, if that is anything.
    mutating func finish() -> [ReplyPiece] {
        rest.append(markdown.finish())
        return pieces(isWhole: true)
    }

    private mutating func pieces(isWhole: Bool) -> [ReplyPiece] {
        var result: [ReplyPiece] = []
        while !rest.isEmpty, let end = nextEnd(isWhole: isWhole) {
            let spoken = rest.trimmed(0..<end)
            if spoken.isSpeakable {
                result.append(ReplyPiece(spoken: spoken, text: spoken.text, end: writtenEnd(before: end)))
            }
            rest.removeFirst(end)
            seen = 0
        }
        return result
    }

    /// Where the written text of a piece ends: at the space behind it, so that marks for the eye stay with it.
    private func writtenEnd(before end: Int) -> Int {
        var last = end
        while last > 0, rest.scalars[last - 1].properties.isWhitespace { last -= 1 }
        let isSpace = last < rest.count && rest.scalars[last].properties.isWhitespace
        if isSpace, let space = rest.origins[last] { return space }
        return rest.written(0..<last)?.upperBound ?? 0
    }

    /// The place after the first sentence; nil: it may go on.
    private mutating func nextEnd(isWhole: Bool) -> Int? {
        let scalars = rest.scalars
        while seen < scalars.count {
            let scalar = scalars[seen]
            if Self.isLineEnd(scalar) { return seen + 1 }
            if Sentences.isMark(scalar) {
                switch Sentences.end(at: seen, in: scalars, from: 0, isWhole: isWhole) {
                case .at(let end): return end
                case .unknown: return tooLong
                case .none: break
                }
            } else if Sentences.isBreak(at: seen, in: scalars, from: 0) {
                return seen
            }
            seen += 1
        }
        return tooLong ?? (isWhole ? scalars.count : nil)
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool { Character(scalar).isNewline }

    /// Where what is too long is cut.
    private var tooLong: Int? {
        guard rest.count > Self.longest else { return nil }
        let part = rest.scalars[..<Self.longest]
        let pause = part.lastIndex { ",;:".unicodeScalars.contains($0) }
        let space = part.lastIndex { $0.properties.isWhitespace }
        return (pause ?? space ?? Self.longest - 1) + 1
    }
}
