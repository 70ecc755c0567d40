// SPDX-License-Identifier: Apache-2.0
import CToml
import Graph

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
private struct SyntaxFault {
    var diagnostic: Diagnostic
    /// The lines to take away to look for more; nil: there is no telling.
    var lines: ClosedRange<Int>?

    init(_ failure: TomlDocument.Failure, _ text: SourceText) {
        let place = text.location(failure.offset..<failure.offset + 1)
        switch failure.kind {
        case VG_TOML_TOO_LARGE:
            diagnostic = Diagnostic(
                .error, "the file is larger than 16 MiB", at: place, hint: "a graph file is a short text")
        case VG_TOML_TOO_DEEP:
            diagnostic = Diagnostic(.error, "a key with more than \(VG_TOML_DEPTH_LIMIT) parts", at: place)
        case VG_TOML_NO_MEMORY: diagnostic = Diagnostic(.error, "no memory left to read the file", at: place)
        default:
            if failure.message.contains("redefine") || failure.message.contains("cannot insert") {
                (diagnostic, lines) = redefinition(place, text)
            } else {
                (diagnostic, lines) = other(failure.message, place, text)
            }
        }
    }
}

// MARK: - what is defined twice

private func redefinition(_ place: SourceLocation, _ text: SourceText) -> (Diagnostic, ClosedRange<Int>?) {
    let line = text.line(place.line)
    guard let start = line.firstIndex(where: { !$0.isBlank }) else {
        return (Diagnostic(.error, "something is defined twice", at: place), nil)
    }
    if line[start] == UInt8(ascii: "[") {
        let name = header(line)
        let inner = start + (line[start...].starts(with: "[[".utf8) ? 2 : 1)
        let key = name.hasPrefix("node.") ? String(name.dropFirst(5)) : name
        let offset = name.hasPrefix("node.") && line[inner...].starts(with: "node.".utf8) ? inner + 5 : inner
        var last = place.line
        while last < text.lineCount, !isHeader(text.line(last + 1)) { last += 1 }
        let first = (1..<place.line).first { isHeader(text.line($0)) && header(text.line($0)) == name }
        let what =
            name.hasPrefix("node.") && !key.contains(".")
            ? "duplicate node '\(shortened(key))'" : "duplicate table [\(shortened(name))]"
        return (
            Diagnostic(
                .error, what, at: text.location(offset..<offset + max(1, key.utf8.count)),
                hint: first.map { "the first one is in line \($0)" }
                    ?? "it has been defined by a key or another kind of table"),
            place.line...last
        )
    }
    let end = line[start...].firstIndex { $0 == UInt8(ascii: "=") || $0.isBlank } ?? line.endIndex
    // Inside an inline table the key is not at the start of the line.
    guard text.location(start..<end).column + end - start >= place.column else {
        return (Diagnostic(.error, "a key is given twice", at: place), nil)
    }
    let key = Array(line[start..<end])
    let first = (1..<place.line).reversed().first { number in
        let other = text.line(number)
        return isHeader(other) || isEntry(other, key)
    }
    let found = first.flatMap { isHeader(text.line($0)) ? nil : $0 }
    return (
        Diagnostic(
            .error, "duplicate key '\(shortened(String(decoding: key, as: UTF8.self)))'",
            at: text.location(start..<end),
            hint: found.map { "the first one is in line \($0)" } ?? "the table has this key already"),
        staysInLine(line) ? place.line...place.line : nil
    )
}

private func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
    guard let start = line.firstIndex(where: { !$0.isBlank }), line[start] == UInt8(ascii: "[") else { return false }
    // A line of a list of lists is no header.
    let next = line[start...].dropFirst().first { !$0.isBlank && $0 != UInt8(ascii: "[") } ?? 0
    return next.isLetter || next == UInt8(ascii: "_") || next >= 0x80
}

private func header(_ line: ArraySlice<UInt8>) -> String {
    let inner = line.drop { $0.isBlank || $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
    return String(decoding: inner.filter { !$0.isBlank }, as: UTF8.self)
}

private func isEntry(_ line: ArraySlice<UInt8>, _ key: [UInt8]) -> Bool {
    let rest = line.drop(while: \.isBlank)
    return rest.starts(with: key) && rest.dropFirst(key.count).first { !$0.isBlank } == UInt8(ascii: "=")
}

/// Whether an entry surely ends in its line.
private func staysInLine(_ line: ArraySlice<UInt8>) -> Bool {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return true }
    let value = line[equals...]
    let text = String(decoding: value, as: UTF8.self)
    return !value.contains { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") } && !text.contains("\"\"\"")
        && !text.contains("'''")
}

// MARK: - everything else

private func other(_ raw: String, _ place: SourceLocation, _ text: SourceText) -> (Diagnostic, ClosedRange<Int>?) {
    var message = raw
    var context = ""
    if message.hasPrefix("Error while parsing "), let colon = message.firstIndex(of: ":") {
        context = String(message[..<colon].dropFirst("Error while parsing ".count))
        message = String(message[colon...].dropFirst(2))
    }
    let line = text.line(place.line)
    let isAtEnd = message.contains("end-of-file")
    var hint = ""
    var local = staysInLine(line) && context != "array" && context != "inline table" && !isAtEnd

    switch context {
    case "string" where message.contains("control characters") || isAtEnd:
        (message, hint) = ("a string without its closing quote", "close it, or write \"\"\" for text of several lines")
    case "string" where message.contains("unknown escape"):
        (message, hint) = ("unknown escape in a string", "write \\\\ for a backslash, or use single quotes")
    case "array":
        message = isAtEnd ? "a list without its closing ']'" : "expected a comma or ']' in the list"
        hint = isAtEnd ? "" : "is a comma or the closing ']' missing before this?"
    case "inline table":
        message = isAtEnd ? "a table without its closing '}'" : "expected a comma or '}' in the table"
        hint = "a table in braces stands in one line, without a comma after the last entry"
    case "value" where message.contains("could not determine"):
        (message, hint) = ("this is no value", "write text in quotes: \"...\"")
    case "boolean": (message, hint) = ("this is no value", "write true or false, and text in quotes")
    case "table header": (message, hint) = ("a table's header is not closed", "write [graph] or [node.NAME]")
    case "key-value pair" where message.hasPrefix("expected '='"):
        (message, hint) = ("expected '=' after the key", "entries look like: key = value")
    case "key-value pair" where message.hasPrefix("expected value"):
        (message, hint) = ("expected a value after '='", "entries look like: key = value")
    case "key-value pair" where message.contains("comment or whitespace"):
        (message, hint) = ("something follows the value", "one entry a line; comments start with #")
    case "root table": (message, hint) = ("expected a key or a [table]", "entries look like: key = value")
    case "comment": message = "a control character in a comment"
    case let context where context.contains("integer") || context.contains("float"):
        message = message.contains("leading zero") ? "a number with a leading zero" : "this is no number"
        hint = raw.contains("representable") ? "it is too large" : "write text in quotes"
    default:
        if message.contains("utf-8") {
            (message, hint) = ("not UTF-8 text", "save the file as UTF-8")
            local = false
        } else if message.contains("nested value depth") {
            (message, local) = ("more than \(VG_TOML_DEPTH_LIMIT) lists or tables within one another", false)
        } else if isAtEnd {
            message = "the file ends too early"
        }
    }
    return (Diagnostic(.error, message, at: place, hint: hint), local ? place.line...place.line : nil)
}
