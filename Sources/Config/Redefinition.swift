// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// A key or table that is there already, and the lines that could be taken away to look for more mistakes.
func redefinition(_ place: SourceLocation, _ text: SourceText, _ offset: Int) -> (Diagnostic, ClosedRange<Int>?) {
    let line = text.line(place.line)
    if isHeader(line), OpenDelimiters(text.bytes, at: line.startIndex).brackets.isEmpty {
        return duplicateTable(place, text)
    }

    // The parser stands behind the key, and behind '=' if that follows.
    var end = min(offset, line.endIndex)
    while end > line.startIndex, line[end - 1].isBlank || line[end - 1] == UInt8(ascii: "=") { end -= 1 }
    var start = end
    while start > line.startIndex, !line[start - 1].isBlank, !",{.=".utf8.contains(line[start - 1]) { start -= 1 }
    guard start < end else { return (Diagnostic(.error, "a key is given twice", at: place), nil) }
    let key = Array(line[start..<end])
    // The first one, if it is in a line of its own in the same table.
    let isAlone = line[..<start].allSatisfy(\.isBlank)
    let first = (1..<place.line).reversed().first { isHeader(text.line($0)) || isEntry(text.line($0), key) }
    let found = isAlone ? first.flatMap { isHeader(text.line($0)) ? nil : $0 } : nil
    return (
        Diagnostic(
            .error, "duplicate key '\(shortened(String(decoding: key, as: UTF8.self)))'",
            at: text.location(start..<end),
            hint: found.map { "the first one is in line \($0)" } ?? "the table has this key already"),
        isAlone && staysInLine(line) ? place.line...place.line : nil
    )
}

private func duplicateTable(_ place: SourceLocation, _ text: SourceText) -> (Diagnostic, ClosedRange<Int>?) {
    let line = text.line(place.line)
    let name = header(line)
    let node = name.hasPrefix("node.") ? String(name.dropFirst(5)) : nil
    let shown = node ?? name
    // Without blanks and quotes the name stands as it is; else the whole line is pointed at.
    let target = Array(shown.utf8)
    var start = line.firstIndex { !$0.isBlank } ?? line.startIndex
    var end = line.endIndex
    for index in line.indices where line[index...].starts(with: target) && (index == 0 || !isNameByte(line[index - 1]))
    {
        (start, end) = (index, index + target.count)
        break
    }
    let first = (1..<place.line).first { isHeader(text.line($0)) && header(text.line($0)) == name }
    let isNode = node.map { !$0.contains(".") } ?? false
    return (
        Diagnostic(
            .error, isNode ? "duplicate node '\(shortened(shown))'" : "duplicate table [\(shortened(name))]",
            at: text.location(start..<end),
            hint: first.map { "the first one is in line \($0)" } ?? "the name is taken by another kind of value"),
        tableLines(place.line, text)
    )
}

/// A header's line and what belongs to it.
func tableLines(_ line: Int, _ text: SourceText) -> ClosedRange<Int> {
    var last = line
    while last < text.lineCount, !isHeader(text.line(last + 1)) { last += 1 }
    return line...last
}

/// Whether a line looks like a table's header.
func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
    guard let start = line.firstIndex(where: { !$0.isBlank }), line[start] == UInt8(ascii: "[") else { return false }
    // A line of a list of lists is no header.
    let next = line[start...].dropFirst().first { !$0.isBlank && $0 != UInt8(ascii: "[") } ?? 0
    return next.isLetter || next == UInt8(ascii: "_") || next >= 0x80
}

/// Whether a line looks like "key = value", with this key if one is given.
func isEntry(_ line: ArraySlice<UInt8>, _ key: [UInt8]? = nil) -> Bool {
    let rest = line.drop(while: \.isBlank)
    if let key { return rest.starts(with: key) && rest.dropFirst(key.count).first { !$0.isBlank } == UInt8(ascii: "=") }
    let name = rest.prefix { isNameByte($0) || $0 == UInt8(ascii: ".") }
    return !name.isEmpty && rest.dropFirst(name.count).first { !$0.isBlank } == UInt8(ascii: "=")
}

private func header(_ line: ArraySlice<UInt8>) -> String {
    let inner = line.drop { $0.isBlank || $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
    return String(decoding: inner.filter { !$0.isBlank }, as: UTF8.self)
}
