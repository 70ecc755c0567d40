// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// Values of a file, with their places.
extension GraphReader {
    /// A string with `${...}` resolved; nil, and reported, when it is none.
    mutating func text(_ node: TomlDocument.Node, _ document: TomlDocument, _ what: String) -> StringText? {
        guard node.kind == VG_TOML_STRING else {
            report("\(what) must be a string, not \(kindText(node))", at: document.valueLocation(node))
            return nil
        }
        var text = StringText(node, in: document)
        var found: [Diagnostic] = []
        text.expand(environment) { found.append($0) }
        if !isOverridden { diagnostics += found }
        return found.isEmpty ? text : nil
    }

    mutating func strings(
        _ node: TomlDocument.Node, _ document: TomlDocument, _ key: String
    ) -> [(String, SourceLocation)] {
        let items = node.kind == VG_TOML_LIST ? Array(document.children(node)) : [node]
        return items.compactMap { item in
            text(item, document, "'\(key)'").map { ($0.string, document.valueLocation(item)) }
        }
    }

    /// An entry with all that is in it; nil, and reported, when it cannot be one.
    mutating func value(_ node: TomlDocument.Node, _ document: TomlDocument) -> Entry? {
        var inner: [String: Entry] = [:]
        var variable: Variable?
        var written: String?
        let value: SettingValue
        switch node.kind {
        case VG_TOML_BOOL: value = .bool(node.boolean)
        case VG_TOML_INTEGER: value = .integer(node.integer)
        case VG_TOML_NUMBER: value = .number(node.number)
        case VG_TOML_STRING:
            guard let text = text(node, document, "") else { return nil }
            value = .string(text.string)
            (variable, written) = (text.variable, text.written)
        case VG_TOML_LIST:
            var items: [SettingValue] = []
            for item in document.children(node) {
                guard let entry = self.value(item, document) else { continue }
                inner[String(items.count)] = entry
                items.append(entry.value)
            }
            value = .list(items)
        case VG_TOML_TABLE:
            for item in document.children(node) {
                let key = document.key(item)
                if let entry = under(key, { $0.value(item, document) }) { inner[key] = entry }
            }
            value = .table(inner.mapValues(\.value))
        default:
            report(
                "dates and times have no meaning here", at: document.valueLocation(node), hint: "write it in quotes")
            return nil
        }
        let key = node.key == nil ? document.valueLocation(node) : document.keyLocation(node)
        var entry = Entry(value, keyLocation: key, valueLocation: document.valueLocation(node), inner: inner)
        (entry.variable, entry.written) = (variable, written)
        return entry
    }

    /// Tells of a key that a table does not take, and where it belongs.
    mutating func unknownKey(_ node: TomlDocument.Node, _ document: TomlDocument, in table: FileTable) {
        let fault = description.tables.unknown(document.key(node), in: table)
        diagnostics.append(Diagnostic(fault, at: document.keyLocation(node)))
    }
}

/// The kind of a value in words.
func kindText(_ node: TomlDocument.Node) -> String {
    switch node.kind {
    case VG_TOML_BOOL: "true or false"
    case VG_TOML_INTEGER: "a whole number"
    case VG_TOML_NUMBER: "a number with a fraction"
    case VG_TOML_STRING: "a string"
    case VG_TOML_LIST: "a list"
    case VG_TOML_TABLE: "a table"
    default: "a date or time"
    }
}
