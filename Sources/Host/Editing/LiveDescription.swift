// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import GraphFile
import NodeKit

extension RunningGraph {
    /// The graph as it would have to be described to sound as it does: with what its parameters are set to. Nodes that only
    /// sound on are not part of it. [control]
    func liveDescription(without fading: Set<String> = []) -> GraphDescription {
        var description = description
        description.nodes.removeAll { fading.contains($0.name) }
        description.links.removeAll { fading.contains($0.from.node) || fading.contains($0.to.node) }
        let instances = Dictionary(nodes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in description.nodes.indices {
            if let instance = instances[description.nodes[index].name] { description.nodes[index].take(instance) }
        }
        return description
    }
}

extension NodeDescription {
    /// Takes over what a node's parameters are set to. What the node would begin with by itself is left out, and what is
    /// described so already stays in the words of the file.
    mutating func take(_ instance: NodeInstance) {
        // Types that take the parameters of something else have them in a table of their own.
        let table = instance.declarations.settings.first {
            $0.key == NodeDescription.tableOfParameters && $0.kind == VG_SET_TABLE
        }?.key
        let given = table.map { entries[$0]?.inner ?? [:] } ?? entries
        // What a preset turns is known to nobody but the plugin.
        let isSure = entries["preset"] == nil && entries["state"] == nil
        for (index, parameter) in instance.parameters.enumerated() {
            let value = instance.value(index)
            let label = parameter.label.lowercased()
            let key =
                given[parameter.key] != nil || table == nil
                ? parameter.key : given.keys.first { $0.lowercased() == label } ?? parameter.key
            if parameter.isTrigger {
                // It has fired, and a graph that begins from here is not to fire it again.
                if given[key] != nil { take(away: key, fromTable: table) }
                continue
            }
            if let entry = given[key] {
                if (try? parameter.value(of: entry.value)) == value { continue }
            } else if value == parameter.defaultValue, isSure {
                continue
            }
            put(parameter.settingValue(value), key, inTable: table)
        }
    }

    private mutating func take(away key: String, fromTable table: String?) {
        guard let table else {
            keys.removeAll { $0 == key }
            return entries[key] = nil
        }
        guard case .table(var values)? = entries[table]?.value, var inner = entries[table]?.inner else { return }
        values[key] = nil
        inner[key] = nil
        entries[table] = Entry(.table(values), inner: inner)
    }

    private mutating func put(_ value: SettingValue, _ key: String, inTable table: String?) {
        guard let table else {
            if entries[key] == nil { keys.append(key) }
            return entries[key] = Entry(value)
        }
        var values: [String: SettingValue] = [:]
        if case .table(let given)? = entries[table]?.value { values = given }
        var inner = entries[table]?.inner ?? [:]
        values[key] = value
        inner[key] = Entry(value)
        if entries[table] == nil { keys.append(table) }
        entries[table] = Entry(.table(values), inner: inner)
    }
}

extension Parameter {
    /// A value as a file would give it.
    fileprivate func settingValue(_ value: Float) -> SettingValue {
        if flags & UInt32(VG_PARAM_TOGGLE) != 0 { return .bool(value != 0) }
        if let whole = Int64(exactly: value) { return .integer(whole) }
        // By its own digits: 0.1, not 0.10000000149.
        return .number(Double(value.description) ?? Double(value))
    }
}

extension NodeDescription {
    /// Makes the files that the node names absolute: it is to be described in another folder than `base`. [any]
    mutating func takeAlong(_ base: String, _ settings: [Setting]) {
        for key in allKeys where key != "type" {
            guard let entry = entries[key] else { continue }
            let isFile =
                settings.contains { $0.key == key && $0.kind == VG_SET_PATH } || ["path", "state"].contains(key)
            let value = entry.value.takenAlong(base, isFile: isFile)
            if value != entry.value { entries[key] = Entry(value, inner: [:]) }
        }
    }
}

extension SettingValue {
    /// A text that names a file beside `base` becomes absolute: one that is there, or any if `isFile`.
    fileprivate func takenAlong(_ base: String, isFile: Bool) -> SettingValue {
        switch self {
        case .string(let text) where !text.isEmpty && !text.hasPrefix("/"):
            let path = join(base.isEmpty ? "." : base, text)
            let isThere = (text.contains("/") || text.contains(".")) && access(path, F_OK) == 0
            guard isFile || isThere else { return self }
            return .string(absolute(path))
        case .table(let table): return .table(table.mapValues { $0.takenAlong(base, isFile: false) })
        default: return self
        }
    }
}

/// Whether two names mean one folder; an empty one is the current folder. [any]
func isSameFolder(_ one: String, _ other: String) -> Bool {
    func real(_ path: String) -> String? {
        guard let name = realpath(path.isEmpty ? "." : path, nil) else { return nil }
        defer { free(name) }
        return String(cString: name)
    }
    guard let one = real(one) else { return false }
    return one == real(other)
}
