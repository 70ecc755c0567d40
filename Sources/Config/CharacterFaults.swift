// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// What no straight quote is, though it looks like one.
let typographicQuotes: Set<Character> = [
    "“", "”", "„", "‟", "‘", "’", "‚", "‛", "«", "»", "‹", "›", "″", "′", "`", "´",
]

/// A character that only stands in quoted keys.
func oddCharacter(_ failure: TomlDocument.Failure, _ text: SourceText) -> Diagnostic? {
    guard text.bytes.indices.contains(failure.offset), text.bytes[failure.offset] >= 0x80 else { return nil }
    var start = failure.offset
    while start > 0, text.bytes[start] & 0xC0 == 0x80 { start -= 1 }
    var end = start + 1
    while end < text.bytes.count, text.bytes[end] & 0xC0 == 0x80 { end += 1 }
    let character = String(decoding: text.bytes[start..<end], as: UTF8.self)
    let place = text.location(start..<end)
    if character.contains(where: typographicQuotes.contains) {
        return Diagnostic(
            .error, "\(character) is a typographic quote", at: place,
            hint: "write straight quotes, \"; a key needs none")
    }
    if character == "\u{A0}" || character == "\u{202F}" {
        return Diagnostic(.error, "a no-break space", at: place, hint: "write an ordinary space")
    }
    return Diagnostic(
        .error, "'\(character)' cannot stand here without quotes", at: place,
        hint: "names without quotes are made of a to z, digits, '_' and '-'")
}

/// What people write who know other formats, or numbers with units; nil: it is nothing of that.
func oddEntry(_ context: String, _ message: String, _ offset: Int, _ text: SourceText) -> Diagnostic? {
    guard context == "key-value pair", text.bytes.indices.contains(offset) else { return nil }
    let line = text.line(text.location(offset..<offset + 1).line)
    if message.hasPrefix("expected '='") {
        let shown = String(decoding: line, as: UTF8.self)
        if text.bytes[offset] == UInt8(ascii: ":") {
            let isOption = shown.drop(while: { $0 == " " }).first == "-"
            return Diagnostic(
                .error, "expected '=' after the key, not ':'", at: text.location(offset..<offset + 1),
                hint: "a graph file is TOML\(isOption ? "" : ", not YAML"): key = value below [graph] or [node.NAME]")
        }
        if shown.contains("->") {
            return Diagnostic(
                .error, "a link that stands by itself", at: text.location(trimmedRange(line)),
                hint: "links stand in quotes in a list: links = [\"a -> b\"]")
        }
        return nil
    }
    guard message.contains("comment or whitespace"), line.indices.contains(offset) else { return nil }
    // "6 dB" or "1,5": the parser stops behind the number.
    var start = offset
    while start > line.startIndex, line[start - 1] != UInt8(ascii: "=") { start -= 1 }
    let value = trimmed(String(decoding: line[start...], as: UTF8.self).prefix { $0 != "#" })
    let number = value.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) }
    guard Double(number) != nil, !value.contains("\"") else { return nil }
    let place = text.location(trimmedRange(line[start..<start + (line.endIndex - start)]))
    let rest = value.dropFirst(number.count)
    if rest.first == ",", let fraction = rest.dropFirst().first, fraction.isNumber {
        return Diagnostic(
            .error, "'\(shortened(value))' is no number", at: place,
            hint: "decimals have a point: \(number).\(rest.dropFirst().prefix { $0.isNumber })")
    }
    guard rest.drop(while: { $0 == " " }).first?.isLetter == true || rest.contains("%") else { return nil }
    return Diagnostic(
        .error, "'\(shortened(value))' is no number", at: place,
        hint: "write the number alone, without a unit: \(number)")
}

private func trimmedRange(_ line: ArraySlice<UInt8>) -> Range<Int> {
    let start = line.firstIndex { !$0.isBlank } ?? line.startIndex
    let end = line.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? line.endIndex
    return start..<max(start, end)
}

/// A word that is neither a number nor true or false, nor in quotes.
func noValue(at failure: TomlDocument.Failure, _ text: SourceText) -> Diagnostic {
    func isPart(_ byte: UInt8) -> Bool { !byte.isBlank && !",[]{}=\"'#".utf8.contains(byte) }
    let bytes = text.bytes
    var start = min(failure.offset, bytes.count)
    while start > 0, isPart(bytes[start - 1]) { start -= 1 }
    var end = start
    while end < bytes.count, isPart(bytes[end]) { end += 1 }
    let word = shortened(String(decoding: bytes[start..<end], as: UTF8.self))
    let place = text.location(start..<max(end, start + 1))
    if failure.message.contains("leading zero") {
        return Diagnostic(
            .error, "'\(word)' is a number with a leading zero", at: place,
            hint: "leave the zero out; only text has one, in straight quotes")
    }
    if failure.message.contains("representable") { return Diagnostic(.error, "'\(word)' is too large", at: place) }
    let line = text.line(place.line)
    let rest = String(decoding: bytes[start..<max(start, line.endIndex)], as: UTF8.self)
    if let quote = word.first(where: typographicQuotes.contains), word.first == quote {
        let inner = rest.dropFirst().prefix { !typographicQuotes.contains($0) }
        return Diagnostic(
            .error, "\(quote) is a typographic quote", at: place,
            hint: "write straight quotes: \"\(shortened(String(inner)))\"")
    }
    if let arrow = rest.firstRange(of: "->"), !rest[..<arrow.lowerBound].contains(where: { "\"',#=".contains($0) }) {
        let link = trimmed(rest.prefix { !",]#\"".contains($0) })
        return Diagnostic(
            .error, "a link without quotes", at: place, hint: "write it in quotes: \"\(shortened(link))\"")
    }
    return Diagnostic(
        .error, word.isEmpty ? "a value is missing" : "'\(word)' is no value", at: place, hint: hint(word))
}

/// What was meant by a word that is no value.
private func hint(_ word: String) -> String {
    if word.isEmpty { return "" }
    if ["True", "False", "TRUE", "FALSE", "yes", "no", "on", "off", "Yes", "No", "On", "Off"].contains(word) {
        return "write true or false"
    }
    if ["null", "nil", "none", "None", "NULL", "~"].contains(word) { return "leave the entry out" }
    let minus: Set<Character> = ["\u{2212}", "\u{2013}", "\u{2014}"]
    let plain = String(word.map { minus.contains($0) ? "-" : $0 })
    let number = plain.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) }
    guard number.contains(where: \.isNumber), let value = Double(number), value.isFinite else {
        return "write text in quotes: \"\(word)\""
    }
    let unit = plain.dropFirst(number.count).lowercased()
    let isWhole = !number.contains(".")
    func written(_ value: Double) -> String { Int64(exactly: value).map(String.init) ?? "\(value)" }
    switch unit {
    case "": return "write it as \(isWhole ? written(value) : "\(value)")"
    case "k", "khz": return "write the number alone, without a unit: \(written(value * 1000))"
    case "db", "hz", "ms", "s", "sec", "frames", "samples", "st", "dbfs", "lufs", "bpm", "x":
        return "write the number alone, without a unit: \(isWhole ? written(value) : "\(value)")"
    case "%": return "write the number alone, without a unit"
    default: return "write text in quotes: \"\(word)\""
    }
}
