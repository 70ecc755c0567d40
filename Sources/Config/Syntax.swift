// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// Every syntax error that can be told without guessing: after one that stays within its line, that line is blanked
/// and the text is parsed again; after another kind, what follows is not trusted.
func syntaxErrors(_ source: SourceText) -> [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    var text = source
    while diagnostics.count < 20, case .failure(let failure) = TomlDocument.parse(text) {
        let fault = SyntaxFault(failure, text)
        if diagnostics.last == fault.diagnostic { break }
        diagnostics.append(fault.diagnostic)
        guard let blank = fault.lines else { break }
        var bytes = text.bytes
        for line in blank {
            for index in text.line(line).indices { bytes[index] = UInt8(ascii: " ") }
        }
        text = SourceText(file: source.file, bytes: bytes)
    }
    return diagnostics
}

/// One syntax error in words of ours.
struct SyntaxFault {
    var diagnostic: Diagnostic
    /// The lines to take away to look for more; nil: there is no telling.
    var lines: ClosedRange<Int>?

    init(_ failure: TomlDocument.Failure, _ text: SourceText) {
        let place = text.location(failure.offset..<failure.offset + 1)
        switch failure.kind {
        case VG_TOML_TOO_LARGE:
            diagnostic = Diagnostic(.error, "the file is too large", at: place, hint: "a graph file is a short text")
        case VG_TOML_TOO_DEEP:
            diagnostic = Diagnostic(.error, "a key with more than \(VG_TOML_DEPTH_LIMIT) parts", at: place)
        case VG_TOML_NO_MEMORY: diagnostic = Diagnostic(.error, "no memory left to read the file", at: place)
        default:
            if failure.message.contains("redefine") || failure.message.contains("cannot insert") {
                (diagnostic, lines) = redefinition(place, text, failure.offset)
            } else {
                (diagnostic, lines) = mistake(failure, place, text)
            }
        }
    }
}

/// Everything but redefinitions.
private func mistake(
    _ failure: TomlDocument.Failure, _ place: SourceLocation, _ text: SourceText
) -> (Diagnostic, ClosedRange<Int>?) {
    var message = failure.message
    var context = ""
    if message.hasPrefix("Error while parsing "), let colon = message.firstIndex(of: ":") {
        context = String(message[..<colon].dropFirst("Error while parsing ".count))
        message = String(message[colon...].dropFirst(2))
    }
    if message.contains("utf-8") {
        return (Diagnostic(.error, "not UTF-8 text", at: place, hint: "save the file as UTF-8"), nil)
    }
    if message.contains("nested value depth") {
        let limit = "more than \(VG_TOML_DEPTH_LIMIT) lists or tables within one another"
        return (Diagnostic(.error, limit, at: place), nil)
    }
    let line = text.line(place.line)
    let isAtEnd = message.contains("end-of-file")
    let open = OpenDelimiters(text.bytes, at: failure.offset)
    let atLineStart = OpenDelimiters(text.bytes, at: line.startIndex)
    let isInside = !atLineStart.brackets.isEmpty || atLineStart.string != nil
    let lines = isInside || !staysInLine(line) ? nil : place.line...place.line

    if let start = open.string, message.contains("control characters") || isAtEnd {
        let rest = text.bytes[start..<max(start, text.line(text.location(start..<start).line).endIndex)]
        let odd = String(decoding: rest, as: UTF8.self).first(where: typographicQuotes.contains)
        return (
            Diagnostic(
                .error,
                odd == nil ? "a string without its closing quote" : "a string that ends with a typographic quote",
                at: text.location(start..<text.bytes.count),
                hint: odd.map { "\($0) closes no string: write a straight quote, \"" }
                    ?? "close it, or write \"\"\" for text of several lines"), lines
        )
    }
    if let fault = leftOpen(open.brackets, isAtEnd, atLineStart, place, text) { return (fault, nil) }
    let isValue =
        ["value", "boolean", "inf", "nan"].contains(context) || context.contains("integer") || context.contains("float")
    if isValue { return (noValue(at: failure, text), lines) }
    // What follows a faulty header belongs to it, not to the table before.
    let blank = context == "table header" || isHeader(line) && !isInside ? tableLines(place.line, text) : lines
    if let fault = oddCharacter(failure, text) { return (fault, blank) }
    if let fault = oddEntry(context, message, failure.offset, text) { return (fault, blank) }
    if context == "table header", let fault = blankInName(place, line, text) { return (fault, blank) }
    if line.drop(while: { $0 == 32 || $0 == 9 }).starts(with: "//".utf8) {
        return (Diagnostic(.error, "'//' begins no comment", at: place, hint: "comments begin with #"), blank)
    }
    let (words, hint) = wording(context, message)
    return (Diagnostic(.error, words, at: place, hint: hint), blank)
}

