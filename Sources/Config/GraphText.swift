// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// A graph as the text of a file.
public enum GraphText {
    /// The text of a file in `folder` that loads to `graph`: that of the file at `path`, comments and all, with what
    /// differs; where that cannot be, as after the file was broken, one that is written anew. [any]
    public static func text(
        of graph: GraphDescription, from path: String? = nil, in folder: String? = nil,
        environment: [String: String]? = nil
    ) -> String {
        let written = write(graph)
        guard let path else { return written }
        let base = Config.folder(of: path)
        let target = folder ?? base
        guard let patched = GraphPatch.text(of: graph, from: path, movesTo: folder, environment: environment) else {
            return written
        }
        let name = target.isEmpty ? "graph.conf" : target + "/graph.conf"
        let (read, faults) = ConfigFile.load(
            text: patched, file: name, environment: environment, tables: FileTables(graph.tables.kinds))
        guard let read, !faults.contains(where: { $0.severity == .error }), read.isSame(as: graph) else {
            return written
        }
        return patched
    }

    /// The whole graph, in the order in which people write one.
    static func write(_ graph: GraphDescription) -> String {
        var text = "[graph]\n" + lines(graph.entries)
        let links = TomlWriter.links(graph.links)
        if !links.isEmpty { text += "links = [\n" + links.map { "  \($0),\n" }.joined() + "]\n" }
        for kind in graph.tables.kinds {
            if let entries = graph.tables.entries(of: kind) { text += "\n[\(kind.table)]\n" + lines(entries) }
        }
        for node in graph.nodes { text += "\n" + self.node(node) }
        return text
    }

    /// A node's table.
    static func node(_ node: NodeDescription) -> String {
        "[node.\(TomlWriter.key(node.name))]\n" + lines(node.keyedEntries)
    }

    private static func lines(_ entries: [KeyedEntry]) -> String {
        let width = entries.map { TomlWriter.key($0.key).count }.max() ?? 0
        return entries.map { entry in
            let key = TomlWriter.key(entry.key)
            return key + String(repeating: " ", count: width - key.count) + " = \(TomlWriter.value(entry.value))\n"
        }.joined()
    }
}

extension NodeDescription {
    /// All that its table says, where that is not what it would be without a word.
    var keyedEntries: [KeyedEntry] {
        [("type", .string(type))] + allKeys.compactMap { key in entries[key].map { (key, $0.value) } } + common.entries
    }
}

extension GraphDescription {
    /// Whether another one describes the same, wherever it stands in a file. The order of links does not count.
    func isSame(as other: GraphDescription) -> Bool {
        func ends(_ graph: GraphDescription) -> [String] {
            graph.links.map { "\($0.from) \($0.to) \($0.entries)" }.sorted()
        }
        func nodes(_ graph: GraphDescription) -> [String: [String: SettingValue]] {
            Dictionary(graph.nodes.map { ($0.name, $0.keyedEntries.byKey) }, uniquingKeysWith: { $1 })
        }
        return entries.byKey == other.entries.byKey && ends(self) == ends(other)
            && nodes(self) == nodes(other) && tables == other.tables
    }
}

extension [KeyedEntry] {
    /// Whole numbers are numbers, however they were written.
    var byKey: [String: SettingValue] {
        Dictionary(map { ($0.key, $0.value.plain) }, uniquingKeysWith: { $1 })
    }
}

extension SettingValue {
    /// With whole numbers as numbers.
    var plain: SettingValue {
        switch self {
        case .integer(let integer): .number(Double(integer))
        case .list(let items): .list(items.map(\.plain))
        case .table(let table): .table(table.mapValues(\.plain))
        default: self
        }
    }
}
