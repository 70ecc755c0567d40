// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// Changes one table of a file, whether it has a header or stands in a line.
struct TablePatch {
    private let document: TomlDocument
    private let table: TomlDocument.Node
    private var bytes: [UInt8] { document.text.bytes }

    init(_ document: TomlDocument, _ table: TomlDocument.Node) {
        self.document = document
        self.table = table
    }

    /// `{ a = 1 }`, which has no comments of its own.
    private var isInline: Bool {
        bytes.indices.contains(table.start.offset) && bytes[table.start.offset] == UInt8(ascii: "{")
    }

    /// `[a]`
    private var hasHeader: Bool {
        bytes.indices.contains(table.start.offset) && bytes[table.start.offset] == UInt8(ascii: "[")
    }

    /// Makes entries what they should be; what is the same stays as it was written.
    func change(_ old: [KeyedEntry], to new: [KeyedEntry], _ edits: inout TextEdits) throws(Unpatchable) {
        let (before, after) = (old.byKey, new.byKey)
        guard before != after else { return }
        if isInline {
            let isSameShape = Set(before.keys) == Set(after.keys)
            guard isSameShape else {
                let whole = TomlWriter.value(
                    .table(Dictionary(new.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })))
                return edits.replace(range(table), with: whole)
            }
        }
        for (key, value) in new where before[key] != value.plain {
            if let child = document.child(table, key) {
                try replace(child, before[key], value, &edits)
            } else {
                try add(key, value, &edits)
            }
        }
        for key in before.keys where after[key] == nil {
            guard let child = document.child(table, key) else { continue }
            try removeLine(child, &edits)
        }
    }

    /// Removes the table with all that belongs to it, and the comment above it.
    func remove(path: String, _ edits: inout TextEdits) throws(Unpatchable) {
        if isInline { return try removeLine(table, &edits) }
        guard hasHeader else { throw Unpatchable() }
        // What is in tables of their own has to go, too.
        for child in document.children(table) where child.kind == VG_TOML_TABLE {
            let inner = TablePatch(document, child)
            if inner.hasHeader { try inner.remove(path: path, &edits) } else if !inner.isInline { throw Unpatchable() }
        }
        let text = document.text
        let line = Int(table.start.line)
        var end = tableLines(line, text).upperBound
        // The comment above the next table is about that one.
        if end < text.lineCount { end = edits.firstComment(before: end + 1) - 1 }
        let start = edits.firstComment(before: line)
        let stop = end < text.lineCount ? text.line(end + 1).startIndex : text.bytes.count
        edits.replace(text.line(start).startIndex..<stop, with: "")
    }

    private func range(_ node: TomlDocument.Node) -> Range<Int> {
        node.start.offset..<max(node.start.offset, node.end.offset)
    }

    private func replace(
        _ child: TomlDocument.Node, _ old: SettingValue?, _ new: SettingValue, _ edits: inout TextEdits
    ) throws(Unpatchable) {
        if child.kind == VG_TOML_TABLE, case .table(let before)? = old, case .table(let after) = new {
            func entries(_ table: [String: SettingValue]) -> [KeyedEntry] {
                table.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            }
            return try TablePatch(document, child).change(entries(before), to: entries(after), &edits)
        }
        guard child.kind != VG_TOML_TABLE || TablePatch(document, child).isInline else { throw Unpatchable() }
        edits.replace(range(child), with: TomlWriter.value(new))
    }

    /// Behind the last entry of the table, with "=" below its "=".
    private func add(_ key: String, _ value: SettingValue, _ edits: inout TextEdits) throws(Unpatchable) {
        let entries = document.children(table).filter { child in
            child.kind != VG_TOML_TABLE || TablePatch(document, child).isInline
        }
        guard hasHeader else { throw Unpatchable() }
        let text = document.text
        let last = entries.max { $0.end.offset < $1.end.offset }
        var line = Int(last?.end.line ?? table.start.line)
        // The end of a value may be told as the beginning of the next line.
        if let last, last.end.offset > last.start.offset {
            line = text.location(last.end.offset - 1..<last.end.offset).line
        }
        let place = line < text.lineCount ? text.line(line + 1).startIndex : text.bytes.count
        var name = TomlWriter.key(key)
        if let last, case let above = text.line(Int(last.key_start.line)),
            let equals = above.firstIndex(of: UInt8(ascii: "="))
        {
            let column = equals - above.startIndex
            if column > name.count { name += String(repeating: " ", count: column - name.count - 1) }
        }
        let isAtEnd = place == text.bytes.count && text.bytes.last != 10
        edits.replace(place..<place, with: (isAtEnd ? "\n" : "") + "\(name) = \(TomlWriter.value(value))\n")
    }

    /// A key and its value, with their lines.
    private func removeLine(_ child: TomlDocument.Node, _ edits: inout TextEdits) throws(Unpatchable) {
        let text = document.text
        let first = Int(child.key_start.line)
        let line = text.line(first)
        guard child.key != nil, child.end.offset > child.start.offset,
            line[..<min(child.key_start.offset, line.endIndex)].allSatisfy(\.isBlank)
        else { throw Unpatchable() }
        let last = text.location(child.end.offset - 1..<child.end.offset).line
        let stop = last < text.lineCount ? text.line(last + 1).startIndex : text.bytes.count
        edits.replace(line.startIndex..<stop, with: "")
    }
}
