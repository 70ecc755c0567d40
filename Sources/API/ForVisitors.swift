// SPDX-License-Identifier: Apache-2.0
import NodeKit

// What is left out of answers that visitors get.

extension SettingValue {
    /// A list with each of its items as `change` makes it.
    func mapped(_ change: (SettingValue) -> SettingValue) -> SettingValue {
        if case .list(let items) = self { .list(items.map(change)) } else { self }
    }

    /// A list of those items that are wanted.
    func filtered(_ isWanted: (SettingValue) -> Bool) -> SettingValue {
        if case .list(let items) = self { .list(items.filter(isWanted)) } else { self }
    }

    /// A table without these keys.
    func without(_ keys: String...) -> SettingValue {
        if case .table(let table) = self { .table(table.filter { !keys.contains($0.key) }) } else { self }
    }

    /// Whether a declaration says that visitors may have it.
    var isPublic: Bool { if case .table(let table) = self { table["public"] == .bool(true) } else { false } }
}

extension Caller {
    /// Whether they may do an action, as the call `actions` tells it.
    func mayDo(_ action: SettingValue) -> Bool {
        guard case .table(let table) = action, case .string(let node)? = table["node"],
            case .string(let name)? = table["name"]
        else { return false }
        return may(name, of: node, isPublic: action.isPublic)
    }
}
