// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A word of what somebody said: as it is compared, and as it was said.
struct SpokenWord {
    let plain: String
    let said: String

    /// The words of a text: without punctuation at their ends, compared without regard to case.
    static func words(of text: String) -> [SpokenWord] {
        text.split(whereSeparator: \.isWhitespace).compactMap { piece in
            func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber }
            let piece = piece.drop { !isPart($0) && $0 != "-" }
            guard let last = piece.lastIndex(where: isPart) else { return nil }
            let said = String(piece[...last])
            return SpokenWord(plain: said.lowercased().replacing("\u{2019}", with: "'"), said: said)
        }
    }
}

/// What a sentence must look like: parts, one after another.
struct Pattern {
    indirect enum Part {
        case word(String)
        /// One of several.
        case choice([[Part]])
        /// One of several, or nothing.
        case optional([[Part]])
        /// One word or more, or one of several, under a name.
        case capture(String, [[Part]]?)
        /// Any words, or none.
        case any
    }

    let parts: [Part]

    /// More tries than this, and a sentence does not match: no pattern may take the machine's time.
    private static let mostSteps = 20_000

    /// What was captured, by name, if all of the words match.
    func match(_ words: [SpokenWord]) -> [String: String]? {
        var steps = 0
        func go(_ rest: Rest, _ at: Int, _ captures: [String: String]) -> [String: String]? {
            switch rest {
            case .end: return at == words.count ? captures : nil
            case .keep(let name, let start, let isSaid, let then):
                guard at > start else { return nil }
                var captures = captures
                captures[name] = words[start..<at].map(isSaid ? \.said : \.plain).joined(separator: " ")
                return go(then, at, captures)
            case .parts(let parts, let then):
                steps += 1
                if steps > Self.mostSteps { return nil }
                guard let part = parts.first else { return go(then, at, captures) }
                let onward = Rest.parts(parts.dropFirst(), then: then)
                func one(of choices: [[Part]], _ then: Rest) -> [String: String]? {
                    for choice in choices {
                        if let found = go(.parts(choice[...], then: then), at, captures) { return found }
                    }
                    return nil
                }
                func one(from first: Int, _ then: Rest) -> [String: String]? {
                    guard first <= words.count else { return nil }
                    for at in first...words.count { if let found = go(then, at, captures) { return found } }
                    return nil
                }
                switch part {
                case .word(let word):
                    return at < words.count && words[at].plain == word ? go(onward, at + 1, captures) : nil
                case .choice(let choices): return one(of: choices, onward)
                case .optional(let choices): return one(of: choices, onward) ?? go(onward, at, captures)
                case .any: return one(from: at, onward)
                case .capture(let name, let choices):
                    let keep = Rest.keep(name, from: at, isSaid: choices == nil, then: onward)
                    return if let choices { one(of: choices, keep) } else { one(from: at + 1, keep) }
                }
            }
        }
        return go(.parts(parts[...], then: .end), 0, [:])
    }

    /// What is still to be found. Not a closure: of those the compiler makes a copy of `go` for each.
    private indirect enum Rest {
        case end
        case parts(ArraySlice<Part>, then: Rest)
        /// What was found from a word on is captured.
        case keep(String, from: Int, isSaid: Bool, then: Rest)
    }

    /// The names under which it captures something.
    var names: Set<String> {
        func names(_ parts: [Part]) -> Set<String> {
            parts.reduce(into: []) { result, part in
                switch part {
                case .word, .any: break
                case .choice(let choices), .optional(let choices): choices.forEach { result.formUnion(names($0)) }
                case .capture(let name, let choices):
                    result.insert(name)
                    choices?.forEach { result.formUnion(names($0)) }
                }
            }
        }
        return names(parts)
    }
}
