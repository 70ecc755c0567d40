// SPDX-License-Identifier: Apache-2.0
import System

/// How something that was found out is printed: how bad it is, what is so, and below that what to do.
public enum FindingText {
    /// Lines of `width` characters, the last with its end. `code`: the colour of the mark, an SGR parameter; nil: none. `mark`
    /// has `indent` characters with the blanks behind it. [any]
    public static func text(
        _ mark: String, _ message: String, hint: String, code: String?, indent: Int = 9, width: Int = 80
    ) -> String {
        let blanks = String(repeating: " ", count: indent)
        let mark = pad(mark, indent)
        var text = code.map { "\u{1B}[\($0)m\(mark)\u{1B}[0m" } ?? mark
        text += wrap(printable(message), width - indent).joined(separator: "\n" + blanks) + "\n"
        guard !hint.isEmpty else { return text }
        let lines = wrap(printable(hint), width - indent - 3)
        return text + blanks + "-> " + lines.joined(separator: "\n" + blanks + "   ") + "\n"
    }
}
