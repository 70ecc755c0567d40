// SPDX-License-Identifier: Apache-2.0
import CToml
import Graph
import NodeKit

/// Collects a description from a file and what it includes.
///
/// An included file's nodes and links come before those of the file that includes it. A file that is included twice is
/// read once. A node may be described in one place only. The name of the graph is that of the including file, if it
/// gives one.
struct GraphReader {
    private var description = GraphDescription()
    private var diagnostics: [Diagnostic] = []
    private let environment: [String: String]
    private var nodePlaces: [String: SourceLocation] = [:]
    /// The files that are being read, outermost first, as canonical and shown names.
    private var chain: [(canonical: String, shown: String)] = []
    private var finished: Set<String> = []
    private var unreadable = false

    init(_ environment: [String: String]) { self.environment = environment }

    mutating func readMain(_ source: SourceText, canonical: String) {
        read(source, canonical: canonical)
    }

    mutating func finish(_ file: String, _ overrides: [String]) -> (GraphDescription?, [Diagnostic]) {
        guard !unreadable else { return (nil, diagnostics) }
        description.baseFolder = folder(of: file)
        description.location = SourceLocation(file: file, line: 1, column: 1)
        description.isPartial = !diagnostics.isEmpty
        for override in overrides { apply(override, to: &description) { diagnostics.append($0) } }
        return (description, diagnostics)
    }

    private mutating func report(_ message: String, at location: SourceLocation, hint: String = "") {
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
        guard case .success(let document) = TomlDocument.parse(source) else {
            unreadable = true
            return diagnostics += syntaxErrors(source)
        }
        chain.append((canonical, source.file))
        readRoot(document)
        chain.removeLast()
        finished.insert(canonical)
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
        switch readFile(path, onlyFiles: true) {
        case .success(let bytes): read(SourceText(file: path, bytes: bytes), canonical: real)
        case .failure(let fault):
            unreadable = true
            report(
                "cannot include '\(shortened(name))': \(fault.reason)", at: location,
                hint: name.hasPrefix("/") ? fault.hint : "the path starts at the folder of this file")
        }
    }

    // MARK: tables

    private mutating func readRoot(_ document: TomlDocument) {
        var graph: TomlDocument.Node?
        for node in document.children(document.root) {
            switch document.key(node) {
            case "include": for file in strings(node, document, "include") { include(file.0, file.1) }
            case "graph": graph = node
            case "node": readNodes(node, document)
            case let key:
                unknownKey(key, node, document, ["graph", "node", "include"], "[graph], [node.NAME] or include")
                // What is in a misspelled table is looked at all the same.
                var suggester = Suggester()
                if node.kind == VG_TOML_TABLE, suggester.nearest(key, among: ["node"]) != nil {
                    readNodes(node, document)
                }
            }
        }
        if let graph { readGraph(graph, document) }
    }

    private mutating func readGraph(_ graph: TomlDocument.Node, _ document: TomlDocument) {
        guard graph.kind == VG_TOML_TABLE else {
            return report(
                "'graph' must be a table", at: document.keyLocation(graph), hint: "write [graph] on a line of its own")
        }
        for entry in document.children(graph) {
            switch document.key(entry) {
            case "name": readName(entry, document)
            case "links": readLinks(entry, document)
            case let key: unknownKey(key, entry, document, ["name", "links"], "name and links")
            }
        }
    }

    private mutating func readName(_ entry: TomlDocument.Node, _ document: TomlDocument) {
        guard let text = text(entry, document, "the graph's name") else { return }
        // The JACK server cuts longer names, and ':' parts client from port.
        guard !text.bytes.isEmpty, text.bytes.count <= 48,
            !text.bytes.contains(where: { $0 < 32 || $0 == 58 || $0 == 127 })
        else {
            return report(
                "'\(shortened(text.string))' cannot be a graph's name", at: document.valueLocation(entry),
                hint: "it becomes the JACK client's name: 1 to 48 bytes, no ':' and no control characters")
        }
        description.name = text.string
    }

    private mutating func readNodes(_ nodes: TomlDocument.Node, _ document: TomlDocument) {
        guard nodes.kind == VG_TOML_TABLE else {
            return report(
                "'node' must be a table of nodes", at: document.keyLocation(nodes),
                hint: "write [node.NAME] for each node")
        }
        for node in document.children(nodes) { readNode(node, document) }
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
        guard !name.isEmpty, name.utf8.allSatisfy(isNameByte), !name.contains("->") else {
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
            switch document.key(entry) {
            case "type":
                hasType = true
                result.typeLocation = document.valueLocation(entry)
                result.type = text(entry, document, "'type'")?.string ?? ""
                if entry.kind == VG_TOML_STRING, result.type.isEmpty {
                    report("'type' is empty", at: result.typeLocation, hint: typeHint)
                }
            case "required":
                if entry.kind == VG_TOML_BOOL {
                    result.required = entry.boolean
                } else {
                    report(
                        "'required' must be true or false, not \(kindText(entry))", at: document.valueLocation(entry))
                }
            case let key:
                guard let value = value(entry, document) else { continue }
                result.entries[key] = value
                result.keys.append(key)
            }
        }
        if !hasType { report("node '\(name)' has no type", at: place, hint: typeHint) }
        description.nodes.append(result)
    }

    // MARK: links

    private mutating func readLinks(_ list: TomlDocument.Node, _ document: TomlDocument) {
        if list.kind == VG_TOML_STRING {
            readLink(list, document)
        } else if list.kind == VG_TOML_LIST {
            description.links.reserveCapacity(description.links.count + Int(list.count))
            for link in document.children(list) { readLink(link, document) }
        } else {
            report(
                "'links' must be a list of links, not \(kindText(list))", at: document.valueLocation(list),
                hint: "links = [\"a -> b\", \"b -> c\"]")
        }
    }

