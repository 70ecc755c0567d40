// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile

/// A parsed TOML text. What the nodes point to lives as long as this.
final class TomlDocument {
    typealias Node = vg_toml_node

    let text: SourceText
    private let document: UnsafePointer<vg_toml_document>

    /// What kept the text from being parsed.
    struct Failure: Error {
        var kind: vg_toml_failure
        var message: String
        var offset: Int
    }

    /// Parses a text.
    static func parse(_ text: SourceText) -> Result<TomlDocument, Failure> {
        let parsed = text.bytes.withUnsafeBytes {
            vg_toml_parse($0.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, $0.count)
        }
        guard let parsed else { return .failure(Failure(kind: VG_TOML_NO_MEMORY, message: "", offset: 0)) }
        let c = parsed.pointee
        guard c.failure == VG_TOML_FINE else {
            defer { vg_toml_free(parsed) }
            return .failure(
                Failure(kind: c.failure, message: c.message.map { String(cString: $0) } ?? "", offset: c.place.offset))
        }
        return .success(TomlDocument(text, parsed))
    }

    private init(_ text: SourceText, _ document: UnsafePointer<vg_toml_document>) {
        self.text = text
        self.document = document
    }

    deinit { vg_toml_free(document) }

    /// Tables, lists and values in all.
    var count: Int { Int(document.pointee.count) }

    /// The table of the whole text.
    var root: Node { document.pointee.nodes[0] }

    /// What is in a table or list, in the order of the file.
    func children(_ node: Node) -> UnsafeBufferPointer<Node> {
        UnsafeBufferPointer(start: document.pointee.nodes + Int(node.first), count: Int(node.count))
    }

    /// The value of a key in a table.
    func child(_ node: Node, _ key: String) -> Node? { children(node).first { self.key($0) == key } }

    /// A node's key.
    func key(_ node: Node) -> String { Self.string(node.key, node.key_length) }

    /// A string's text, escapes resolved.
    func string(_ node: Node) -> String { Self.string(node.string, node.string_length) }

    /// Where a key stands.
    func keyLocation(_ node: Node) -> SourceLocation { location(node.key_start, node.key_end) }

    /// Where a value stands.
    func valueLocation(_ node: Node) -> SourceLocation { location(node.start, node.end) }

    private func location(_ start: vg_toml_place, _ end: vg_toml_place) -> SourceLocation {
        // Most values end in their line, where no search is needed.
        guard start.line == end.line else { return text.location(start.offset..<max(start.offset, end.offset)) }
        return SourceLocation(
            text, line: Int(start.line), column: Int(start.column), length: max(1, Int(end.column) - Int(start.column)))
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length), as: UTF8.self)
    }
}

nonisolated(unsafe) private let emptyText = UnsafePointer<CChar>(UnsafeMutablePointer<CChar>.allocate(capacity: 1))
