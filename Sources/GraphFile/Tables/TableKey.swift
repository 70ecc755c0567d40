// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What is read by declared keys: a table of the file, or a part of what a graph says.
public protocol KeyedTable: Sendable, Equatable {
    /// What its header has between brackets.
    static var table: String { get }
    /// As messages name it.
    static var title: String { get }
    /// The keys that may stand in it, in the order in which they are written.
    static var keys: [TableKey<Self>] { get }
    /// As it is without a word.
    init()
}

extension KeyedTable {
    /// Its header.
    public static var title: String { "[\(table)]" }

    /// What the keys take, for the reference and the schema.
    public static var settings: [Setting] { keys.map(\.setting) }

    /// What the keys say where that is not what they would be without a word.
    package var entries: [KeyedEntry] {
        Self.keys.compactMap { key in key.write(self).map { (key.setting.key, $0) } }
    }
}

/// A key of a table with its value.
package typealias KeyedEntry = (key: String, value: SettingValue)

/// A key of a table, declared once: what it takes and is for, how it is read, and how it is written.
///
///     TableKey("block", \.block, .whole(in: 16...8192, unit: "frames"), "the block of a server of our own")
public struct TableKey<Table: KeyedTable>: SettingDeclaration {
    /// Name, kind, range, default and doc. VG_SET_VALUE takes `choices`, as the file has them, and numbers of `range`.
    public let setting: Setting
    /// What other programs call it.
    let otherNames: [String]
    /// Whether nodes may have a key of the same name, so that one of theirs was not meant for this table.
    let isOfNodes: Bool
    /// Sets it in a table, or says why it cannot be set.
    package let read: @Sendable (inout Table, Entry) -> Fault?
    /// Nil: it is as without a word.
    let write: @Sendable (Table) -> SettingValue?

    /// A key whose value always is there. With `isKept` it is written also where it is as without a word.
    public init<Value>(
        _ key: String, _ path: WritableKeyPath<Table, Value> & Sendable, _ takes: TableValue<Value>, _ doc: String,
        otherNames: [String] = [], isOfNodes: Bool = false, isKept: Bool = false
    ) {
        setting = takes.setting(key, doc, default: takes.text(Table()[keyPath: path]))
        (self.otherNames, self.isOfNodes) = (otherNames, isOfNodes)
        read = { table, entry in
            takes.read(entry, key) { table[keyPath: path] = takes.join(table[keyPath: path], $0) }
        }
        write = { table in
            let value = table[keyPath: path]
            return isKept || value != Table()[keyPath: path] ? takes.write(value) : nil
        }
    }

    /// A key that may be left out; `default` is what that means, as a file would have it.
    public init<Value>(
        _ key: String, _ path: WritableKeyPath<Table, Value?> & Sendable, _ takes: TableValue<Value>, _ doc: String,
        default usual: String? = nil, otherNames: [String] = [], isOfNodes: Bool = false
    ) {
        setting = takes.setting(key, doc, default: usual)
        (self.otherNames, self.isOfNodes) = (otherNames, isOfNodes)
        read = { table, entry in takes.read(entry, key) { table[keyPath: path] = $0 } }
        write = { $0[keyPath: path].map(takes.write) }
    }

    /// A key that whoever reads the table reads and writes without this.
    init(elsewhere setting: Setting, otherNames: [String]) {
        (self.setting, self.otherNames, isOfNodes) = (setting, otherNames, false)
        read = { _, _ in nil }
        write = { _ in nil }
    }
}
