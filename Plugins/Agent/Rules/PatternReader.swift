// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is wrong with a line of a file of rules, and at which of its characters, counted from 0.
struct RuleFault: Error {
    var message: String
    var place: Int
}

/// Reads a pattern from a line.
struct PatternReader {
    private let characters: [Character]
    private var at = 0

    init(_ line: String) { characters = Array(line) }

    mutating func read() throws(RuleFault) -> Pattern {
        let choices = try choices(until: nil)
        guard choices.contains(where: { !$0.isEmpty }) else { throw RuleFault(message: "a pattern is empty", place: 0) }
        return Pattern(parts: choices.count == 1 ? choices[0] : [.choice(choices)])
    }

    private mutating func choices(until end: Character?) throws(RuleFault) -> [[Pattern.Part]] {
        let start = at
        var result: [[Pattern.Part]] = [[]]
        while at < characters.count, characters[at] != end {
            let character = characters[at]
            switch character {
            case "|":
                at += 1
                result.append([])
            case "(": result[result.count - 1].append(.choice(try group(")")))
            case "[": result[result.count - 1].append(.optional(try group("]")))
            case "<": result[result.count - 1].append(try capture())
            case "*":
                at += 1
                result[result.count - 1].append(.any)
            case ")", "]", ">":
                throw RuleFault(message: "'\(character)' closes nothing", place: at)
            case _ where character.isWhitespace: at += 1
            default: result[result.count - 1] += try words()
            }
        }
        if end != nil, result.contains(where: \.isEmpty) {
            throw RuleFault(message: "one of the alternatives is empty", place: start)
        }
        return result
    }

    private mutating func group(_ end: Character) throws(RuleFault) -> [[Pattern.Part]] {
        let start = at
        at += 1
        let result = try choices(until: end)
        guard at < characters.count else {
            throw RuleFault(message: "'\(characters[start])' is never closed", place: start)
        }
        at += 1
        return result
    }

    private mutating func capture() throws(RuleFault) -> Pattern.Part {
        let start = at
        at += 1
        var name = ""
        while at < characters.count, characters[at].isLetter || characters[at].isNumber || characters[at] == "_" {
            name.append(characters[at])
            at += 1
        }
        if name.isEmpty { throw RuleFault(message: "a name must follow '<'", place: start) }
        guard at < characters.count, characters[at] == ":" else {
            guard at < characters.count, characters[at] == ">" else {
                throw RuleFault(message: "'>' or ':' must follow the name '\(name)'", place: min(at, characters.count))
            }
            at += 1
            return .capture(name, nil)
        }
        let result = try group(">")
        return .capture(name, result)
    }

    private mutating func words() throws(RuleFault) -> [Pattern.Part] {
        let start = at
        while at < characters.count, !characters[at].isWhitespace, !"()[]<>|*".contains(characters[at]) { at += 1 }
        let words = SpokenWord.words(of: String(characters[start..<at]))
        if words.isEmpty {
            throw RuleFault(message: "'\(String(characters[start..<at]))' is no word that can be said", place: start)
        }
        return words.map { .word($0.plain) }
    }
}
