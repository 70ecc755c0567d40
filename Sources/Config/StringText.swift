// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// A string of a file after its escapes and `${...}` are resolved; each byte knows where it came from, so that what
/// is wrong inside a string can be pointed at.
struct StringText {
    private(set) var bytes: [UInt8]
    /// The variable that the whole string is, once it is expanded: of "${NAME}" and "${NAME:-default}" alone.
    private(set) var variable: Variable?
    /// The string as it was before variables in it were expanded; nil: there are none.
    private(set) var written: String?
    /// Offset in the file of each byte, and of the end; nil: the string stands as it is, from `start`.
    private var origins: [Int]?
    private let start: Int
    private let source: SourceText?
    private let whole: SourceLocation

    /// A string of a file.
    init(_ node: TomlDocument.Node, in document: TomlDocument) {
        bytes = Array(UnsafeRawBufferPointer(start: node.string, count: node.string_length))
        source = document.text
        whole = document.valueLocation(node)
        start = Int(node.start.offset) + 1
        let written = Int(node.end.offset) - Int(node.start.offset)
        // An ordinary string without escapes is two quotes longer than what it holds.
        if written != bytes.count + 2 {
            origins = findOrigins(document.text.bytes, Int(node.start.offset)..<Int(node.end.offset))
            // A form that is not understood here: the whole string is pointed at.
            if origins?.count != bytes.count + 1 { origins = [] }
        }
    }

    /// A string from elsewhere, starting at a place.
    init(_ text: String, at location: SourceLocation) {
        bytes = Array(text.utf8)
        source = nil
        whole = location
        start = 0
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Where a range of the text stands in the file.
    func location(_ range: Range<Int>) -> SourceLocation {
        guard let source else {
            guard whole.line > 0 else { return whole }
            var place = whole
            place.column += range.lowerBound
            place.length = max(1, range.count)
            return place
        }
        guard let origins else { return source.location(start + range.lowerBound..<start + range.upperBound) }
        guard !origins.isEmpty else { return whole }
        let first = origins[range.lowerBound]
        // The end of the last byte, not the start of the next: a line break or an expansion may lie between.
        let last = range.isEmpty ? first : max(first + 1, origins[range.upperBound])
        return source.location(first..<max(first, last))
    }

    /// Replaces `${NAME}`, `${NAME:-default}` and `$$`. A default counts when the variable is missing or empty.
    mutating func expand(_ environment: [String: String], _ report: (Diagnostic) -> Void) {
        let dollar = UInt8(ascii: "$")
        guard bytes.contains(dollar) else { return }
        let isAlone = bytes.starts(with: "${".utf8) && bytes.firstIndex(of: UInt8(ascii: "}")) == bytes.count - 1
        if bytes.indices.dropLast().contains(where: { bytes[$0] == dollar && bytes[$0 + 1] == UInt8(ascii: "{") }) {
            written = string
        }
        let alone = isAlone ? Self.parts(of: bytes[2..<bytes.count - 1]).name : nil
        var result: [UInt8] = []
        var places: [Int] = []
        func origin(_ index: Int) -> Int {
            guard let origins else { return start + index }
            return origins.isEmpty ? 0 : origins[index]
        }
        func put(_ text: some Sequence<UInt8>, _ index: Int) {
            for byte in text {
                result.append(byte)
                places.append(origin(index))
            }
        }
        var index = 0
        while index < bytes.count {
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            if bytes[index] == dollar, next == dollar {
                put(CollectionOfOne(dollar), index)
                index += 2
            } else if bytes[index] == dollar, next == UInt8(ascii: "{") {
                guard let end = bytes[index...].firstIndex(of: UInt8(ascii: "}")) else {
                    report(
                        Diagnostic(
                            .error, "'${' without '}'", at: location(index..<index + 2),
                            hint: "write $$ for a dollar sign"))
                    put(bytes[index...], index)
                    break
                }
                let place = location(index..<end + 1)
                switch value(of: bytes[index + 2..<end], environment) {
                case .success(let text): put(text.utf8, index)
                case .failure(let fault): report(Diagnostic(fault, at: place))
                }
                index = end + 1
            } else {
                put(CollectionOfOne(bytes[index]), index)
                index += 1
            }
        }
        if origins?.isEmpty != true { origins = places + [origin(bytes.count)] }
        bytes = result
        variable = alone.map { Variable($0, reading: SettingValue(plain: string)) }
    }

    /// "NAME:-default" in its parts.
    private static func parts(of inner: ArraySlice<UInt8>) -> (name: String, fallback: String?) {
        let text = String(decoding: inner, as: UTF8.self)
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[mark...].hasPrefix(":-") else {
            return (text, nil)
        }
        return (String(text[..<mark]), String(text[mark...].dropFirst(2)))
    }

    private func value(of inner: ArraySlice<UInt8>, _ environment: [String: String]) -> Result<String, Fault> {
        let text = String(decoding: inner, as: UTF8.self)
        let (name, fallback) = Self.parts(of: inner)
        let isName =
            !name.isEmpty && !name.utf8.first!.isDigit && name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == 95 }
        guard isName else {
            return .failure(
                Fault(
                    "'${\(shortened(text))}' does not name an environment variable",
                    hint: "write ${NAME} or ${NAME:-default}, or $$ for a dollar sign"))
        }
        if let found = environment[name], fallback == nil || !found.isEmpty { return .success(found) }
        if let fallback { return .success(fallback) }
        return .failure(
            Fault(
                "the environment variable '\(shortened(name))' is not set",
                hint: "set it, or give a default: ${\(shortened(name)):-default}"))
    }
}

extension UInt8 {
    var isDigit: Bool { self >= 48 && self <= 57 }
    var isLetter: Bool { (self | 32) >= 97 && (self | 32) <= 122 }
    var isBlank: Bool { self == 32 || self >= 9 && self <= 13 }
}

/// Where each byte that a quoted string stands for was written, and where the string ends.
private func findOrigins(_ text: [UInt8], _ range: Range<Int>) -> [Int] {
    guard range.count >= 2, range.upperBound <= text.count else { return [] }
    let quote = text[range.lowerBound]
    let triple = range.count >= 6 && text[range.lowerBound + 1] == quote && text[range.lowerBound + 2] == quote
    var at = range.lowerBound + (triple ? 3 : 1)
    let end = range.upperBound - (triple ? 3 : 1)
    if triple, at < end, text[at] == 13 { at += 1 }
    if triple, at < end, text[at] == 10 { at += 1 }
    var origins: [Int] = []
    while at < end {
        guard text[at] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), at + 1 < end else {
            // A line break is one byte to the parser, however it is written.
            if !(triple && text[at] == 13 && at + 1 < end && text[at + 1] == 10) { origins.append(at) }
            at += 1
            continue
        }
        switch text[at + 1] {
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let digits = text[at + 1] == UInt8(ascii: "u") ? 4 : 8
            let code = UInt32(
                String(decoding: text[min(at + 2, end)..<min(at + 2 + digits, end)], as: UTF8.self), radix: 16)
            let width = Unicode.Scalar(code ?? 0).map { UTF8.width($0) } ?? 1
            origins += [Int](repeating: at, count: width)
            at += 2 + digits
        case let next where next.isBlank:
            // A backslash at the end of a line takes away all blanks up to the next word.
            at += 1
            while at < end, text[at].isBlank { at += 1 }
        default:
            origins.append(at)
            at += 2
        }
    }
    return origins + [end]
}
