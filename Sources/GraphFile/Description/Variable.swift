// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A string of a file that is nothing but one `${NAME}` or `${NAME:-default}`: it may stand for a number, or for true or
/// false, where a key wants one.
public struct Variable: Sendable, Equatable {
    /// The variable's name.
    public var name: String
    /// What its text is without quotes: a number, true or false; nil: only text.
    public var reading: SettingValue?

    /// Describes a variable.
    public init(_ name: String, reading: SettingValue? = nil) { (self.name, self.reading) = (name, reading) }
}

extension Entry {
    /// The value for a key that wants no text.
    public var reading: SettingValue { variable?.reading ?? value }

    /// The value for whoever looks: of variables their names, not what they hold, which may be secret.
    public var shown: SettingValue {
        if let written { return .string(written) }
        return switch value {
        case .table(let table): .table(table.reduce(into: [:]) { $0[$1.key] = inner[$1.key]?.shown ?? $1.value })
        case .list(let items): .list(items.enumerated().map { inner[String($0.offset)]?.shown ?? $0.element })
        default: value
        }
    }

    /// What the value is, after "must be a number, ": "not a string", or what the variable says.
    package var mismatch: String {
        if let variable, case .string(let text) = value { return "and ${\(variable.name)} is '\(shortened(text))'" }
        return "not \(value.kindText)"
    }

    /// Whether it, or something in it, is a variable.
    fileprivate var hasVariable: Bool { variable != nil || inner.values.contains(where: \.hasVariable) }

    /// The same with the value that a key wants, if the variable says one.
    fileprivate func read(as wanted: WantedKind) -> Entry {
        guard let reading = variable?.reading, wanted.accepts(reading) else { return self }
        var entry = self
        entry.value = reading
        return entry
    }
}

extension GraphDescription {
    /// Whether there is anything for `readVariables`. [any]
    public var hasVariables: Bool { nodes.contains { $0.entries.values.contains(where: \.hasVariable) } }

    /// Makes numbers, true and false of variables where the node types want them; what is none of that stays text. [any]
    public mutating func readVariables(_ catalog: NodeCatalog) {
        for index in nodes.indices where nodes[index].entries.values.contains(where: \.hasVariable) {
            guard let type = catalog.types[nodes[index].type]?.type else { continue }
            nodes[index].readVariables([Setting](type.pointee.settings))
        }
    }
}

extension NodeDescription {
    fileprivate mutating func readVariables(_ settings: [Setting]) {
        for (key, entry) in entries where entry.hasVariable {
            let setting = settings.first { $0.key == key }
            if key == Self.tableOfParameters, setting?.kind == VG_SET_TABLE {
                entries[key] = entry.readingTable()
            } else if let setting {
                if let wanted = WantedKind(setting.kind) { entries[key] = entry.read(as: wanted) }
            } else {
                // What is no setting is a parameter, or a mistake.
                entries[key] = entry.read(as: .any)
            }
        }
    }
}

extension Entry {
    /// A table of parameters that only the node knows: what reads as a number, true or false is one.
    fileprivate func readingTable() -> Entry {
        guard case .table = value else { return self }
        var entry = self
        entry.inner = inner.mapValues { $0.read(as: .any) }
        entry.value = .table(entry.inner.mapValues(\.value))
        return entry
    }
}

/// What a key wants that no text is.
package enum WantedKind {
    case boolean, integer, number
    /// Any of them.
    case any

    /// What a setting wants; nil: text, or more than one value.
    init?(_ kind: vg_setting_kind) {
        switch kind {
        case VG_SET_BOOL: self = .boolean
        case VG_SET_INTEGER: self = .integer
        case VG_SET_NUMBER: self = .number
        case VG_SET_VALUE: self = .any
        default: return nil
        }
    }

    func accepts(_ value: SettingValue) -> Bool {
        switch (self, value) {
        case (.boolean, .bool), (.integer, .integer), (.number, .integer), (.number, .number): true
        case (.any, .bool), (.any, .integer), (.any, .number): true
        default: false
        }
    }
}
