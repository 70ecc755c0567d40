// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import Host
import NodeKit

/// The reference of the graph file as it is printed.
struct ReferencePrinter {
    let catalog: NodeCatalog

    /// The types that can be used here, and what nodes of each may say.
    var types: [NodeDescriptor] {
        catalog.names.compactMap { name in catalog.types[name] == nil ? nil : catalog.descriptor(name) }
    }

    /// A type's settings and parameters: key, what it takes, what it is for.
    func rows(_ type: NodeDescriptor) -> [(key: String, takes: String, doc: String)] {
        type.settings.map { ($0.key, range($0) + ($0.isLive ? ", live" : ""), $0.doc) }
            + type.layout.parameters.map { ($0.key, range($0), $0.doc) }
    }

    static let aboutTypes =
        "`voicegraph nodes` lists them, `voicegraph describe TYPE` shows all of one, also its ports, actions, events and series. "
        + "Settings are fixed before the node runs unless they are live; the others are parameters, which may be turned and driven "
        + "by control links. A type whose number of channels or bands is a setting has a parameter of each."

    /// For people, in lines of at most `width` columns.
    func text(width: Int) -> String {
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
        for section in FileReference.sections {
            text += (text.isEmpty ? "" : "\n") + section.title + "\n"
            for block in section.blocks {
                switch block {
                case .text(let words): paragraph(words, 2)
                case .file(let lines), .lines(let lines):
                    text +=
                        "\n"
                        + lines.split(separator: "\n", omittingEmptySubsequences: false)
                        .map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined() + "\n"
                case .keys(let keys): for key in keys { entry(key.setting.key, range(key.setting), key.setting.doc) }
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
    func manual(_ date: String) -> String {
        var text = """
            .TH VOICEGRAPH.CONF 5 "\(date)" "voicegraph \(hostVersion)" "File Formats"
            .SH NAME
            voicegraph.conf \\- \(Self.roff(FileReference.summary))

            """
        func entry(_ key: String, _ takes: String, _ doc: String) {
            text += ".TP\n\\fB\(Self.roff(key, isPlain: true))\\fR (\(Self.roff(takes)))\n"
            text += Self.roff(doc.isEmpty ? "No more is said of it." : doc) + "\n"
        }
        for section in FileReference.sections {
            text += ".SH \"\(Self.roff(section.title).uppercased())\"\n"
            var isFirst = true
            for block in section.blocks {
                switch block {
                case .text(let words): text += (isFirst ? "" : ".PP\n") + Self.roff(words) + "\n"
                case .file(let lines), .lines(let lines):
                    text += ".PP\n.RS 4\n.nf\n"
                    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
                        text += (line.isEmpty ? "\\&" : Self.roff(String(line), isPlain: true)) + "\n"
                    }
                    text += ".fi\n.RE\n"
                case .keys(let keys): for key in keys { entry(key.setting.key, range(key.setting), key.setting.doc) }
                }
                isFirst = false
            }
        }
        text += ".SH \"NODE TYPES\"\n" + Self.roff(Self.aboutTypes) + "\n"
        for type in types {
            text += ".SS \"\(Self.roff(type.name))\"\n"
            text += Self.roff("\(type.summary). See `voicegraph describe \(type.name)`.") + "\n"
            for row in rows(type) { entry(row.key, row.takes, row.doc) }
        }
        return text + ".SH \"SEE ALSO\"\n.BR voicegraph (1)\n"
    }

    /// Text as roff has it; what stands between backquotes is bold, unless it is `isPlain`.
    private static func roff(_ text: String, isPlain: Bool = false) -> String {
        var result = ""
        var isBold = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "\"": result += "\\(dq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "`" where isPlain: result += "\\(ga"
            case "`":
                isBold.toggle()
                result += isBold ? "\\fB" : "\\fR"
            case "\n": result += " "
            default: result += scalar.isASCII ? String(scalar) : "\\[u\(hex(scalar))]"
            }
        }
        // A line that begins with a dot is a request; sources have lines of at most 80.
        let lines = isPlain ? [result] : wrap(result, 76)
        return lines.map { $0.hasPrefix(".") ? "\\&" + $0 : $0 }.joined(separator: "\n")
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
