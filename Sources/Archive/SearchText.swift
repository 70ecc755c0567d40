// SPDX-License-Identifier: Apache-2.0
import System

/// The text of an item as the index has it, where that is not the text itself: FTS5 takes what stands between two blanks for a
/// word, so that letters of scripts that write no blanks between words are each a word of their own. What is searched for is
/// changed alike, and they must follow each other. Nil: there are no such letters.
func separated(_ text: some StringProtocol) -> String? {
    guard text.unicodeScalars.contains(where: \.isSeparate) else { return nil }
    var result = ""
    var wasSeparate = false
    for letter in text {
        let isSeparate = letter.unicodeScalars.first?.isSeparate == true
        if isSeparate || wasSeparate { result.append(" ") }
        result.append(letter)
        wasSeparate = isSeparate
    }
    return result
}

/// What was typed as a query of FTS5 (sqlite.org/fts5.html, 3): each word, or text in quotes, is a string of it; nil: there
/// is no word.
func searchPattern(_ words: String) -> String? {
    var terms: [String] = []
    for (index, part) in words.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
        // Every second part stands in quotes.
        let pieces = index % 2 == 1 ? [part] : part.split(whereSeparator: \.isWhitespace)
        for piece in pieces where piece.contains(where: { $0.isLetter || $0.isNumber }) {
            let isBeginning = index % 2 == 0 && piece.hasSuffix("*")
            let term = isBeginning ? piece.dropLast() : piece
            terms.append("\"\(separated(term) ?? String(term))\"" + (isBeginning ? "*" : ""))
        }
    }
    return terms.isEmpty ? nil : terms.joined(separator: " ")
}

extension Unicode.Scalar {
    fileprivate var isSeparate: Bool { isHanOrKana || isWrittenInPhrases || isHangul }
}
