// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// Collects a description from a file and what it includes.
///
/// An included file's nodes and links come before those of the file that includes it. A file that is included twice is
/// read once. A node may be described in one place only. The name of the graph is that of the including file, if it
/// gives one.
struct GraphReader {
    var description: GraphDescription
    var diagnostics: [Diagnostic] = []
    let environment: [String: String]
    private var nodePlaces: [String: SourceLocation] = [:]
    /// The files that are being read, outermost first, as canonical and shown names.
    private var chain: [(canonical: String, shown: String)] = []
    private var finished: Set<String> = []
    /// The files that are part of it, whether they could be read or not.
    private(set) var files: [String] = []
    private var unreadable = false
    /// What is left of `FileLimits`.
    private var (bytesLeft, valuesLeft) = (FileLimits.bytes, FileLimits.values)
    /// Whether a node has links, which are an error there.
    private var hasStrayLinks = false
    /// The keys that go before what the files say, as "node.NAME.key".
    private let overridden: [String]
    /// Where the value that is being read stands, as the keys of tables, outermost first.
    var path: [String] = []
    /// The keys that were taken of each table, with their places.
    private var given: [String: [(key: String, place: SourceLocation)]] = [:]

    init(_ environment: [String: String], overrides: [String] = [], _ tables: FileTables = FileTables()) {
        description = GraphDescription()
        description.tables = tables
        self.environment = environment
        overridden = overrides.filter { $0.contains("=") }.map { String($0.prefix { $0 != "=" }) }
    }

    /// Whether what the file says here does not count.
    var isOverridden: Bool {
        guard !overridden.isEmpty else { return false }
        let place = path.joined(separator: ".")
        return overridden.contains { place == $0 || place.hasPrefix($0 + ".") }
    }

    /// Reads what stands under a key.
    mutating func under<Value>(_ key: String, _ read: (inout GraphReader) -> Value) -> Value {
        path.append(key)
        defer { path.removeLast() }
        return read(&self)
    }

    mutating func readMain(_ source: SourceText, canonical: String) {
        files.append(source.file)
        description.location = SourceLocation(source, line: 1, column: 1)
        read(source, canonical: canonical)
    }

    mutating func finish(_ file: String, _ overrides: [String]) -> (GraphDescription?, [Diagnostic]) {
        guard !unreadable else { return (nil, diagnostics) }
        description.baseFolder = folder(of: file)
        description.isPartial = !diagnostics.isEmpty || hasStrayLinks
        for override in overrides { apply(override, to: &description) { diagnostics.append($0) } }
        diagnostics += description.tables.warnings(given)
        return (description, diagnostics)
    }

    mutating func report(_ message: String, at location: SourceLocation, hint: String = "") {
        diagnostics.append(Diagnostic(.error, message, at: location, hint: hint))
    }

    // MARK: files

    private mutating func read(_ source: SourceText, canonical: String) {
        if let fault = binaryFault(source) {
            unreadable = true
            return diagnostics.append(fault)
        }
        guard !source.bytes.isEmpty else {
            unreadable = true
            let place = source.location(0..<0)
            return report(
                "the file is empty", at: place, hint: "add a node, for example:  [node.mic]  type = \"input\"")
        }
        bytesLeft -= source.bytes.count
        guard bytesLeft >= 0 else {
            let what = chain.isEmpty ? "the file is" : "the file and those before it are"
            return refuse(
                source, "\(what) larger than \(FileLimits.bytes >> 20) MiB", hint: "a graph file is a short text")
        }
        guard case .success(let document) = TomlDocument.parse(source) else {
            unreadable = true
            return diagnostics += syntaxErrors(source)
        }
        valuesLeft -= document.count
        guard valuesLeft >= 0 else {
            return refuse(
                source, "there are more than \(FileLimits.values) keys and values in the file and those before it",
                hint: "a graph of ten thousand nodes has a tenth of that")
        }
        chain.append((canonical, source.file))
        readRoot(document)
        chain.removeLast()
        finished.insert(canonical)
    }

    private mutating func refuse(_ source: SourceText, _ message: String, hint: String) {
        unreadable = true
        report(message, at: source.location(0..<0), hint: hint)
    }

    private mutating func include(_ name: String, _ location: SourceLocation) {
        let path = join(folder(of: location.file), name)
        let real = canonical(path)
        if let start = chain.firstIndex(where: { $0.canonical == real }) {
            unreadable = true
            let names = chain[start...].map(\.shown) + [path]
            return report("a cycle of includes: \(names.joined(separator: " -> "))", at: location)
        }
        guard !finished.contains(real) else { return }
        files.append(path)
        switch readFile(path, onlyFiles: true) {
        case .success(let bytes): read(SourceText(file: path, bytes: bytes), canonical: real)
        case .failure(let fault):
            unreadable = true
            report(
                "cannot include '\(shortened(name))': \(fault.message)", at: location,
                hint: name.hasPrefix("/") ? fault.hint : "the path starts at the folder of this file")
        }
    }

    // MARK: tables

    private mutating func readRoot(_ document: TomlDocument) {
        var tables: [String: TomlDocument.Node] = [:]
        for node in document.children(document.root) {
            switch document.key(node) {
            case "include": for file in strings(node, document, "include") { include(file.0, file.1) }
            case "node": readNodes(node, document)
            case let key where key == GraphDescription.table || description.tables.kind(named: key) != nil:
                tables[key] = node
            case let key:
                unknownKey(node, document, in: description.tables.file)
                // What is in a misspelled table, or outside of its own, is looked at all the same.
                var suggester = Suggester()
                if key == "links" {
                    readLinks(node, document)
                } else if node.kind == VG_TOML_TABLE, suggester.nearest(key, among: ["node"]) != nil {
                    readNodes(node, document)
                }
            }
        }
        if let graph = tables[GraphDescription.table], isTable(graph, document) {
            for entry in document.children(graph) { readGraph(entry, document) }
        }
        for kind in description.tables.kinds {
            if let table = tables[kind.table] { under(kind.table) { $0.readTable(kind, table, document) } }
        }
    }

