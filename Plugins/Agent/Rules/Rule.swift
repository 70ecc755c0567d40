// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is said where one of the patterns matches: the replies, one after the other.
struct Rule {
    var patterns: [Pattern] = []
    var replies: [RuleReply] = []
}

/// A reply of a rule, and the action that it names.
struct RuleReply {
    /// An action with its arguments, in which `{name}` stands for what was captured.
    struct Call {
        /// NODE.ACTION
        var action: String
        var arguments: [(key: String, text: String)]
    }

    var text: String
    var call: Call?

    /// The line's reply; `names` are those that its rule captures.
    init(_ line: String, names: Set<String>) throws(RuleFault) {
        guard let arrow = line.firstRange(of: "->") else {
            text = line
            try Self.check(line, names, hasCall: false, offset: 0)
            return
        }
        text = trimmed(line[..<arrow.lowerBound])
        let offset = line.distance(from: line.startIndex, to: arrow.upperBound)
        let pieces = try Self.pieces(of: String(line[arrow.upperBound...]), offset: offset)
        guard let action = pieces.first, action.text.split(separator: ".").count == 2 else {
            throw RuleFault(message: "NODE.ACTION must follow '->'", place: offset)
        }
        var arguments: [(String, String)] = []
        for piece in pieces.dropFirst() {
            guard let sign = piece.text.firstIndex(of: "="), sign != piece.text.startIndex else {
                throw RuleFault(message: "an argument is KEY=VALUE", place: piece.place)
            }
            let value = String(piece.text[piece.text.index(after: sign)...])
            try Self.check(value, names, hasCall: false, offset: piece.place)
            arguments.append((String(piece.text[..<sign]), value))
        }
        call = Call(action: action.text, arguments: arguments)
        try Self.check(text, names, hasCall: true, offset: 0)
    }

    /// What stands between spaces; in quotes there may be some.
    private static func pieces(of line: String, offset: Int) throws(RuleFault) -> [(text: String, place: Int)] {
        var result: [(text: String, place: Int)] = []
        var quote: Int?
        var isOpen = false
        for (place, character) in line.enumerated() {
            if character == "\"" {
                quote = quote == nil ? place : nil
                if !isOpen { result.append(("", offset + place)) }
                isOpen = true
            } else if character.isWhitespace, quote == nil {
                isOpen = false
            } else {
                if !isOpen { result.append(("", offset + place)) }
                isOpen = true
                result[result.count - 1].text.append(character)
            }
        }
        if let quote { throw RuleFault(message: "a quote is never closed", place: offset + quote) }
        return result
    }

    /// Refuses names that the rule does not capture; what an action answers is not known before.
    private static func check(_ text: String, _ names: Set<String>, hasCall: Bool, offset: Int) throws(RuleFault) {
        var start: Int?
        var name = ""
        for (place, character) in text.enumerated() {
            switch (character, start) {
            case ("{", _): (start, name) = (place, "")
            case ("}", let begin?):
                if !hasCall, !names.contains(name) {
                    let known = names.sorted().joined(separator: ", ")
                    throw RuleFault(
                        message: "the patterns capture no '\(name)'" + (known.isEmpty ? "" : ", but \(known)"),
                        place: offset + begin)
                }
                start = nil
            case (_, .some): name.append(character)
            default: break
            }
        }
        if let start { throw RuleFault(message: "'{' is never closed", place: offset + start) }
    }

    /// A text with `{name}` replaced by its value; a name without one by nothing.
    static func fill(_ text: String, _ values: [String: String]) -> String {
        var result = ""
        var name: String?
        for character in text {
            switch (character, name) {
            case ("{", nil): name = ""
            case ("}", let whole?):
                result += values[whole] ?? ""
                name = nil
            case (_, .some): name?.append(character)
            default: result.append(character)
            }
        }
        return result
    }
}
