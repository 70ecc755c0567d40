// SPDX-License-Identifier: Apache-2.0

extension GraphSketch {
    /// The drawing as an SVG file of its own: follows the reader's light or dark preference, loads nothing.
    public func svg() -> String {
        let layout = GraphLayout(self)
        let used = Kind.allCases.filter { kind in layout.links.contains { $0.kind == kind } }
        let legend = used.isEmpty ? 0.0 : 34.0
        let head = 40.0
        let legendWidth = used.reduce(GraphLayout.Measure.margin * 2) { $0 + textWidth($1.rawValue, 12) + 52 }
        let width = max(layout.width, legendWidth, textWidth(name, 17) + 56)
        let height = layout.height + head + legend
        var out = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(px(width)) \(px(height))" width="\(px(width))" \
            height="\(px(height))" role="img" font-family="Inter, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">
            <title>\(xml(name))</title>
            <style>
            \(style)
            </style>
            <rect class="ground" width="100%" height="100%"/>
            <text class="graph" x="\(px(GraphLayout.Measure.margin))" y="34">\(xml(name))</text>
            <g transform="translate(\(px((width - layout.width) / 2)) \(px(head)))">

            """
        for (index, link) in layout.links.enumerated() { out += edge(link, layout, layout.bends[index]) }
        for (index, node) in nodes.enumerated() { out += box(node, layout.boxes[index]) }
        out += gains(layout)
        out += "</g>\n"
        var x = GraphLayout.Measure.margin
        for kind in used {
            let y = height - 24
            out += "<path class=\"link \(kind)\" d=\"M\(px(x)) \(px(y))h24\"/>"
            out += "<text class=\"legend\" x=\"\(px(x + 32))\" y=\"\(px(y + 4))\">\(kind)</text>\n"
            x += textWidth(kind.rawValue, 12) + 52
        }
        return out + "</svg>\n"
    }

    private func edge(_ link: Link, _ layout: GraphLayout, _ bends: [SIMD2<Double>]) -> String {
        let start = layout.port(link.from, link.output, output: true)
        let end = layout.port(link.to, link.input, output: false)
        var path = "M\(px(start.x)) \(px(start.y))"
        if end.x <= start.x {
            // Against the stream: around below the boxes.
            let low =
                max(
                    layout.boxes[link.from].y + layout.boxes[link.from].height,
                    layout.boxes[link.to].y + layout.boxes[link.to].height) + 18
            let middle = (start.x + end.x) / 2
            path += "C\(px(start.x + 44)) \(px(start.y)) \(px(start.x + 44)) \(px(low)) \(px(middle)) \(px(low))"
            path += "S\(px(end.x - 44)) \(px(end.y)) \(px(end.x)) \(px(end.y))"
        } else {
            var last = start
            for point in bends + [end] {
                let reach = min(max((point.x - last.x) / 2, 24), 140)
                path += "C\(px(last.x + reach)) \(px(last.y)) \(px(point.x - reach)) \(px(point.y)) "
                path += "\(px(point.x)) \(px(point.y))"
                last = point
            }
        }
        let from = "\(nodes[link.from].name).\(nodes[link.from].outputs[link.output].name)"
        let to = "\(nodes[link.to].name).\(nodes[link.to].inputs[link.input].name)"
        let label = gainLabel(link.gain).map { ", \($0)" } ?? ""
        return
            "<path class=\"link \(link.kind)\" d=\"\(path)\"><title>\(xml("\(from) → \(to): \(link.kind)\(label)"))</title></path>\n"
    }

    /// The gains that change something: where the wires begin, or on their way if one output has several gains.
    private func gains(_ layout: GraphLayout) -> String {
        struct Output: Hashable { var node, port: Int }
        var labels: [Output: [String]] = [:]
        for link in layout.links {
            let output = Output(node: link.from, port: link.output)
            let label = gainLabel(link.gain) ?? ""
            if labels[output]?.contains(label) != true { labels[output, default: []].append(label) }
        }
        var out = ""
        var written: Set<Output> = []
        for (index, link) in layout.links.enumerated() {
            guard let label = gainLabel(link.gain) else { continue }
            let output = Output(node: link.from, port: link.output)
            if labels[output]?.count == 1 {
                guard written.insert(output).inserted else { continue }
                let start = layout.port(link.from, link.output, output: true)
                out += "<text class=\"gain\" x=\"\(px(start.x + 9))\" y=\"\(px(start.y - 7))\">\(xml(label))</text>\n"
            } else {
                let start = layout.port(link.from, link.output, output: true)
                let end = layout.port(link.to, link.input, output: false)
                let place = layout.bends[index].first ?? (start + end) / 2
                out += "<text class=\"gain mid\" x=\"\(px(place.x))\" y=\"\(px(place.y - 6))\">\(xml(label))</text>\n"
            }
        }
        return out
    }

    private func box(_ node: Node, _ box: GraphLayout.Box) -> String {
        let middle = box.x + box.width / 2
        var out = "<g><title>\(xml("\(node.name): \(node.type)" + (node.failure.map { ", \($0)" } ?? "")))</title>\n"
        out += "<rect class=\"box\(node.failure == nil ? "" : " failed")\" x=\"\(px(box.x))\" y=\"\(px(box.y))\" "
        out += "width=\"\(px(box.width))\" height=\"\(px(box.height))\" rx=\"10\"/>\n"
        out += "<text class=\"name\" x=\"\(px(middle))\" y=\"\(px(box.y + 20))\">\(xml(node.name))</text>\n"
        out += "<text class=\"type\" x=\"\(px(middle))\" y=\"\(px(box.y + 36))\">\(xml(node.type))</text>\n"
        for (ports, x, side, shift) in [
            (node.inputs, box.x, "in", 10.0), (node.outputs, box.x + box.width, "out", -10.0),
        ] {
            for (index, port) in ports.enumerated() {
                let y = box.y + GraphLayout.Measure.header + (Double(index) + 0.5) * GraphLayout.Measure.row
                out += "<circle class=\"port \(port.kind)\" cx=\"\(px(x))\" cy=\"\(px(y))\" r=\"4.5\"/>"
                out +=
                    "<text class=\"symbol \(side)\" x=\"\(px(x + shift))\" y=\"\(px(y + 3.5))\">\(xml(port.name))</text>\n"
            }
        }
        return out + "</g>\n"
    }

    private var style: String {
        """
        svg{--ground:#fff;--box:#f7f8fa;--edge:#cfd5de;--text:#1b2330;--quiet:#6b7686;--failed:#c9510c;\
        --audio:#0f9d76;--control:#c98a00;--midi:#8a4fd3;--message:#2474d8}
        @media (prefers-color-scheme:dark){svg{--ground:#14171c;--box:#1e232b;--edge:#3a424e;--text:#e8ebf0;\
        --quiet:#96a0af;--failed:#ff9f5a;--audio:#3fd6a4;--control:#f2bd4b;--midi:#bb8cff;--message:#6cb0ff}}
        .ground{fill:var(--ground)}
        .graph{font-size:17px;font-weight:600;fill:var(--text)}
        .box{fill:var(--box);stroke:var(--edge);stroke-width:1.25}
        .failed{stroke:var(--failed);stroke-dasharray:5 4}
        .name{font-size:14px;font-weight:600;text-anchor:middle;fill:var(--text)}
        .type{font-size:11px;text-anchor:middle;fill:var(--quiet)}
        .symbol{font-size:10.5px;fill:var(--quiet)}
        .out{text-anchor:end}.mid{text-anchor:middle}
        .link{fill:none;stroke-width:2;stroke-linecap:round;stroke-opacity:.85}
        .link:hover{stroke-width:3.5;stroke-opacity:1}
        .port{stroke:var(--ground);stroke-width:1.5}
        .link.audio{stroke:var(--audio)}.link.control{stroke:var(--control);stroke-dasharray:2 5}
        .link.midi{stroke:var(--midi);stroke-dasharray:9 5}.link.message{stroke:var(--message);stroke-dasharray:1 5 7 5}
        .port.audio{fill:var(--audio)}.port.control{fill:var(--control)}
        .port.midi{fill:var(--midi)}.port.message{fill:var(--message)}
        .gain{font-size:11px;fill:var(--text);stroke:var(--ground);stroke-width:4;paint-order:stroke}
        .legend{font-size:12px;fill:var(--quiet)}
        """
    }
}

/// A coordinate with one decimal at most.
private func px(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : String(Double(tenths) / 10)
}

/// Text for XML; what XML does not allow at all is left out.
func xml(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default:
            let value = scalar.value
            if value == 9 || value == 10 || value == 13 {
                result += " "
            } else if value >= 32, !(0x7F...0x9F).contains(value), value != 0xFFFE, value != 0xFFFF {
                result.unicodeScalars.append(scalar)
            }
        }
    }
    return result
}
