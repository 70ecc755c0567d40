// SPDX-License-Identifier: Apache-2.0
import CToml
import GraphFile
import NodeKit

/// The links of a file: chains, and tables of one link.
extension GraphReader {
    mutating func readLinks(_ list: TomlDocument.Node, _ document: TomlDocument) {
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
        var described = LinkDescription()
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
            default: take(entry, document, into: &described)
            }
        }
        for key in ["from", "to"] where !document.children(link).contains(where: { document.key($0) == key }) {
            faulty = true
            report("a link without '\(key)'", at: document.valueLocation(link), hint: "{ from = \"a\", to = \"b\" }")
        }
        guard !faulty, let from = ends["from"], let to = ends["to"] else { return }
        (described.from, described.to, described.location) = (from, to, document.valueLocation(link))
        description.links.append(described)
    }
}
