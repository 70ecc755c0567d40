// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// How the server wants messages to be spoken (Speech Dispatcher's manual, "Communication Protocol for Output Modules").
struct DispatcherStyle: Equatable {
    /// Which marks are said by their names.
    enum Punctuation: String { case none, some, most, all }

    private(set) var punctuation = Punctuation.none
    /// Whether texts are spelled.
    private(set) var spells = false
    /// Whether a capital is said to be one where it stands alone.
    private(set) var tellsCapitals = false
    /// From -100 to 100.
    private var rate = 0.0, pitch = 0.0, volume = 100.0
    private var language: String?
    private var voice: String?

    /// Sets a parameter of the server's; false: it has no such value. What is not known is left to other modules.
    mutating func set(_ name: String, _ value: String) -> Bool {
        let isNone = value == "NULL" || value.isEmpty
        func number() -> Double? { Double(value).flatMap { (-100...100).contains($0) ? $0 : nil } }
        switch name {
        case "rate", "pitch", "volume":
            guard let number = number() else { return false }
            if name == "rate" { rate = number } else if name == "pitch" { pitch = number } else { volume = number }
        case "punctuation_mode":
            guard let mode = Punctuation(rawValue: value) else { return false }
            punctuation = mode
        case "spelling_mode":
            guard ["on", "off"].contains(value) else { return false }
            spells = value == "on"
        case "cap_let_recogn": tellsCapitals = value != "none" && !isNone
        // The language of a system that has none.
        case "language": language = isNone || ["c", "posix"].contains(value.lowercased()) ? nil : value
        case "synthesis_voice": voice = isNone ? nil : value
        default: break
        }
        return true
    }

    /// As arguments of a node that speaks: as it is wanted, then without the voice, if there is no such one, and then in any
    /// language.
    var arguments: [[String: SettingValue]] {
        let own = sound
        let inLanguage = own.merging(language.map { ["language": .string($0)] } ?? [:]) { $1 }
        return [inLanguage.merging(voice.map { ["voice": .string($0)] } ?? [:]) { $1 }, inLanguage, own]
    }

    private var sound: [String: SettingValue] {
        [
            // A third of the pace at one end, three times at the other, as espeak-ng's module has it.
            "rate": .number(min(max((175 * pow(3, rate / 100)).rounded(), 80), 450)),
            "pitch": .integer(Int64(min(max((50 + pitch / 2).rounded(), 0), 99))),
            "volume": .integer(Int64((volume + 100) / 2)), "ssml": .string("false"),
        ]
    }

    // MARK: characters

    /// What is said for a character of a text: itself, or its name where the punctuation is to be told.
    func said(_ scalar: Unicode.Scalar) -> String {
        if spells { return scalar.properties.isWhitespace ? " " : " \(name(of: scalar))," }
        guard isEnglish, let level = Self.level(of: scalar), level <= rank(of: punctuation),
            let name = Self.names[scalar]
        else { return String(scalar) }
        // The mark itself stays, so that the voice pauses there.
        return Self.pauses.contains(scalar) ? " \(name)\(scalar)" : " \(name) "
    }

    /// What a single character is called, as "comma" and "capital B".
    func name(of scalar: Unicode.Scalar) -> String {
        if scalar == " " { return isEnglish ? "space" : " " }
        if isEnglish, let name = Self.names[scalar] { return name }
        let isCapital = tellsCapitals && scalar.properties.isUppercase && isEnglish
        return (isCapital ? "capital " : "") + scalar.properties.uppercaseMapping
    }

    /// What a key is called, as "control alt x"; its parts stand between underscores.
    func name(ofKey key: String) -> String {
        let parts = key.split(separator: "_", omittingEmptySubsequences: true)
        return parts.map { part in
            let scalars = part.unicodeScalars
            return scalars.count == 1 ? name(of: scalars.first!) : part.split(separator: "-").joined(separator: " ")
        }.joined(separator: " ")
    }

    private var isEnglish: Bool { language.map { $0.lowercased().hasPrefix("en") } ?? true }

    private func rank(of punctuation: Punctuation) -> Int {
        switch punctuation {
        case .none: 0
        case .some: 1
        case .most: 2
        case .all: 3
        }
    }

    /// From which rank on a mark is told; nil: never.
    private static func level(of scalar: Unicode.Scalar) -> Int? {
        if "@#$%&*+=/\\<>~^_|".unicodeScalars.contains(scalar) { return 1 }
        if "()[]{}\"`;:-–—".unicodeScalars.contains(scalar) { return 2 }
        return ".,!?'".unicodeScalars.contains(scalar) ? 3 : nil
    }

    private static let pauses = Set(".,!?;:".unicodeScalars)
    private static let names: [Unicode.Scalar: String] = [
        "!": "exclamation mark", "\"": "quote", "#": "number sign", "$": "dollar", "%": "percent", "&": "and",
        "'": "apostrophe", "(": "left paren", ")": "right paren", "*": "star", "+": "plus", ",": "comma", "-": "dash",
        "–": "dash", "—": "dash", ".": "dot", "/": "slash", ":": "colon", ";": "semicolon", "<": "less", "=": "equals",
        ">": "greater", "?": "question mark", "@": "at", "[": "left bracket", "\\": "backslash", "]": "right bracket",
        "^": "caret", "_": "underscore", "`": "grave", "{": "left brace", "|": "bar", "}": "right brace", "~": "tilde",
        "\n": "new line", "\t": "tab",
    ]
}
