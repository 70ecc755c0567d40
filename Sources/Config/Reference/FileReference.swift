// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// The reference of the graph file: one source for the text that people read, the manual page, the schema for editors, and
/// the tests that hold it against the reader.
public struct FileReference: Sendable {
    /// A chapter.
    public struct Section: Sendable {
        /// Its heading, such as "[graph]".
        public var title: String
        /// In order.
        public var blocks: [ReferenceBlock]
    }

    /// One line about the file.
    public static let summary = "what a graph file says: nodes, links, driver and web face"

    /// Every chapter but the one of the node types, which are declared elsewhere. [any]
    public static func sections(of tables: FileTables = FileTables()) -> [Section] {
        [file(tables), graph, links, control, nodes, plugins]
            + tables.kinds.map { Section(title: "[\($0.table)]", blocks: $0.chapter) }
            + [variables, includes(tables), editors]
    }
}
