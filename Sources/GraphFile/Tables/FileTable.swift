// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A table of a graph file apart from those of nodes, as messages, reference and schema tell it.
public struct FileTable: Sendable {
    /// What its header has between brackets.
    public let name: String
    /// What its keys take.
    public let settings: [Setting]
    /// As messages name it.
    fileprivate let title: String
    /// What other programs call its keys.
    fileprivate let otherNames: [String: [String]]
    /// The keys that nodes may have as well.
    fileprivate var keysOfNodes: [String] = []

    /// The keys that may stand in it.
    public var keys: [String] { settings.map(\.key) }

    fileprivate init(_ name: String, title: String, _ settings: [Setting], otherNames: [String: [String]]) {
        (self.name, self.title, self.settings, self.otherNames) = (name, title, settings, otherNames)
    }

    /// That of declared keys.
    public init<Table: KeyedTable>(_: Table.Type) {
        let names = Dictionary(Table.keys.map { ($0.setting.key, $0.otherNames) }, uniquingKeysWith: { $1 })
        self.init(Table.table, title: Table.title, Table.settings, otherNames: names)
        keysOfNodes = Table.keys.filter(\.isOfNodes).map(\.setting.key)
    }

    /// `[graph]`.
    public static let graph = FileTable(GraphDescription.self)

    /// A link that is written as a table.
    public static let link = FileTable(LinkDescription.self)
}

extension FileTables {
    /// What stands before the first line in brackets, and the tables themselves.
    public var file: FileTable {
        let include = "other graph files, from the folder of this one; it stands before the first table"
        let names = [
            "graph": ["pipeline", "connections", "patchbay", "routing", "project"],
            "node": ["plugins", "filters", "effects", "processors", "units", "mixers"],
        ]
        return FileTable(
            "file", title: "the top of the file",
            [
                Setting("include", VG_SET_STRINGS, include),
                Setting("graph", VG_SET_TABLE, "the graph as a whole, see [graph]"),
                Setting("node", VG_SET_TABLE, "the nodes by name, see [node.NAME]", required: true),
            ] + kinds.map { Setting($0.table, VG_SET_TABLE, "\($0.doc), see [\($0.table)]") },
            otherNames: kinds.reduce(into: names) { $0[$1.table] = $1.otherNames })
    }

    /// What is wrong with a key that a table does not take.
    package func unknown(_ key: String, in table: FileTable) -> Fault {
        var suggester = Suggester()
        let listed =
            table.name == file.name
            ? enumerated((["graph", "node.NAME"] + kinds.map { $0.table }).map { "[\($0)]" } + ["include"], "or")
            : enumerated(table.keys, "and")
        return unknown(
            key, in: table.title, known: table.keys, otherNames: table.otherNames,
            otherwise: "here may stand " + listed, &suggester)
    }

    /// What to say of a key that does not belong here: what is meant and what to write. `place` is where it stands, as in
    /// "[node.mic]"; `known` what may stand there.
    func unknown(
        _ key: String, in place: String, known: [String], otherNames: [String: [String]] = [:], otherwise: String,
        _ suggester: inout Suggester
    ) -> Fault {
        let other = otherNames.first { $0.value.contains(key.lowercased()) }?.key
        if let found = suggester.nearest(key, among: known) ?? other {
            return Fault("unknown key '\(shortened(key))'", hint: "did you mean '\(found)'?")
        }
        let (isNode, top) = (place.hasPrefix("[node."), file.title)
        // The names of tables are no keys that could belong elsewhere.
        let home = ([.graph] + kinds.map { FileTable($0) }).first { home in
            home.keys.contains(key) && !(isNode && home.keysOfNodes.contains(key))
        }
        if let title = key == "include" ? top : home?.title, title != place {
            let hint =
                title == top
                ? "write it before the first line in brackets"
                : place == top
                    ? "write \(title) on a line of its own before it" : "write it below a line with \(title)"
            return Fault("'\(key)' belongs to \(title), not to \(place)", hint: hint)
        }
        if !isNode, key != "name", NodeDescription.commonKeys.contains(key) {
            return Fault("'\(key)' belongs to a node, not to \(place)", hint: "write it below a line with [node.NAME]")
        }
        return Fault("unknown key '\(shortened(key))'", hint: otherwise)
    }
}
