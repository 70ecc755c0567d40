// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// Changes the text of a graph file where a graph differs from what it says, and leaves the rest alone.
enum GraphPatch {
    /// The text of the file at `path` with all that differs in `graph`; nil: it cannot be read, or is written in a way that
    /// cannot be changed in parts. With `movesTo` what it includes becomes a part of it, since includes are found beside it.
    static func text(
        of graph: GraphDescription, from path: String, movesTo: String?, environment: [String: String]?
    ) -> String? {
        let (read, faults) = ConfigFile.load(
            path: path, environment: environment, onlyFiles: true, tables: FileTables(graph.tables.kinds))
        guard let file = read, !faults.contains(where: { $0.severity == .error }),
            case .success(let bytes) = readFile(path, onlyFiles: true)
        else { return nil }
        let main = SourceText(file: path, bytes: bytes)
        guard case .success(let document) = TomlDocument.parse(main) else { return nil }
        let foreign = file.nodes.filter { $0.location.file != path }
        let isWhole = foreign.isEmpty && document.child(document.root, "include") == nil
        // What is included is left alone as long as nothing of it differs.
        let here = movesTo.map { canonical($0) } ?? ""
        let stays = movesTo == nil || here == canonical(folder(of: path).isEmpty ? "." : folder(of: path))
        let isKept = foreign.allSatisfy { node in
            graph.nodes.first { $0.name == node.name }.map { $0.keyedEntries.byKey == node.keyedEntries.byKey } ?? false
        }
        guard isWhole || (stays && isKept) else { return nil }
        do throws(Unpatchable) {
            var edits = TextEdits(main)
            try patchLinks(file, graph, document, &edits)
            try patchTable(GraphDescription.table, file.entries, graph.entries, document, &edits)
            for kind in graph.tables.kinds {
                let (old, new) = (file.tables.entries(of: kind) ?? [], graph.tables.entries(of: kind) ?? [])
                try patchTable(kind.table, old, new, document, &edits)
            }
            let own = file.nodes.filter { $0.location.file == path }
            for node in own {
                guard let table = document.child(document.root, "node").flatMap({ document.child($0, node.name) })
                else {
                    throw Unpatchable()
                }
                if let wanted = graph.nodes.first(where: { $0.name == node.name }) {
                    try TablePatch(document, table).change(node.keyedEntries, to: wanted.keyedEntries, &edits)
                } else {
                    try TablePatch(document, table).remove(path: "node.\(node.name)", &edits)
                }
            }
            for node in graph.nodes where !file.nodes.contains(where: { $0.name == node.name }) {
                edits.append("\n" + GraphText.node(node))
            }
            return edits.result
        } catch { return nil }
    }

    private static func patchTable(
        _ name: String, _ old: [KeyedEntry], _ new: [KeyedEntry], _ document: TomlDocument, _ edits: inout TextEdits
    ) throws(Unpatchable) {
        // The graph's own name is what it is called without a word.
        guard old.byKey != new.byKey else { return }
        guard let table = document.child(document.root, name) else {
            let lines = new.filter { entry in old.byKey[entry.key] != entry.value.plain }
                .map { "\(TomlWriter.key($0.key)) = \(TomlWriter.value($0.value))\n" }.joined()
            return edits.insertBeforeTables("[\(name)]\n\(lines)\n", document)
        }
        try TablePatch(document, table).change(old, to: new, &edits)
    }
}

/// It is written in a way that cannot be changed in parts.
struct Unpatchable: Error {}

/// What is to be replaced in a text.
struct TextEdits {
    let source: SourceText
    private var edits: [(range: Range<Int>, text: String)] = []
    private var tail = ""

    init(_ source: SourceText) { self.source = source }

    mutating func replace(_ range: Range<Int>, with text: String) { edits.append((range, text)) }

    mutating func append(_ text: String) { tail += text }

    /// Puts a table in front of all others, behind what stands alone.
    mutating func insertBeforeTables(_ text: String, _ document: TomlDocument) {
        var line = 1
        while line <= source.lineCount, !isHeader(source.line(line)) { line += 1 }
        guard line <= source.lineCount else { return append("\n" + text) }
        let place = source.line(firstComment(before: line)).startIndex
        replace(place..<place, with: text)
    }

    /// The first line of the comment that stands right above a line, or the line itself. A comment that begins the file is
    /// about all of it.
    func firstComment(before line: Int) -> Int {
        var first = line
        while first > 1, source.line(first - 1).first(where: { !$0.isBlank }) == UInt8(ascii: "#") { first -= 1 }
        return first == 1 ? line : first
    }

    /// The text with all of it done. Later edits of one place follow earlier ones.
    var result: String {
        var bytes: [UInt8] = []
        var place = 0
        for edit in edits.enumerated().sorted(by: {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        })
        .map(\.element) {
            guard edit.range.lowerBound >= place else { continue }
            bytes += source.bytes[place..<edit.range.lowerBound]
            bytes += edit.text.utf8
            place = edit.range.upperBound
        }
        bytes += source.bytes[place...]
        if !tail.isEmpty, bytes.last != 10 { bytes.append(10) }
        return String(decoding: bytes, as: UTF8.self) + tail
    }
}
