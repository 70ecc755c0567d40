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
        var found: [String: String]?
        func go(_ parts: ArraySlice<Part>, _ at: Int, _ captures: [String: String], _ then: Then) -> Bool {
            steps += 1
            if steps > Self.mostSteps { return false }
            guard let part = parts.first else { return then(at, captures) }
            let rest = parts.dropFirst()
            func onward(_ at: Int, _ captures: [String: String]) -> Bool { go(rest, at, captures, then) }
            func one(of choices: [[Part]], _ then: Then) -> Bool {
                choices.contains { go($0[...], at, captures, then) }
            }
            switch part {
            case .word(let word): return at < words.count && words[at].plain == word && onward(at + 1, captures)
            case .choice(let choices): return one(of: choices, onward)
            case .optional(let choices): return one(of: choices, onward) || onward(at, captures)
            case .any: return (at...words.count).contains { onward($0, captures) }
            case .capture(let name, let choices):
                func keep(_ end: Int, _ captures: [String: String]) -> Bool {
                    guard end > at else { return false }
                    var captures = captures
                    captures[name] = words[at..<end].map(choices == nil ? \.said : \.plain).joined(separator: " ")
                    return onward(end, captures)
                }
                if let choices { return one(of: choices, keep) }
                return at < words.count && (at + 1...words.count).contains { keep($0, captures) }
            }
        }
        let isMatch = go(parts[...], 0, [:]) { at, captures in
            if at == words.count { found = captures }
            return at == words.count
        }
        return isMatch ? found : nil
    }

    private typealias Then = (Int, [String: String]) -> Bool

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