    private mutating func readLink(_ link: TomlDocument.Node, _ document: TomlDocument) {
        switch link.kind {
        case VG_TOML_STRING:
            guard let text = text(link, document, "a link") else { return }
            var found: [Diagnostic] = []
            description.links += parseLinks(text) { found.append($0) }
            diagnostics += found
        case VG_TOML_TABLE: readLinkTable(link, document)
        default:
            report(
                "a link must be a string or a table, not \(kindText(link))", at: document.valueLocation(link),
                hint: "\"a -> b\" or { from = \"a\", to = \"b\", gain_db = -6 }")
        }
    }

    private mutating func readLinkTable(_ link: TomlDocument.Node, _ document: TomlDocument) {
        var ends: [String: Endpoint] = [:]
        var gain = 0.0
        var faulty = false
        for entry in document.children(link) {
            switch document.key(entry) {
            case let key where key == "from" || key == "to":
                faulty = true
                guard let text = text(entry, document, "'\(key)'") else { continue }
                guard !text.bytes.isEmpty else {
                    report(
                        "'\(key)' is empty", at: document.valueLocation(entry),
                        hint: "write the node's name, or node.port")
                    continue
                }
                var found: [Diagnostic] = []
                ends[key] = parseEndpoint(text, text.bytes.indices) { found.append($0) }
                diagnostics += found
                faulty = ends[key] == nil
            case "gain_db":
                guard entry.kind == VG_TOML_NUMBER || entry.kind == VG_TOML_INTEGER else {
                    report("'gain_db' must be a number, not \(kindText(entry))", at: document.valueLocation(entry))
                    continue
                }
                guard entry.number.isFinite, abs(entry.number) <= 200 else {
                    report(
                        "'gain_db' must be a number between -200 and 200", at: document.valueLocation(entry),
                        hint: "leave the link out to have silence")
                    continue
                }
                gain = entry.number
            case let key: unknownKey(key, entry, document, ["from", "to", "gain_db"], "from, to and gain_db")
            }
        }
        for key in ["from", "to"] where !document.children(link).contains(where: { document.key($0) == key }) {
            faulty = true
            report("a link without '\(key)'", at: document.valueLocation(link), hint: "{ from = \"a\", to = \"b\" }")
        }
        guard !faulty, let from = ends["from"], let to = ends["to"] else { return }
        description.links.append(
            LinkDescription(from: from, to: to, gainDB: gain, location: document.valueLocation(link)))
    }

    // MARK: values

    /// A string with `${...}` resolved; nil, and reported, when it is none.
    private mutating func text(_ node: TomlDocument.Node, _ document: TomlDocument, _ what: String) -> StringText? {
        guard node.kind == VG_TOML_STRING else {
            report("\(what) must be a string, not \(kindText(node))", at: document.valueLocation(node))
            return nil
        }
        var text = StringText(node, in: document)
        var found: [Diagnostic] = []
        text.expand(environment) { found.append($0) }
        diagnostics += found
        return found.isEmpty ? text : nil
    }

    private mutating func strings(
        _ node: TomlDocument.Node, _ document: TomlDocument, _ key: String
    ) -> [(String, SourceLocation)] {
        let items = node.kind == VG_TOML_LIST ? Array(document.children(node)) : [node]
        return items.compactMap { item in
            text(item, document, "'\(key)'").map { ($0.string, document.valueLocation(item)) }
        }
    }

    /// An entry with all that is in it; nil, and reported, when it cannot be one.
    private mutating func value(_ node: TomlDocument.Node, _ document: TomlDocument) -> Entry? {
        var inner: [String: Entry] = [:]
        let value: SettingValue
        switch node.kind {
        case VG_TOML_BOOL: value = .bool(node.boolean)
        case VG_TOML_INTEGER: value = .integer(node.integer)
        case VG_TOML_NUMBER: value = .number(node.number)
        case VG_TOML_STRING:
            guard let text = text(node, document, "") else { return nil }
            value = .string(text.string)
        case VG_TOML_LIST:
            var items: [SettingValue] = []
            for item in document.children(node) {
                guard let entry = self.value(item, document) else { continue }
                inner[String(items.count)] = entry
                items.append(entry.value)
            }
            value = .list(items)
        case VG_TOML_TABLE:
            for item in document.children(node) {
                if let entry = self.value(item, document) { inner[document.key(item)] = entry }
            }
            value = .table(inner.mapValues(\.value))
        default:
            report(
                "dates and times have no meaning here", at: document.valueLocation(node), hint: "write it in quotes")
            return nil
        }
        let key = node.key == nil ? document.valueLocation(node) : document.keyLocation(node)
        return Entry(value, keyLocation: key, valueLocation: document.valueLocation(node), inner: inner)
    }

    private mutating func unknownKey(
        _ key: String, _ node: TomlDocument.Node, _ document: TomlDocument, _ known: [String], _ list: String
    ) {
        var suggester = Suggester()
        report(
            "unknown key '\(shortened(key))'", at: document.keyLocation(node),
            hint: suggester.hint(key, among: known, otherwise: "here may stand \(list)"))
    }
}

private let typeHint = "add type = \"...\"; `voicegraph nodes` lists the types there are"

/// The kind of a value in words.
func kindText(_ node: TomlDocument.Node) -> String {
    switch node.kind {
    case VG_TOML_BOOL: "true or false"
    case VG_TOML_INTEGER: "a whole number"
    case VG_TOML_NUMBER: "a number with a fraction"
    case VG_TOML_STRING: "a string"
    case VG_TOML_LIST: "a list"
    case VG_TOML_TABLE: "a table"
    default: "a date or time"
    }
}
