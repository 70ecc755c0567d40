// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// Applies "node.NAME.key=value" or "TABLE.key=value"; the key of a node may go into tables, as "node.fx.params.gain=-6"
/// does. The value is read as TOML, or taken as a string if it is none; `${...}` is left to the shell.
func apply(_ override: String, to description: inout GraphDescription, _ report: (Diagnostic) -> Void) {
    let place = SourceLocation(file: "--set \(override)")
    func fail(_ message: String, _ hint: String = "") { report(Diagnostic(.error, message, at: place, hint: hint)) }
    let usage = "write " + description.tables.overrides.prefix(2).joined(separator: " or ")

    guard let equals = override.firstIndex(of: "=") else {
        return fail("an override without '='", usage)
    }
    let path = override[..<equals].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if path.count == 2, let kind = description.tables.kind(named: path[0]) {
        let value = Entry(overrideValue(String(override[override.index(after: equals)...])))
        if let fault = description.tables.set(path[1], of: kind, value) { report(Diagnostic(fault, at: place)) }
        return
    }
    guard path.count >= 3, path[0] == "node", path.allSatisfy({ !$0.isEmpty }), path.count <= Int(VG_TOML_DEPTH_LIMIT)
    else {
        let other = description.tables.kinds.first.map { " or the \($0.table)" } ?? ""
        return fail("an override must name a setting of a node" + other, usage)
    }
    guard let node = description.nodes.firstIndex(where: { $0.name == path[1] }) else {
        var suggester = Suggester()
        return fail(
            "unknown node '\(shortened(path[1]))'", suggester.hint(path[1], among: description.nodes.map(\.name)))
    }
    let value = overrideValue(String(override[override.index(after: equals)...]))
    guard path[2] != "type" else {
        guard path.count == 3, case .string(let type) = value else { return fail("'type' must be a string") }
        (description.nodes[node].type, description.nodes[node].typeLocation) = (type, place)
        return
    }
    let changed = set(description.nodes[node].entries[path[2]], path[3...], entry(value, place), place)
    if let fault = description.nodes[node].set(path[2], changed) { report(Diagnostic(fault, at: place)) }
}

/// An entry with one value in it replaced, however deep.
private func set(_ old: Entry?, _ path: ArraySlice<String>, _ value: Entry, _ place: SourceLocation) -> Entry {
    guard let key = path.first else { return value }
    var table: [String: SettingValue] = [:]
    if case .table(let existing) = old?.value { table = existing }
    var inner = table.isEmpty ? [:] : old?.inner ?? [:]
    let changed = set(inner[key], path.dropFirst(), value, place)
    inner[key] = changed
    table[key] = changed.value
    return Entry(
        .table(table), keyLocation: old?.keyLocation ?? place, valueLocation: old?.valueLocation ?? place, inner: inner)
}

extension SettingValue {
    /// What the command line gives: read as TOML, or taken as a string if it is none. [any]
    public init(argument: String) { self = overrideValue(argument) }

    /// A number, or true or false, as the file has them without quotes; nil: the text is none of them.
    init?(plain text: String) {
        switch overrideValue(text) {
        case let value where text.contains("#") || value == .string(text): return nil
        case .bool(let bool): self = .bool(bool)
        case .integer(let integer): self = .integer(integer)
        case .number(let number): self = .number(number)
        default: return nil
        }
    }
}

private func overrideValue(_ text: String) -> SettingValue {
    let source = SourceText(file: "", bytes: Array("v = \(text)".utf8))
    guard case .success(let document) = TomlDocument.parse(source), document.root.count == 1,
        let node = document.child(document.root, "v")
    else { return .string(text) }
    return plainValue(node, document) ?? .string(text)
}

/// A value without places; nil for dates and times.
private func plainValue(_ node: TomlDocument.Node, _ document: TomlDocument) -> SettingValue? {
    switch node.kind {
    case VG_TOML_BOOL: .bool(node.boolean)
    case VG_TOML_INTEGER: .integer(node.integer)
    case VG_TOML_NUMBER: .number(node.number)
    case VG_TOML_STRING: .string(document.string(node))
    case VG_TOML_LIST: .list(document.children(node).compactMap { plainValue($0, document) })
    case VG_TOML_TABLE:
        .table(
            Dictionary(
                document.children(node).compactMap { child in
                    plainValue(child, document).map { (document.key(child), $0) }
                }, uniquingKeysWith: { $1 }))
    default: nil
    }
}

private func entry(_ value: SettingValue, _ place: SourceLocation) -> Entry {
    var inner: [String: Entry] = [:]
    if case .table(let table) = value { inner = table.mapValues { entry($0, place) } }
    if case .list(let items) = value {
        for (index, item) in items.enumerated() { inner[String(index)] = entry(item, place) }
    }
    return Entry(value, keyLocation: place, valueLocation: place, inner: inner)
}
