// SPDX-License-Identifier: Apache-2.0

extension GraphSketch {
    /// Wires of one kind and gain between the same two nodes, as one.
    private struct Bundle {
        var link: Link
        var count: Int

        var label: String {
            [count > 1 ? "\(count)x" : nil, gainLabel(link.gain)].compactMap { $0 }.joined(separator: " ")
        }
    }

    private var bundles: [Bundle] {
        struct Key: Hashable {
            var from, to: Int
            var kind: Kind
            var gain: Double
        }
        var places: [Key: Int] = [:]
        var result: [Bundle] = []
        for link in soundLinks {
            let key = Key(from: link.from, to: link.to, kind: link.kind, gain: link.gain)
            if let place = places[key] {
                result[place].count += 1
            } else {
                places[key] = result.count
                result.append(Bundle(link: link, count: 1))
            }
        }
        return result
    }

    /// The drawing in the DOT language of Graphviz.
    public func dot() -> String {
        func quoted(_ text: String) -> String {
            "\"" + xmlFree(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        func escaped(_ text: String) -> String { String(quoted(text).dropFirst().dropLast()) }
        var out = "digraph \(quoted(name)) {\n  rankdir=LR;\n"
        out +=
            "  node [shape=box, style=\"rounded,filled\", fillcolor=\"\(Palette.light(.box))\", color=\"\(Palette.light(.edge))\", fontname=\"sans-serif\"];\n"
        out += "  edge [fontname=\"sans-serif\", fontsize=10];\n"
        for (index, node) in nodes.enumerated() {
            let failed =
                node.failure == nil ? "" : ", style=\"rounded,dashed\", color=\"\(Palette.light(.failed))\""
            out += "  n\(index) [label=\"\(escaped(node.name))\\n\(escaped(node.factText))\"\(failed)];\n"
        }
        for bundle in bundles {
            let label = bundle.label.isEmpty ? "" : ", label=\(quoted(bundle.label))"
            let style = bundle.link.kind == .audio ? "solid" : bundle.link.kind == .midi ? "dashed" : "dotted"
            out += "  n\(bundle.link.from) -> n\(bundle.link.to) "
            out +=
                "[color=\"\(Palette.light(bundle.link.kind.role))\", style=\(style), tooltip=\"\(bundle.link.kind)\"\(label)];\n"
        }
        return out + "}\n"
    }

    /// The drawing as a Mermaid flow chart.
    public func mermaid() -> String {
        var out = "flowchart LR\n"
        for (index, node) in nodes.enumerated() {
            out += "  n\(index)[\"<b>\(entities(node.name))</b><br/>\(entities(node.factText))\"]\n"
        }
        let bundles = bundles
        for bundle in bundles {
            let arrow = bundle.link.kind == .audio ? "-->" : bundle.link.kind == .midi ? "==>" : "-.->"
            let kind = bundle.link.kind == .audio ? "" : bundle.link.kind.rawValue
            let label = [kind, bundle.label].filter { !$0.isEmpty }.joined(separator: " ")
            out +=
                "  n\(bundle.link.from) \(arrow)\(label.isEmpty ? "" : "|\"\(entities(label))\"|") n\(bundle.link.to)\n"
        }
        for (index, bundle) in bundles.enumerated() {
            out += "  linkStyle \(index) stroke:\(Palette.light(bundle.link.kind.role))\n"
        }
        for (index, node) in nodes.enumerated() where node.failure != nil {
            out += "  style n\(index) stroke:\(Palette.light(.failed)),stroke-dasharray:5 4\n"
        }
        return out
    }

    /// Mermaid's own way to write what would end a label.
    private func entities(_ text: String) -> String {
        var result = ""
        for scalar in xmlFree(text).unicodeScalars {
            switch scalar {
            case "\"", "<", ">", "&", "#", "`", "\\": result += "#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Without control characters.
    private func xmlFree(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar.value >= 32 && !(0x7F...0x9F).contains(scalar.value) {
            result.append(scalar)
        }
        return String(result)
    }
}

extension GraphSketch.Node {
    /// Its type, and what is done to it.
    fileprivate var factText: String { ([kindText] + done).joined(separator: ", ") }
}
