// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension SettingValue {
    /// The kind in words, for messages: "a string".
    package var kindText: String {
        switch self {
        case .bool: "true or false"
        case .integer: "a whole number"
        case .number: "a number with a fraction"
        case .string: "a string"
        case .list: "a list"
        case .table: "a table"
        }
    }
}

extension SourceLocation {
    /// Whether it stands before another place of the same file.
    package func isBefore(_ other: SourceLocation) -> Bool { (line, column) < (other.line, other.column) }
}

/// A number as a person would write it: no ".0".
func text(_ number: Double) -> String {
    if let whole = Int64(exactly: number), abs(number) < 1e15 { return String(whole) }
    return "\(number)"
}

/// "a", "a or b", "a, b or c". [any]
package func enumerated(_ names: [String], _ word: String) -> String {
    names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " \(word) " + (names.last ?? "")
}

/// "one of a, b, c", cut after a dozen.
package func listing(_ names: some Collection<String>) -> String {
    names.isEmpty ? "" : "one of: " + names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", ..." : "")
}

/// A port's kind in words.
public func kindName(_ kind: vg_port_kind) -> String { kind.name }

extension Endpoint {
    /// Where the node's name stands; the whole end if its text has escapes.
    package var nodeLocation: SourceLocation {
        var place = location
        if port != nil, isPlain { place.length = node.utf8.count }
        return place
    }

    /// Where the port's name stands; the whole end if its text has escapes.
    package var portLocation: SourceLocation {
        var place = location
        guard let port, isPlain else { return place }
        place.column += node.utf8.count + 1
        place.length = port.utf8.count
        return place
    }

    private var isPlain: Bool { location.line > 0 && location.length == description.utf8.count }
}
