// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// Which texts are SSML (W3C, Speech Synthesis Markup Language 1.1): marked up, and not to be read aloud as they stand.
enum SSML: Sendable, Equatable {
    /// Those that begin with the element `speak`. One that only holds a `<` is plain text.
    case auto
    case always, never

    /// What a setting or an argument says.
    init(_ value: SettingValue?) throws(NodeError) {
        switch value {
        case .bool(true)?, .string("true")?: self = .always
        case .bool(false)?, .string("false")?: self = .never
        case .string("auto")?: self = .auto
        default:
            throw NodeError(
                "ssml is neither true nor false", hint: "give true, false or \"auto\"", key: TTS.ssml.name)
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

/// What is left of a marked up text without its elements; the last one may be cut off.
func withoutMarkup(_ markup: String) -> String {
    var text = ""
    var isInside = false
    for letter in markup {
        if letter == "<" { isInside = true }
        if !isInside { text.append(letter) }
        if letter == ">" { isInside = false }
    }
    return text
}

/// What is wrong with a marked up text: elements that are not closed, or not begun; nil: nothing is. Names and attributes
/// are espeak-ng's to judge.
func markupFault(in text: String) -> String? {
    var open: [(name: String, place: Int)] = []
    let scalars = Array(text.unicodeScalars)
    var place = 0
    while place < scalars.count {
        guard scalars[place] == "<" else {
            place += 1
            continue
        }
        let start = place
        func isAt(_ word: String) -> Bool { scalars[start...].starts(with: word.unicodeScalars) }
        // What is no element, and how it ends.
        let other = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")].first { isAt($0.0) }
        var quote: Unicode.Scalar?
        var end: Int?
        for next in (start + 1)..<max(start + 1, scalars.count) {
            let scalar = scalars[next]
            if let other {
                if next >= start + 2,
                    scalars[(start + 2)...next].reversed().starts(with: other.1.unicodeScalars.reversed())
                {
                    end = next
                }
            } else if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
            } else if scalar == ">" {
                end = next
            }
            if end != nil { break }
        }
        guard let end else { return "the < at character \(start + 1) is not closed" }
        place = end + 1
        if other != nil { continue }
        let isEnd = start + 1 < end && scalars[start + 1] == "/"
        let isEmpty = scalars[end - 1] == "/"
        let rest = scalars[(start + (isEnd ? 2 : 1))..<end]
        var view = String.UnicodeScalarView()
        view.append(contentsOf: rest.prefix { !$0.properties.isWhitespace && $0 != "/" })
        let name = String(view)
        guard name.unicodeScalars.first?.properties.isAlphabetic == true else {
            return "the < at character \(start + 1) begins no element; write &lt; for the character"
        }
        if isEnd {
            guard let last = open.popLast() else { return "</\(name)> at character \(start + 1) ends nothing" }
            guard last.name.lowercased() == name.lowercased() else {
                return "</\(name)> at character \(start + 1) stands where <\(last.name)> must end"
            }
        } else if !isEmpty {
            open.append((name, start + 1))
        }
    }
    return open.last.map { "<\($0.name)> at character \($0.place) is not closed" }
}
