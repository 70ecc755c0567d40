// SPDX-License-Identifier: Apache-2.0
import GraphFile
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
    let arrows = findArrows(text.bytes)
    guard !arrows.isEmpty else {
        report(
            Diagnostic(
                .error, "a link without an arrow", at: text.location(trim(text.bytes, text.bytes.indices)),
                hint: howLinksLook))
        return []
    }
    for arrow in arrows where arrow.direction != .right { report(oddArrow(arrow, text)) }
    var links: [LinkDescription] = []
    var previous: (end: Endpoint, range: Range<Int>)?
    for index in 0...arrows.count {
        let start = index == 0 ? 0 : arrows[index - 1].range.upperBound
        let end = index == arrows.count ? text.bytes.count : arrows[index].range.lowerBound
        let range = trim(text.bytes, start..<end)
        guard !range.isEmpty else {
            // The arrow is pointed at: there is nothing else to point at.
            let arrow = index == 0 ? arrows[0].range : arrows[index - 1].range
            let side = index == 0 ? "before" : "after"
            report(Diagnostic(.error, "nothing \(side) the arrow", at: text.location(arrow), hint: howLinksLook))
            previous = nil
            continue
        }
        guard let end = parseEndpoint(text, range, report) else {
            previous = nil
            continue
        }
        // Of an arrow that does not say where it points nothing follows.
        if let previous, [.right, .odd].contains(arrows[index - 1].direction) {
            links.append(
                LinkDescription(
                    from: previous.end, to: end,
                    location: text.location(previous.range.lowerBound..<range.upperBound)))
        }
        previous = (end, range)
    }
    return links
}

private func oddArrow(_ arrow: Arrow, _ text: StringText) -> Diagnostic {
    let written = shortened(String(decoding: text.bytes[arrow.range], as: UTF8.self))
    let hint =
        switch arrow.direction {
        case .left: "links go from left to right: write \"b -> a\" for \"a \(written) b\""
        case .both: "a link has one direction: write two, \"a -> b\" and \"b -> a\""
        default: "write -> as in \"a -> b\""
        }
    return Diagnostic(.error, "'\(written)' is not how links are written", at: text.location(arrow.range), hint: hint)
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
        let isBlank = bytes[odd].isBlank
        let hint =
            switch character {
            case ":" where shown.contains("_") || shown.hasPrefix("system:"):
                "a JACK port is named by `connect` in a node of type \"input\" or \"output\", not in a link"
            case ",", ";": "each link is a string of its own: links = [\"a -> b\", \"b -> c\"]"
            case _ where isBlank || "=>|–→—-".contains(character): howLinksLook
            default: "names are made of letters, digits, '_' and '-'"
            }
        report(
            Diagnostic(
                .error,
                isBlank
                    ? "two names without an arrow between them: '\(shown)'"
                    : "'\(shown)' is not the name of a node or port",
                at: text.location(isBlank ? range : odd..<end), hint: hint))
        return nil
    }
    let pieces = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count <= 2, pieces.allSatisfy({ !$0.isEmpty }) else {
        report(
            Diagnostic(
                .error, "'\(shown)' is not the name of a node or port", at: text.location(range),
                hint: pieces.count > 2
                    ? "write node.port: neither a node's name nor a port's has dots"
                    : "write the node's name, or node.port"
            ))
        return nil
    }
    let names = pieces.map { String(decoding: $0, as: UTF8.self) }
    return Endpoint(names[0], names.count == 2 ? names[1] : nil, location: text.location(range))
}

extension NodeDescription {
    /// Whether a node can be called this. [any]
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isNameByte) && findArrows(Array(text.utf8)).isEmpty
    }
}

/// Whether a byte may stand in a node's name; all of UTF-8 beyond ASCII may.
func isNameByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte >= 0x80
}

/// What joins two names of a chain.
private struct Arrow {
    /// Where it points; `odd` is to the right, but not "->".
    enum Direction { case right, odd, left, both }

    var range: Range<Int>
    var direction: Direction
}

/// Every arrow, also those that people write in place of "->": "-->", "=>", ">", "<-", and the arrows of Unicode.
private func findArrows(_ bytes: [UInt8]) -> [Arrow] {
    var arrows: [Arrow] = []
    var index = 0
    while index < bytes.count {
        if let (width, direction) = unicodeArrow(bytes[index...]) {
            arrows.append(Arrow(range: index..<index + width, direction: direction))
            index += width
            continue
        }
        guard bytes[index] == UInt8(ascii: ">") || bytes[index] == UInt8(ascii: "<") else {
            index += 1
            continue
        }
        let first = arrows.last?.range.upperBound ?? 0
        var start = index
        while start > first, "-=~<>".utf8.contains(bytes[start - 1]) { start -= 1 }
        let isLeft = bytes[index] == UInt8(ascii: "<")
        var end = index + 1
        // A name may begin with '-', so that after '>' no more of these belong to it.
        while end < bytes.count, (isLeft ? "-=~<>" : ">").utf8.contains(bytes[end]) { end += 1 }
        let isBoth = isLeft && bytes[start..<end].contains(UInt8(ascii: ">"))
        let isPlain = bytes[start..<end].elementsEqual("->".utf8)
        arrows.append(
            Arrow(range: start..<end, direction: isBoth ? .both : isLeft ? .left : isPlain ? .right : .odd))
        index = end
    }
    return arrows
}

/// An arrow of Unicode at the start: U+2190 to U+21FF, U+2794 to U+27BF, U+27F0 to U+27FF; how many bytes it has.
private func unicodeArrow(_ bytes: ArraySlice<UInt8>) -> (width: Int, Arrow.Direction)? {
    guard bytes.first == 0xE2, bytes.count >= 3 else { return nil }
    let low = UInt32(bytes[bytes.startIndex + 1] & 0x3F) << 6 | UInt32(bytes[bytes.startIndex + 2] & 0x3F)
    switch 0x2000 | low {
    case 0x2190, 0x21D0, 0x21A4, 0x27F5, 0x27F8: return (3, .left)
    case 0x2194, 0x21D4, 0x27F7, 0x27FA: return (3, .both)
    case 0x2190...0x21FF, 0x2794...0x27BF, 0x27F0...0x27FF: return (3, .odd)
    default: return nil
    }
}

private func trim(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, bytes[low].isBlank { low += 1 }
    while low < high, bytes[high - 1].isBlank { high -= 1 }
    return low..<high
}
