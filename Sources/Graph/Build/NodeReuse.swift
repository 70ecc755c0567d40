// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// What a parameter should be.
public struct ParameterValue: Sendable {
    /// Whose parameter.
    public var instance: NodeInstance
    /// Its place in the layout.
    public var index: Int
    /// In the parameter's unit.
    public var value: Float
}

extension ResolvedGraph.Node {
    /// Whether the node can go on as what `wanted` says: only parameters, live settings, or the connections of a driver's
    /// port, may be different. A node that failed cannot.
    func serves(_ wanted: NodeDescription) -> Bool {
        guard wanted.type == description.type, wanted.isolation == description.isolation,
            instance.isPrepared || instance.isExternal
        else { return false }
        // One that is out of its range is for the type to complain about.
        for (key, value) in table(of: wanted) {
            guard let index = instance.parameterIndex(key), let value = value.parameter else { continue }
            if !instance.parameters[index].range.contains(value) { return false }
        }
        return settings(of: description) == settings(of: wanted) && !loses(toBecome: wanted)
    }

    /// Whether a live setting goes away that has no default: what it would be then is not known.
    private func loses(toBecome wanted: NodeDescription) -> Bool {
        instance.declarations.settings.contains {
            $0.isLive && $0.defaultValue == nil && description.entries[$0.key] != nil && wanted.entries[$0.key] == nil
        }
    }

    private func table(of description: NodeDescription) -> [String: SettingValue] {
        if case .table(let table)? = description.entries[NodeDescription.tableOfParameters]?.value {
            table
        } else {
            [:]
        }
    }

    private func settings(of description: NodeDescription) -> [String: SettingValue] {
        var result: [String: SettingValue] = [:]
        for (key, entry) in description.entries where instance.parameterIndex(key) == nil {
            if instance.declarations.settings.contains(where: { $0.key == key && $0.isLive }) { continue }
            if instance.isExternal && key == "connect" { continue }
            result[key] = entry.value
            guard key == NodeDescription.tableOfParameters, case .table(let table) = entry.value else { continue }
            // The parameter is named, so that leaving it out is a difference: what it would be then is not known.
            result[key] = .table(
                Dictionary(
                    table.map { ($0, instance.parameterIndex($0) != nil && $1.parameter != nil ? .bool(true) : $1) },
                    uniquingKeysWith: { a, _ in a }))
        }
        return result
    }
}

/// What a live setting should be.
public struct SettingChange: Sendable {
    /// Whose setting.
    public var instance: NodeInstance
    /// Its key.
    public var key: String
    /// What it becomes.
    public var value: SettingValue
}

extension ResolvedGraph.Node {
    /// The live settings that `wanted` says otherwise than the node has them.
    func settingChanges(to wanted: NodeDescription) -> [SettingChange] {
        instance.declarations.settings.filter(\.isLive).compactMap { setting in
            let value = wanted.entries[setting.key]?.value ?? setting.defaultValue
            guard let value, value != description.entries[setting.key]?.value ?? setting.defaultValue else {
                return nil
            }
            return SettingChange(instance: instance, key: setting.key, value: value)
        }
    }
}

extension Setting {
    /// The default as a value; nil: there is none, or it is a list or a table.
    public var defaultValue: SettingValue? {
        guard let text = defaultText else { return nil }
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
            return .string(String(text.dropFirst().dropLast()))
        }
        if text == "true" || text == "false" { return .bool(text == "true") }
        return Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) }
    }
}

extension NodeInstance {
    /// What `description` says of every parameter but triggers, which are not to fire again: `given` by key, else by table,
    /// else the value to begin with.
    func allValues(_ description: NodeDescription, given: [Int: Float]) -> [ParameterValue] {
        var table: [String: SettingValue] = [:]
        if case .table(let values)? = description.entries[NodeDescription.tableOfParameters]?.value { table = values }
        return parameters.enumerated().compactMap { index, parameter in
            if parameter.isTrigger { return nil }
            let value = given[index] ?? table[parameter.key]?.parameter ?? parameter.defaultValue
            return ParameterValue(instance: self, index: index, value: value)
        }
    }
}

extension SettingValue {
    /// As a parameter's value.
    fileprivate var parameter: Float? {
        switch self {
        case .integer(let integer): Float(integer)
        case .number(let number): Float(number)
        case .bool(let bool): bool ? 1 : 0
        default: nil
        }
    }
}
