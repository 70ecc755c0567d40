// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Finds parts of speech (Penn Treebank) by an averaged perceptron (Collins, Discriminative Training Methods for Hidden Markov
/// Models, 2002): words that have nearly always one are listed, others are told by weights of what stands around them.
struct Tagger: Sendable {
    private let tags: [String]
    private let listed, known, weights: JSONTable

    /// Reads what was learnt. The error names `path`.
    init(_ text: [UInt8], path: String) throws(NodeError) {
        let whole = try JSONTable(text, path: path)
        func table(_ key: String) throws(NodeError) -> JSONTable {
            guard let place = whole[key] else {
                throw NodeError("\(path) has no \(key)", hint: "remove and install it again: voicegraph models")
            }
            return try JSONTable(text, at: place, path: path)
        }
        var names: [String] = []
        if let place = whole["tags"] {
            whole.entries(at: place) { key, _ in names.append(String(decoding: text[key], as: UTF8.self)) }
        }
        tags = names.sorted { $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars) }
        listed = try table("tagdict")
        known = try table("vocab")
        weights = try table("weights")
    }

    /// The part of speech of each word. [any]
    func tags(_ words: [String]) -> [String] {
        let around =
            ["-START2-", "-START-"]
            + words.map { word in
                let usual = Self.usual(word)
                return known[usual] == nil ? "<\(Self.shape(word))>" : usual
            } + ["-END-", "-END2-"]
        var result: [String] = []
        var (last, secondLast) = ("-START-", "-START2-")
        for (index, word) in words.enumerated() {
            let tag = listed[word].flatMap(listed.string) ?? best(index, word, around, last, secondLast)
            result.append(tag)
            (secondLast, last) = (last, tag)
        }
        return result
    }

    private func best(_ index: Int, _ word: String, _ around: [String], _ last: String, _ secondLast: String) -> String
    {
        let own = index + 2
        let features = [
            "b", "s3=" + word.last(3), "p1=" + String(word.unicodeScalars.prefix(1)), "w=" + around[own],
            "sh=" + Self.shape(word), index == 0 ? "i0" : "i+", "t-1=" + last, "t-2=" + secondLast,
            "t-12=\(last),\(secondLast)", "w-1=" + around[own - 1], "s3-1=" + around[own - 1].last(3),
            "w-2=" + around[own - 2], "w+1=" + around[own + 1], "s3+1=" + around[own + 1].last(3),
            "w+2=" + around[own + 2],
        ]
        var scores = [Double](repeating: 0, count: tags.count)
        var isScored = false
        for feature in features {
            guard let place = weights[feature] else { continue }
            weights.entries(at: place) { key, value in
                guard let tag = self.index(of: weights.text[key]) else { return }
                scores[tag] += number(at: value)
                isScored = true
            }
        }
        guard isScored else { return "NN" }
        // Of equal ones the last by its name.
        return tags[scores.indices.max { scores[$0] <= scores[$1] && (scores[$0] < scores[$1] || $0 < $1) }!]
    }

    private func index(of name: ArraySlice<UInt8>) -> Int? { tags.firstIndex { $0.utf8.elementsEqual(name) } }

    /// The number that stands at a place of the weights.
    private func number(at place: Int) -> Double {
        var end = place
        while end < weights.text.count, ![UInt8(ascii: ","), UInt8(ascii: "}")].contains(weights.text[end]) { end += 1 }
        return Double(String(decoding: weights.text[place..<end], as: UTF8.self)) ?? 0
    }

    /// A word as weights know it.
    private static func usual(_ word: String) -> String {
        guard let first = word.unicodeScalars.first else { return word }
        if first != "-", word.unicodeScalars.contains("-") { return "!HYPHEN" }
        if word.utf8.count == 4, word.isDigits { return "!YEAR" }
        return first.isDigit ? "!DIGITS" : word.lowercased()
    }

    /// What a word looks like.
    private static func shape(_ word: String) -> String {
        let scalars = word.unicodeScalars
        if word.isLetters {
            if word.isAllSmall { return "x" }
            if word.isAllCapitals { return scalars.count > 1 ? "XX" : "X1" }
            let rest = String(scalars.dropFirst())
            return String(scalars.prefix(1)).isAllCapitals && rest.isAllSmall ? "Xx" : "xX"
        }
        if word.isDigits { return "d" }
        return scalars.prefix(4).map { $0.isDigit ? "d" : $0.isLetter ? "x" : String($0) }.joined()
    }
}
