// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// The reference of the graph file: one source for the text that people read, the manual page, the schema for editors, and
/// the tests that hold it against the reader.
public struct FileReference: Sendable {
    /// A piece of a chapter. In texts, what stands between backquotes is written as it is.
    public enum Block: Sendable {
        /// A paragraph.
        case text(String)
        /// A whole graph file.
        case file(String)
        /// Some lines of one, or of a shell.
        case lines(String)
        /// Keys of a table.
        case keys([Key])
    }

    /// A key with what it takes.
    public struct Key: Sendable {
        /// Name, kind, range, default and doc. VG_SET_VALUE takes `choices`, as the file has them, and numbers in its range.
        public var setting: Setting

        /// Describes a key.
        init(
            _ key: String, _ kind: vg_setting_kind, _ doc: String, required: Bool = false, default value: String? = nil,
            range: ClosedRange<Int>? = nil, unit: String? = nil, choices: [String] = []
        ) {
            setting = Setting(
                key, kind, doc, required: required, default: value,
                range: range.map { Double($0.lowerBound)...Double($0.upperBound) }, unit: unit, choices: choices)
        }
    }

    /// A chapter.
    public struct Section: Sendable {
        /// Its heading, such as "[graph]".
        public var title: String
        /// In order.
        public var blocks: [Block]
    }

    /// One line about the file.
    public static let summary = "what a graph file says: nodes, links, driver and web face"

    /// Every chapter but the one of the node types, which are declared elsewhere.
    public static let sections: [Section] = [
        file, graph, links, control, nodes, plugins, driver, web, variables, includes, editors,
    ]

    /// The keys of a table that the reference describes. [any]
    public static func keys(of table: FileTable) -> [Key] {
        switch table {
        case .file: fileKeys
        case .graph: graphKeys
        case .driver: driverKeys
        case .web: webKeys
        case .link: linkKeys
        }
    }

    /// The keys that nodes of every type have. [any]
    public static var commonKeys: [Key] { nodeKeys }
}