    private mutating func isTable(_ node: TomlDocument.Node, _ document: TomlDocument) -> Bool {
        if node.kind == VG_TOML_TABLE { return true }
        let key = document.key(node)
        report("'\(key)' must be a table", at: document.keyLocation(node), hint: "write [\(key)] on a line of its own")
        return false
    }

    private mutating func readGraph(_ entry: TomlDocument.Node, _ document: TomlDocument) {
        guard document.key(entry) != "links" else { return readLinks(entry, document) }
        var described = description
        take(entry, document, into: &described)
        description = described
    }

    /// What an including file says goes before what it includes, key by key.
    private mutating func readTable<Table: FileTableDescription>(
        _ kind: Table.Type, _ node: TomlDocument.Node, _ document: TomlDocument
    ) {
        guard isTable(node, document) else { return }
        var table = description.tables[kind] ?? Table()
        for entry in document.children(node) {
            under(document.key(entry)) { $0.take(entry, document, into: &table) }
        }
        description.tables[kind] = table
    }

    /// Reads what stands behind a declared key.
    mutating func take<Table: KeyedTable>(
        _ node: TomlDocument.Node, _ document: TomlDocument, into table: inout Table
    ) {
        let key = document.key(node)
        guard let declared = Table.keys.first(where: { $0.setting.key == key }) else {
            return unknownKey(node, document, in: FileTable(Table.self))
        }
        guard let entry = value(node, document) else { return }
        if let fault = declared.read(&table, entry) {
            diagnostics.append(Diagnostic(fault, at: entry.valueLocation))
        } else {
            given[Table.table, default: []].append((key, entry.keyLocation))
        }
    }

    private mutating func readNodes(_ nodes: TomlDocument.Node, _ document: TomlDocument) {
        guard nodes.kind == VG_TOML_TABLE else {
            return report(
                "'node' must be a table of nodes", at: document.keyLocation(nodes),
                hint: "write [node.NAME] for each node")
        }
        for node in document.children(nodes) {
            under("node") { $0.under(document.key(node)) { $0.readNode(node, document) } }
        }
    }

    private mutating func readNode(_ node: TomlDocument.Node, _ document: TomlDocument) {
        let name = document.key(node)
        let place = document.keyLocation(node)
        guard node.kind == VG_TOML_TABLE else {
            // Links to it are not worth a message of their own.
            description.nodes.append(NodeDescription(name: name, type: "", location: place))
            nodePlaces[name] = place
            return report(
                "node '\(shortened(name))' must be a table", at: place,
                hint: "write [node.\(shortened(name))] on a line of its own")
        }
        guard NodeDescription.isName(name) else {
            return report(
                "'\(shortened(name))' cannot be a node's name", at: place,
                hint: "names are made of letters, digits, '_' and '-'")
        }
        if let first = nodePlaces[name] {
            return report(
                "duplicate node '\(name)'", at: place,
                hint: "the first one is at \(first.file):\(first.line):\(first.column)")
        }
        nodePlaces[name] = place
        var result = NodeDescription(name: name, type: "", location: place)
        var hasType = false
        for entry in document.children(node) {
            path.append(document.key(entry))
            defer { path.removeLast() }
            switch document.key(entry) {
            case "type":
                hasType = true
                result.typeLocation = document.valueLocation(entry)
                result.type = text(entry, document, "'type'")?.string ?? ""
                if entry.kind == VG_TOML_STRING, result.type.isEmpty, !isOverridden {
                    report("'type' is empty", at: result.typeLocation, hint: typeHint)
                }
            case let key:
                guard let value = value(entry, document) else { continue }
                if key == "links" { hasStrayLinks = true }
                if let fault = result.set(key, value) {
                    diagnostics.append(Diagnostic(fault, at: value.valueLocation))
                }
            }
        }
        if !hasType {
            if readDotted(node, document) { return }
            report(
                "node '\(name)' has no type", at: place,
                hint: result.entries["plugin"] == nil ? typeHint : "add type = \"lv2\", if it is an LV2 plugin")
        }
        description.nodes.append(result)
    }
}

extension GraphReader {
    /// Whether the nodes of a table without a type, as of [node.my.mic], were meant; they are reported.
    private mutating func readDotted(_ node: TomlDocument.Node, _ document: TomlDocument) -> Bool {
        let inner = document.children(node).filter {
            $0.kind == VG_TOML_TABLE && document.child($0, "type") != nil
        }
        for child in inner {
            let names = [document.key(node), document.key(child)].map(shortened)
            report(
                "a node's name has no dots: '\(names.joined(separator: "."))'", at: document.keyLocation(child),
                hint: "write [node.\(names.joined(separator: "_"))], and the same name in links")
            // Links to it are not worth a message of their own.
            let place = document.keyLocation(child)
            description.nodes.append(NodeDescription(name: names.joined(separator: "_"), type: "", location: place))
        }
        if !inner.isEmpty {
            let place = document.keyLocation(node)
            description.nodes.append(NodeDescription(name: document.key(node), type: "", location: place))
        }
        return !inner.isEmpty
    }
}

private let typeHint = "add type = \"...\"; `voicegraph nodes` lists the types there are"
