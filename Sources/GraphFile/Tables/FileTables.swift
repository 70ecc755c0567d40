// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A table of the file that stands apart from nodes and links. Its keys are read, checked, overridden, written, patched
/// and documented by what it declares.
public protocol FileTableDescription: KeyedTable {
    /// What it says, in half a sentence.
    static var doc: String { get }
    /// What other programs call it.
    static var otherNames: [String] { get }
    /// Whether the table says something without any key, by being there.
    static var countsWhenEmpty: Bool { get }
    /// Its chapter in the reference.
    static var chapter: [ReferenceBlock] { get }
    /// What is odd about it as a whole; `given` are the keys of the file that were taken, with their places.
    func warnings(_ given: [(key: String, place: SourceLocation)]) -> [Diagnostic]
}

extension FileTableDescription {
    /// None.
    public static var otherNames: [String] { [] }
    /// An empty table is as none.
    public static var countsWhenEmpty: Bool { false }
    /// The keys alone.
    public static var chapter: [ReferenceBlock] { [.keys(settings)] }
    /// Nothing.
    public func warnings(_ given: [(key: String, place: SourceLocation)]) -> [Diagnostic] { [] }

    fileprivate func equals(_ other: (any FileTableDescription)?) -> Bool { self == other as? Self }
}

/// A piece of a chapter of the reference. In texts, what stands between backquotes is written as it is.
public enum ReferenceBlock: Sendable {
    /// A paragraph.
    case text(String)
    /// A whole graph file.
    case file(String)
    /// Some lines of one, or of a shell.
    case lines(String)
    /// Keys of a table.
    case keys([Setting])
}

/// The tables of a file whose keys are declared: which there may be, and what a graph says in them.
public struct FileTables: Sendable, Equatable {
    /// Every table there is, in the order in which a file is written.
    public static let all: [any FileTableDescription.Type] = [DriverDescription.self, WebDescription.self]

    /// Those that a file may have.
    public let kinds: [any FileTableDescription.Type]
    private var values: [String: any FileTableDescription] = [:]

    /// Nothing is said in any of them.
    public init(_ kinds: [any FileTableDescription.Type] = all) { self.kinds = kinds }

    /// What is said in a table; nil: the file has none.
    public subscript<Table: FileTableDescription>(_: Table.Type) -> Table? {
        get { values[Table.table] as? Table }
        set { values[Table.table] = newValue == Table() && !Table.countsWhenEmpty ? nil : newValue }
    }

    /// Whether the same is said.
    public static func == (one: FileTables, other: FileTables) -> Bool { one.differing(from: other).isEmpty }

    /// The names of the tables in which something else is said.
    package func differing(from other: FileTables) -> [String] {
        Set(values.keys).union(other.values.keys).filter { name in
            !(values[name]?.equals(other.values[name]) ?? false)
        }.sorted()
    }

    /// What is said in a table, by its keys; nil: the file has none.
    package func entries(of kind: any FileTableDescription.Type) -> [KeyedEntry]? { values[kind.table]?.entries }

    /// The kind of the table of a name.
    package func kind(named name: String) -> (any FileTableDescription.Type)? { kinds.first { $0.table == name } }

    /// Sets what stands behind a key of a table; nil: done.
    package mutating func set<Table: FileTableDescription>(
        _ key: String, of kind: Table.Type, _ entry: Entry
    ) -> Fault? {
        var table = self[kind] ?? Table()
        guard let declared = Table.keys.first(where: { $0.setting.key == key }) else {
            return unknown(key, in: FileTable(kind))
        }
        if let fault = declared.read(&table, entry) { return fault }
        self[kind] = table
        return nil
    }

    /// What is odd about them; `given` are the keys of the file that were taken, by table.
    package func warnings(_ given: [String: [(key: String, place: SourceLocation)]]) -> [Diagnostic] {
        kinds.flatMap { kind in
            let table: any FileTableDescription = values[kind.table] ?? kind.init()
            return table.warnings(given[kind.table] ?? [])
        }
    }

    /// How overrides are written: those of nodes, then those of each table.
    public var overrides: [String] { (["node.NAME"] + kinds.map { $0.table }).map { $0 + ".key=value" } }
}
