// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile

extension GraphPatch {
    /// Changes the list of links: elements of which all links stay are left alone, with their comments.
    static func patchLinks(
        _ file: GraphDescription, _ graph: GraphDescription, _ document: TomlDocument, _ edits: inout TextEdits
    ) throws(Unpatchable) {
        var wanted = graph.links.map(\.key)
        let table = document.child(document.root, "graph")
        let list = table.flatMap { document.child($0, "links") }
        // Those of included files stay where they are.
        let foreign = file.links.filter { $0.location.file != document.text.file }.map(\.key)
        for key in foreign {
            guard let place = wanted.firstIndex(of: key) else { throw Unpatchable() }
            wanted.remove(at: place)
        }
        var rest = wanted
        var elements: [Element] = []
        for node in list.map({ $0.kind == VG_TOML_LIST ? Array(document.children($0)) : [$0] }) ?? [] {
            let links = try self.links(node, document)
            var kept: [LinkDescription] = []
            for link in links {
                guard let place = rest.firstIndex(of: link.key) else { continue }
                rest.remove(at: place)
                kept.append(link)
            }
            elements.append(Element(node: node, isWhole: kept.count == links.count, kept: kept))
        }
        let new = TomlWriter.links(
            graph.links.filter { link in
                guard let place = rest.firstIndex(of: link.key) else { return false }
                rest.remove(at: place)
                return true
            })
        if new.isEmpty, elements.allSatisfy(\.isWhole) { return }
        guard let list else {
            let text = "links = [\(new.joined(separator: ", "))]\n"
            guard let table else { return edits.insertBeforeTables("[graph]\n\(text)\n", document) }
            let line = Int(table.start.line)
            let place =
                line < document.text.lineCount ? document.text.line(line + 1).startIndex : document.text.bytes.count
            return edits.replace(place..<place, with: text)
        }
        let range = list.start.offset..<list.end.offset
        guard list.kind == VG_TOML_LIST, !elements.isEmpty else {
            let kept = elements.first.map { TomlWriter.links($0.kept) } ?? []
            return edits.replace(range, with: "[\((kept + new).joined(separator: ", "))]")
        }
        edits.replace(range, with: text(elements, new, range, document.text.bytes))
    }

    private struct Element {
        var node: TomlDocument.Node
        /// Whether all of its links stay.
        var isWhole: Bool
        var kept: [LinkDescription]
    }

    private static func links(_ node: TomlDocument.Node, _ document: TomlDocument) throws(Unpatchable)
        -> [LinkDescription]
    {
        func string(_ node: TomlDocument.Node?) throws(Unpatchable) -> String {
            guard let node, node.kind == VG_TOML_STRING, case let text = document.string(node), !text.contains("$")
            else {
                throw Unpatchable()
            }
            return text
        }
        if node.kind == VG_TOML_STRING { return LinkDescription.parse(try string(node)).links }
        guard node.kind == VG_TOML_TABLE else { throw Unpatchable() }
        let (from, to) = (try string(document.child(node, "from")), try string(document.child(node, "to")))
        guard var link = LinkDescription.parse("\(from) -> \(to)").links.first else { throw Unpatchable() }
        link.gainDB = document.child(node, "gain_db")?.number ?? 0
        return [link]
    }

    /// The list with what is between its elements, commas, blanks and comments, as it was.
    private static func text(_ elements: [Element], _ new: [String], _ range: Range<Int>, _ bytes: [UInt8]) -> String {
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        var result = ""
        var place = range.lowerBound
        var hasElements = false
        for (index, element) in elements.enumerated() {
            let next = index + 1 < elements.count ? elements[index + 1].node.start.offset : range.upperBound - 1
            let own = element.node.start.offset..<element.node.end.offset
            let between = text(own.upperBound..<next)
            if element.kept.isEmpty {
                // With the comma behind it and the rest of its line; the blanks before it stay for what follows.
                if index == 0 { result += text(place..<own.lowerBound) }
                let after = between.drop { $0 == " " || $0 == "\t" || $0 == "," }
                let isLine = after.first == "\n" || after.first == "#"
                result +=
                    isLine
                    ? String(after.drop { $0 != "\n" }.dropFirst().drop { $0 == " " || $0 == "\t" }) : String(after)
            } else {
                if index == 0 { result += text(place..<own.lowerBound) }
                result += element.isWhole ? text(own) : TomlWriter.links(element.kept).joined(separator: ", ")
                result += between
                hasElements = true
            }
            place = next
        }
        guard !new.isEmpty else {
            // Of a list in one line the comma behind an element that has gone.
            while !result.contains("\n"), let last = result.last, " ,\t".contains(last) { result.removeLast() }
            return result + "]"
        }
        guard hasElements else { return "[\(new.joined(separator: ", "))]" }
        return append(new, to: result) + "]"
    }

    /// Behind the last element, in lines where the list has lines.
    private static func append(_ new: [String], to list: String) -> String {
        let isTall = list.contains("\n")
        guard isTall else {
            var text = Substring(list)
            while let last = text.last, " ,\t".contains(last) { text.removeLast() }
            return text + ", " + new.joined(separator: ", ")
        }
        let lines = list.split(separator: "\n", omittingEmptySubsequences: false)
        let indent = lines.dropFirst().first { $0.contains("\"") }?.prefix { $0 == " " || $0 == "\t" } ?? "  "
        // The last line that has an element needs a comma at its end.
        guard let last = lines.lastIndex(where: { $0.contains("\"") }) else { return list }
        var head = lines[...last].map(String.init)
        let line = head[last]
        let end = elementEnd(line)
        let after = line[end...]
        if !after.drop(while: { $0 == " " }).hasPrefix(",") { head[last] = line[..<end] + "," + after }
        let added = new.map { "\(indent)\($0)," }
        return (head + added + lines[(last + 1)...].map(String.init)).joined(separator: "\n")
    }

    /// Where the last element of a line ends: behind its last quote or brace that no comment follows.
    private static func elementEnd(_ line: String) -> String.Index {
        var quoted = false
        var end = line.startIndex
        for index in line.indices {
            switch line[index] {
            case "\"":
                quoted.toggle()
                if !quoted { end = line.index(after: index) }
            case "}" where !quoted: end = line.index(after: index)
            case "#" where !quoted: return end
            default: break
            }
        }
        return end
    }
}

extension LinkDescription {
    /// What tells it from others.
    fileprivate var key: String { "\(from) \(to) \(gainDB)" }
}