/// A list or table in braces that the next entry or the end of the file runs into.
private func leftOpen(
    _ brackets: [Int], _ isAtEnd: Bool, _ atLineStart: OpenDelimiters, _ place: SourceLocation, _ text: SourceText
) -> Diagnostic? {
    let line = text.line(place.line)
    let isNextEntry = !atLineStart.brackets.isEmpty && (isHeader(line) || isEntry(line))
    guard let start = isNextEntry ? atLineStart.brackets.last : isAtEnd ? brackets.last : nil else { return nil }
    let isList = text.bytes[start] == UInt8(ascii: "[")
    return Diagnostic(
        .error, isList ? "a list without its closing ']'" : "a table without its closing '}'",
        at: text.location(start..<start + 1),
        hint: isNextEntry ? "what begins in line \(place.line) seems to come after it" : "the file ends before it does")
}

/// A table's name with a blank in it, as of [node.my mic].
private func blankInName(_ place: SourceLocation, _ line: ArraySlice<UInt8>, _ text: SourceText) -> Diagnostic? {
    let header = String(decoding: line, as: UTF8.self)
    guard let start = header.firstIndex(of: "["), let end = header.firstIndex(of: "]") else { return nil }
    let name = trimmed(String(header[header.index(after: start)..<end]))
    let words = name.split(separator: " ")
    guard words.count > 1, !name.contains("\""), !name.contains("'") else { return nil }
    return Diagnostic(
        .error, "a table's name has no blanks: '\(shortened(name))'", at: place,
        hint: "write [\(shortened(words.joined(separator: "_")))]")
}

private func wording(_ context: String, _ message: String) -> (message: String, hint: String) {
    switch context {
    case "string" where message.contains("unknown escape"):
        ("unknown escape in a string", "write \\\\ for a backslash, or use single quotes")
    case "array": ("expected a comma or ']' in the list", "is a comma or the closing ']' missing before this?")
    case "inline table":
        (
            "expected a comma or '}' in the table",
            "a table in braces stands in one line, without a comma after the last entry"
        )
    case "table header" where message.contains("blank bare keys"):
        ("a table without a name", "write [graph] or [node.NAME]")
    case "table header": ("expected ']' after the table's name", "write [graph] or [node.NAME]")
    case "key-value pair" where message.hasPrefix("expected '='"):
        ("expected '=' after the key", "entries look like: key = value")
    case "key-value pair" where message.hasPrefix("expected value"):
        ("expected a value after '='", "entries look like: key = value")
    case "key-value pair" where message.contains("comment or whitespace"):
        ("something follows the value", "one entry a line; comments start with #")
    case "key-value pair" where message.contains("end-of-file"):
        ("the file ends in the middle of an entry", "entries look like: key = value")
    case "root table": ("expected a key or a [table]", "entries look like: key = value")
    case "comment": ("a control character in a comment", "")
    default: (message, "")
    }
}

/// Whether an entry surely ends in its line.
func staysInLine(_ line: ArraySlice<UInt8>) -> Bool {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return true }
    let value = line[equals...]
    let text = String(decoding: value, as: UTF8.self)
    return !value.contains { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") } && !text.contains("\"\"\"")
        && !text.contains("'''")
}
