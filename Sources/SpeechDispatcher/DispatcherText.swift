// SPDX-License-Identifier: Apache-2.0

/// What is spoken of a message of Speech Dispatcher: the text without its marks of SSML, and where index marks stand in it.
struct DispatcherText: Equatable {
    /// A place that is told when it is heard.
    struct Mark: Equatable {
        var name: String
        /// Unicode scalars of the text before it.
        var place: Int
    }

    private(set) var text = ""
    private(set) var marks: [Mark] = []
    private var count = 0

    /// Reads a message in SSML, as the server gives every text. What marks nothing that is known is passed over.
    init(markup: String, _ style: DispatcherStyle) {
        var rest = markup.unicodeScalars[...]
        while let scalar = rest.first {
            switch scalar {
            case "<":
                let tag = rest.prefix { $0 != ">" }
                rest = rest[tag.endIndex...].dropFirst()
                read(tag: String(tag.dropFirst()))
            case "&":
                let name = rest.dropFirst().prefix { $0 != ";" && $0 != "<" && $0 != " " }
                if let known = Self.entity(String(name)), rest[name.endIndex...].first == ";" {
                    append(style.said(known))
                    rest = rest[name.endIndex...].dropFirst()
                } else {
                    append(style.said(scalar))
                    rest = rest.dropFirst()
                }
            default:
                append(style.said(scalar))
                rest = rest.dropFirst()
            }
        }
    }

    /// A text that is spoken as it is.
    init(plain text: String) { self.text = text }

    /// Whether there is anything to say.
    var isBlank: Bool { text.allSatisfy(\.isWhitespace) }

    private mutating func append(_ said: String) {
        text += said
        count += said.unicodeScalars.count
    }

    private mutating func read(tag: String) {
        let name = tag.prefix { $0.isLetter || $0 == "/" }
        switch name {
        case "mark":
            guard let start = tag.firstRange(of: "name=")?.upperBound, let quote = tag[start...].first else { return }
            marks.append(Mark(name: String(tag[start...].dropFirst().prefix { $0 != quote }), place: count))
        // Whoever pauses, and what ends a paragraph, is heard as the end of a line is.
        case "break", "/p", "/s": append("\n")
        default: break
        }
    }

    /// The character that XML calls so; nil: it calls none so.
    private static func entity(_ name: String) -> Unicode.Scalar? {
        if let known = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"][name] {
            return known.unicodeScalars.first
        }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init)
    }
}
