// SPDX-License-Identifier: Apache-2.0

/// Text of a manual page, in the macros of man(7): what groff and mandoc read alike.
package struct Roff {
    package private(set) var text = ""

    /// An empty page.
    package init() {}

    /// A remark, which nobody is shown.
    package mutating func comment(_ words: String) { text += ".\\\" " + words + "\n" }

    /// The head of a page. Words are not divided: they may be typed, or looked for.
    package mutating func title(_ name: String, section: Int, date: String, version: String, manual: String) {
        let fields = [name, String(section), date, version, manual]
        text += ".TH" + fields.map { " \"\($0)\"" }.joined() + "\n.nh\n.ad l\n"
    }

    /// A macro with arguments, which are plain text.
    package mutating func macro(_ name: String, _ arguments: String...) {
        let quoted = arguments.map { " \"" + Self.escaped($0) + "\"" }
        text += "." + name + quoted.joined() + "\n"
    }

    /// A line of text in which `escaped` and `styled` made what is special harmless.
    package mutating func line(_ line: String) {
        // A point at the start would make it a macro.
        text += (line.hasPrefix(".") ? "\\&" : "") + line + "\n"
    }

    /// The same of text that is filled: it may stand in several lines.
    package mutating func filled(_ words: String) {
        var row = ""
        for word in words.split(separator: " ") {
            if !row.isEmpty, row.utf8.count + word.utf8.count >= 78 {
                line(row)
                row = ""
            }
            row += (row.isEmpty ? "" : " ") + word
        }
        line(row)
    }

    /// A paragraph of prose; commands and options in it are bold.
    package mutating func prose(_ prose: String) {
        // One sentence a line, as pages are written.
        var rest = Self.styled(prose)[...]
        while let end = rest.firstRange(of: ". ") {
            filled(String(rest[..<end.lowerBound]) + ".")
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { filled(String(rest)) }
    }

    /// An entry of a list: what is described, already styled, and the description.
    package mutating func entry(_ label: String, _ description: String) {
        macro("TP")
        line(label)
        if description.isEmpty { line("\\&") } else { prose(description) }
    }

    /// Lines to be shown as they are.
    package mutating func example(_ lines: [String]) {
        macro("EX")
        for text in lines { line(text.isEmpty ? "" : Self.escaped(text)) }
        macro("EE")
    }

    /// Text that is shown as it is: no character of it means anything to roff.
    package static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            case "\t": result += " "
            default:
                if scalar.isASCII {
                    result.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
                }
            }
        }
        return result
    }

    /// Bold.
    package static func bold(_ text: some StringProtocol) -> String { "\\fB" + escaped(text) + "\\fR" }
    /// Italic, for what is to be replaced by something.
    package static func italic(_ text: some StringProtocol) -> String { "\\fI" + escaped(text) + "\\fR" }

    /// Prose: what stands between backquotes, and options, are bold.
    package static func styled(_ prose: String) -> String {
        prose.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            if index % 2 == 1 { return bold(part) }
            var result = ""
            var rest = part
            while let option = rest.firstMatch(of: /(^|[\s(,;\/])(-{1,2}[A-Za-z][A-Za-z0-9-]*)/) {
                result += escaped(rest[..<option.range.lowerBound]) + escaped(option.1) + bold(option.2)
                rest = rest[option.range.upperBound...]
            }
            return result + escaped(rest)
        }.joined()
    }

    /// How a command is called, or the label of an option: words are bold, <what is replaced> italic.
    package static func call(_ text: some StringProtocol) -> String {
        var result = ""
        var rest = Substring(text)
        while !rest.isEmpty {
            if let word = rest.prefixMatch(of: /<([^>]+)>/) {
                result += italic(word.1)
                rest = rest[word.range.upperBound...]
            } else if let word = rest.prefixMatch(of: /-{0,2}[A-Za-z0-9][A-Za-z0-9-]*/) {
                result += bold(word.0)
                rest = rest[word.range.upperBound...]
            } else {
                result += escaped(rest.prefix(1))
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
