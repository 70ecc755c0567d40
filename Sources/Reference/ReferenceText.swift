// SPDX-License-Identifier: Apache-2.0
import Config
import GraphFile
import Host
import NodeKit
import System

/// The reference of the graph file as it is printed.
package struct ReferencePrinter {
    package let catalog: NodeCatalog
    package var tables: FileTables

    /// Of the node types of a catalog.
    package init(catalog: NodeCatalog, tables: FileTables = FileTables()) {
        (self.catalog, self.tables) = (catalog, tables)
    }

    /// The types that can be used here, and what nodes of each may say.
    package var types: [NodeDescriptor] {
        catalog.names.compactMap { name in catalog.types[name] == nil ? nil : catalog.descriptor(name) }
    }

    /// A type's settings and parameters: key, what it takes, what it is for.
    package func rows(_ type: NodeDescriptor) -> [(key: String, takes: String, doc: String)] {
        type.settings.map { ($0.key, range($0), $0.doc) }
            + type.layout.parameters.map { ($0.key, range($0), $0.doc) }
    }

    package static let aboutTypes =
        "`voicegraph nodes` lists them, `voicegraph describe TYPE` shows all of one, also its ports, actions, events and series. "
        + "Settings are fixed before the node runs unless they are live; the others are parameters, which may be turned and driven "
        + "by control links. A type whose number of channels or bands is a setting has a parameter of each."

    /// For people, in lines of at most `width` columns.
    package func text(width: Int) -> String {
        var text = ""
        func paragraph(_ words: String, _ indent: Int) {
            let space = String(repeating: " ", count: indent)
            text += wrap(words.replacing("`", with: ""), max(24, width - indent)).map { space + $0 + "\n" }.joined()
        }
        func entry(_ key: String, _ takes: String, _ doc: String) {
            let lines = wrap(takes, max(24, width - key.count - 6))
            text += "    \(key)  " + lines.joined(separator: "\n" + String(repeating: " ", count: key.count + 6)) + "\n"
            if !doc.isEmpty { paragraph(doc, 8) }
        }
        for section in FileReference.sections(of: tables) {
            text += (text.isEmpty ? "" : "\n") + section.title + "\n"
            for block in section.blocks {
                switch block {
                case .text(let words): paragraph(words, 2)
                case .file(let lines), .lines(let lines):
                    text +=
                        "\n"
                        + lines.split(separator: "\n", omittingEmptySubsequences: false)
                        .map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined() + "\n"
                case .keys(let keys): for key in keys { entry(key.key, range(key), key.doc) }
                }
            }
        }
        text += "\nNode types\n"
        paragraph(Self.aboutTypes, 2)
        for type in types {
            text += "\n"
            paragraph("\(type.name): \(type.summary). See voicegraph describe \(type.name)", 2)
            for row in rows(type) { entry(row.key, row.takes, row.doc) }
        }
        return text.replacing("\n\n\n", with: "\n\n")
    }

    /// For `man`: voicegraph.conf(5), with a date.
    package func manual(_ date: String) -> String {
        var page = Roff()
        page.title(
            "VOICEGRAPH.CONF", section: 5, date: date, version: "voicegraph \(hostVersion)", manual: "File Formats")
        page.macro("SH", "NAME")
        page.line("voicegraph.conf \\- " + Roff.styled(FileReference.summary))
        func entry(_ key: String, _ takes: String, _ doc: String) {
            page.entry("\(Roff.bold(key)) (\(Roff.styled(takes)))", doc.isEmpty ? "No more is said of it." : doc)
        }
        for section in FileReference.sections(of: tables) {
            page.macro("SH", section.title.uppercased())
            for (index, block) in section.blocks.enumerated() {
                switch block {
                case .text(let words):
                    if index > 0 { page.macro("PP") }
                    page.prose(words)
                case .file(let lines), .lines(let lines):
                    page.macro("PP")
                    page.macro("RS", "4")
                    page.example(lines.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
                    page.macro("RE")
                case .keys(let keys): for key in keys { entry(key.key, range(key), key.doc) }
                }
            }
        }
        page.macro("SH", "NODE TYPES")
        page.prose(Self.aboutTypes)
        for type in types {
            page.macro("SS", type.name)
            page.prose("\(type.summary). See `voicegraph describe \(type.name)`.")
            for row in rows(type) { entry(row.key, row.takes, row.doc) }
        }
        page.macro("SH", "SEE ALSO")
        page.line("\\fBvoicegraph\\fR(1)")
        return page.text
    }
}
