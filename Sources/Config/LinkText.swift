// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

extension LinkDescription {
    /// Reads "a -> b.port -> c" from somewhere else than a file; `location` is the place of its first byte.
    public static func parse(
        _ text: String, at location: SourceLocation = SourceLocation()
    ) -> (links: [LinkDescription], diagnostics: [Diagnostic]) {
        var diagnostics: [Diagnostic] = []
        let links = parseLinks(StringText(text, at: location)) { diagnostics.append($0) }
        return (links, diagnostics)
    }
}

private let howLinksLook = "links look like \"a -> b\" or \"a.port -> b -> c\""

/// Reads a chain; what is wrong in one place does not keep the rest from being read.
func parseLinks(_ text: StringText, _ report: (Diagnostic) -> Void) -> [LinkDescription] {
    let parts = splitAtArrows(text.bytes)
    guard parts.count > 1 else {
        report(
            Diagnostic(
                .error, "a link without an arrow", at: text.location(trim(text.bytes, parts[0])), hint: howLinksLook))
        return []
    }
    var links: [LinkDescription] = []
    var previous: (end: Endpoint, range: Range<Int>)?
    for (index, part) in parts.enumerated() {
        let range = trim(text.bytes, part)
        guard !range.isEmpty else {
            // The arrow is pointed at: there is nothing else to point at.
            let arrow = index == 0 ? part.upperBound..<part.upperBound + 2 : part.lowerBound - 2..<part.lowerBound
            let side = index == 0 ? "before" : "after"
            report(Diagnostic(.error, "nothing \(side) the arrow", at: text.location(arrow), hint: howLinksLook))
            previous = nil
            continue
        }
        guard let end = parseEndpoint(text, range, report) else {
            previous = nil
            continue
        }
        if let previous {
            links.append(
                LinkDescription(
                    from: previous.end, to: end,
                    location: text.location(previous.range.lowerBound..<range.upperBound)))
        }
        previous = (end, range)
    }
    return links
}

/// Reads "node" or "node.port".
func parseEndpoint(_ text: StringText, _ range: Range<Int>, _ report: (Diagnostic) -> Void) -> Endpoint? {
    let bytes = text.bytes[range]
    let shown = shortened(String(decoding: bytes, as: UTF8.self))
    if let odd = bytes.firstIndex(where: { !isNameByte($0) && $0 != UInt8(ascii: ".") }) {
        // A whole character is underlined, not its first byte.
        var end = odd + 1
        while end < range.upperBound, text.bytes[end] & 0xC0 == 0x80 { end += 1 }
        let character = String(decoding: text.bytes[odd..<end], as: UTF8.self)
        let looksLikeArrow = "=>–→—-".contains(character)
        report(
            Diagnostic(
                .error,
                bytes[odd].isBlank
                    ? "two names without an arrow between them: '\(shown)'"
                    : "'\(shown)' is not the name of a node or port",
                at: text.location(bytes[odd].isBlank ? range : odd..<end),
                hint: looksLikeArrow || bytes[odd].isBlank
                    ? howLinksLook : "names are made of letters, digits, '_' and '-'"))
        return nil
    }
    let pieces = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count <= 2, pieces.allSatisfy({ !$0.isEmpty }) else {
        report(
            Diagnostic(
                .error, "'\(shown)' is not the name of a node or port", at: text.location(range),
                hint: "write the node's name, or node.port"))
        return nil
    }
    let names = pieces.map { String(decoding: $0, as: UTF8.self) }
    return Endpoint(names[0], names.count == 2 ? names[1] : nil, location: text.location(range))
}

extension NodeDescription {
    /// Whether a node can be called this. [any]
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isNameByte) && !text.contains("->")
    }
}

/// Whether a byte may stand in a node's name; all of UTF-8 beyond ASCII may.
func isNameByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte >= 0x80
}

private func splitAtArrows(_ bytes: [UInt8]) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    var index = 0
    while index + 1 < bytes.count {
        if bytes[index] == UInt8(ascii: "-"), bytes[index + 1] == UInt8(ascii: ">") {
            parts.append(start..<index)
            index += 2
            start = index
        } else {
            index += 1
        }
    }
    return parts + [start..<bytes.count]
}

private func trim(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, bytes[low].isBlank { low += 1 }
    while low < high, bytes[high - 1].isBlank { high -= 1 }
    return low..<high
}
