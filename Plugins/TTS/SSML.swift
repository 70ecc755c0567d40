// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// Which texts are SSML (W3C, Speech Synthesis Markup Language 1.1): marked up, and not to be read aloud as they stand.
enum SSML: Sendable, Equatable {
    /// Those that begin with the element `speak`. One that only holds a `<` is plain text.
    case auto
    case always, never

    /// What a setting or an argument says.
    init(_ value: SettingValue) throws(NodeError) {
        switch value {
        case .bool(true), .string("true"): self = .always
        case .bool(false), .string("false"): self = .never
        case .string("auto"): self = .auto
        default: throw NodeError("ssml is neither true nor false", hint: "give true, false or \"auto\"", key: "ssml")
        }
    }

    /// Whether a text is marked up.
    func isMarkup(_ text: String) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        var rest = text.drop { $0.isWhitespace }
        // What may come before: a declaration, and remarks.
        while rest.hasPrefix("<?") || rest.hasPrefix("<!") {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...].drop { $0.isWhitespace }
        }
        guard rest.hasPrefix("<speak") else { return false }
        guard let next = rest.dropFirst("<speak".count).first else { return false }
        return next == ">" || next == "/" || next.isWhitespace
    }
}

/// The same text with every `<audio` as an element that is unknown, of which only the text inside is read: espeak-ng
/// would open the file that it names, and hand some to a shell, and a text may come from anywhere. No character moves.
func withoutSounds(_ markup: String) -> String {
    var letters = Array(markup.unicodeScalars)
    let name = Array("audio".unicodeScalars)
    for place in letters.indices where letters[place] == "<" {
        let rest = letters[(place + 1)...].prefix(name.count)
        let same = zip(rest, name).allSatisfy { $0 == $1 || $0.value + 32 == $1.value }
        if rest.count == name.count, same { letters[place + 1] = "x" }
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: letters)
    return String(text)
}
