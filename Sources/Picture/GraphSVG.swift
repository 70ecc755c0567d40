// SPDX-License-Identifier: Apache-2.0

extension GraphSketch {
    /// The drawing as an SVG file of its own, in plain attributes that every renderer knows; browsers follow the reader's
    /// light or dark preference. It loads nothing.
    public func svg() -> String { drawing().svg }

    /// The same, with its width and height.
    func drawing() -> (svg: String, size: SIMD2<Double>) {
        let layout = GraphLayout(self)
        let kinds = kinds
        let legend = kinds.isEmpty ? 0.0 : 34.0
        let head = 40.0
        let legendWidth = kinds.reduce(GraphLayout.Measure.margin * 2) { $0 + textWidth($1.rawValue, 12) + 52 }
        let width = max(layout.width, legendWidth, textWidth(name, 17) + 56)
        let height = layout.height + head + legend
        var out = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(px(width)) \(px(height))" width="\(px(width))" \
            height="\(px(height))" role="img" font-family="Inter, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">
            <title>\(xml(name))</title>
            <style>
            \(GraphColors.style)
            </style>
            <rect class="ground"\(fill(.ground)) width="100%" height="100%"/>
            \(text(name, "text", .text, GraphLayout.Measure.margin, 34, size: 17, isBold: true))
            <g transform="translate(\(px((width - layout.width) / 2)) \(px(head)))">

            """
        for (index, link) in layout.links.enumerated() { out += wire(link, layout.routes[index]) }
        for (index, node) in nodes.enumerated() { out += box(node, layout.boxes[index]) }
        out += gains(layout)
        out += "</g>\n"
        var x = GraphLayout.Measure.margin
        for kind in kinds {
            let y = height - 24
            out += "<path class=\"link \(kind)\"\(stroke(kind)) d=\"M\(px(x)) \(px(y))h24\"/>"
            out += text(kind.rawValue, "quiet", .quiet, x + 32, y + 4, size: 12) + "\n"
            x += textWidth(kind.rawValue, 12) + 52
        }
        return (out + "</svg>\n", SIMD2(width, height))
    }

    private func wire(_ link: Link, _ route: GraphLayout.Route) -> String {
        let from = "\(nodes[link.from].name).\(nodes[link.from].outputs[link.output].name)"
        let to = "\(nodes[link.to].name).\(nodes[link.to].inputs[link.input].name)"
        let label = gainLabel(link.gain).map { ", \($0)" } ?? ""
        return "<path class=\"link \(link.kind)\"\(stroke(link.kind)) d=\"\(path(route))\"><title>"
            + xml("\(from) → \(to): \(link.kind)\(label)") + "</title></path>\n"
    }

    private func path(_ route: GraphLayout.Route) -> String {
        switch route {
        case .forward(let pieces):
            var path = ""
            for (index, piece) in pieces.enumerated() {
                if index == 0 {
                    path = "M\(px(piece.left)) \(px(piece.y))"
                } else {
                    let last = pieces[index - 1]
                    let reach = (piece.left - last.right) / 2
                    path += "C\(px(last.right + reach)) \(px(last.y)) \(px(piece.left - reach)) \(px(piece.y)) "
                    path += "\(px(piece.left)) \(px(piece.y))"
                }
                if piece.right > piece.left { path += "H\(px(piece.right))" }
            }
            return path
        case .back(let corners):
            guard let first = corners.first, let last = corners.last else { return "" }
            var path = "M\(px(first.x)) \(px(first.y))"
            for (index, corner) in corners.enumerated().dropFirst().dropLast() {
                // Round, as far as the ways to and from the corner allow.
                let (before, after) = (corners[index - 1] - corner, corners[index + 1] - corner)
                let radius = min(10, length(before) / 2, length(after) / 2)
                let (start, end) = (corner + unit(before) * radius, corner + unit(after) * radius)
                path += "L\(px(start.x)) \(px(start.y))Q\(px(corner.x)) \(px(corner.y)) \(px(end.x)) \(px(end.y))"
            }
            return path + "L\(px(last.x)) \(px(last.y))"
        }
    }

    /// The gains that change something: where the wires begin, or on their way if one output has several gains.
    private func gains(_ layout: GraphLayout) -> String {
        struct Output: Hashable { var node, port: Int }
        var labels: [Output: Set<String>] = [:]
        for link in layout.links {
            labels[Output(node: link.from, port: link.output), default: []].insert(gainLabel(link.gain) ?? "")
        }
        var out = ""
        var written: Set<Output> = []
        for (index, link) in layout.links.enumerated() {
            guard let label = gainLabel(link.gain) else { continue }
            let output = Output(node: link.from, port: link.output)
            if labels[output]?.count == 1 {
                guard written.insert(output).inserted else { continue }
                let start = layout.boxes[link.from].port(link.output, output: true)
                out += gain(label, start.x + 9, start.y - 7, anchor: "start")
            } else {
                let place = layout.routes[index].middle
                out += gain(label, place.x, place.y - 6, anchor: "middle")
            }
        }
        return out
    }

    private func gain(_ label: String, _ x: Double, _ y: Double, anchor: String) -> String {
        "<text class=\"text halo\" x=\"\(px(x))\" y=\"\(px(y))\" font-size=\"11\" text-anchor=\"\(anchor)\""
            + "\(fill(.text)) stroke=\"\(GraphColors.light(.ground))\" stroke-width=\"4\" paint-order=\"stroke\">"
            + xml(label) + "</text>\n"
    }

    private func box(_ node: Node, _ box: GraphLayout.Box) -> String {
        let middle = box.x + box.width / 2
        let isFailed = node.failure != nil
        var out = "<g><title>\(xml(node.sentence))</title>\n"
        out += "<rect class=\"\(isFailed ? "box failed" : "box")\"\(fill(.box)) "
        out += "stroke=\"\(GraphColors.light(isFailed ? .failed : .edge))\" stroke-width=\"1.25\""
        out += isFailed ? " stroke-dasharray=\"5 4\"" : ""
        out +=
            " x=\"\(px(box.x))\" y=\"\(px(box.y))\" width=\"\(px(box.width))\" height=\"\(px(box.height))\" rx=\"10\"/>\n"
        out += text(node.name, "text", .text, middle, box.y + 20, size: 14, isBold: true, anchor: "middle") + "\n"
        out += text(node.kindText, "quiet", .quiet, middle, box.y + 36, size: 11, anchor: "middle") + "\n"
        for (ports, isOutput) in [(node.inputs, false), (node.outputs, true)] {
            for (index, port) in ports.enumerated() {
                let place = box.port(index, output: isOutput)
                out += "<circle class=\"port \(port.kind)\"\(fill(port.kind.role)) "
                out += "stroke=\"\(GraphColors.light(.ground))\" stroke-width=\"1.5\" "
                out += "cx=\"\(px(place.x))\" cy=\"\(px(place.y))\" r=\"4.5\"/>"
                out += text(
                    port.name, "quiet", .quiet, place.x + (isOutput ? -10 : 10), place.y + 3.5, size: 10.5,
                    anchor: isOutput ? "end" : "start")
                out += "\n"
            }
        }
        if let live = node.live { out += activity(live, box) }
        return out + "</g>\n"
    }

    /// Level from -60 to 0 dBFS as a bar, with its number, and the share of a block.
    private func activity(_ live: Live, _ box: GraphLayout.Box) -> String {
        let (left, right) = (box.x + 12, box.x + box.width - 12)
        let y = box.y + box.height - 14
        let load = live.load.map { tenths($0 * 100) + " %" } ?? ""
        var out = ""
        if let level = live.level {
            let end = right - 92
            let share = min(max((level + 60) / 60, 0), 1)
            let role: GraphColors.Role = level >= -1 ? .failed : level >= -9 ? .control : .audio
            out += "<rect class=\"track\"\(fill(.edge)) x=\"\(px(left))\" y=\"\(px(y - 3))\" "
            out += "width=\"\(px(end - left))\" height=\"6\" rx=\"3\"/>"
            out += "<rect class=\"level \(role)\"\(fill(role)) x=\"\(px(left))\" y=\"\(px(y - 3))\" "
            out += "width=\"\(px((end - left) * share))\" height=\"6\" rx=\"3\"/>"
            let number = level <= -120 ? "silent" : "\(Int(level.rounded())) dB"
            out += text(number, "quiet", .quiet, end + 46, y + 3.5, size: 10.5, anchor: "end")
        }
        return out + text(load, "quiet", .quiet, right, y + 3.5, size: 10.5, anchor: "end") + "\n"
    }

    private func text(
        _ words: String, _ style: String, _ role: GraphColors.Role, _ x: Double, _ y: Double, size: Double,
        isBold: Bool = false, anchor: String = "start"
    ) -> String {
        guard !words.isEmpty else { return "" }
        return "<text class=\"\(style)\"\(fill(role)) x=\"\(px(x))\" y=\"\(px(y))\" font-size=\"\(px(size))\""
            + (isBold ? " font-weight=\"600\"" : "") + (anchor == "start" ? "" : " text-anchor=\"\(anchor)\"")
            + ">\(xml(words))</text>"
    }

    private func fill(_ role: GraphColors.Role) -> String { " fill=\"\(GraphColors.light(role))\"" }

    private func stroke(_ kind: Kind) -> String {
        let dashes =
            switch kind {
            case .audio: ""
            case .control: " stroke-dasharray=\"2 5\""
            case .midi: " stroke-dasharray=\"9 5\""
            case .message: " stroke-dasharray=\"1 5 7 5\""
            }
        return " fill=\"none\" stroke=\"\(GraphColors.light(kind.role))\" stroke-width=\"2\" stroke-linecap=\"round\""
            + " stroke-opacity=\"0.85\"\(dashes)"
    }
}

extension GraphSketch.Node {
    /// What a reader is told who points at it.
    fileprivate var sentence: String {
        var facts = ["\(name): \(kindText)"]
        if let failure { facts.append(failure) }
        if let level = live?.level { facts.append("peak \(tenths(level)) dBFS") }
        if let load = live?.load { facts.append("\(tenths(load * 100)) % of a block") }
        return facts.joined(separator: ", ")
    }
}

extension GraphLayout.Route {
    /// Where a label may stand.
    fileprivate var middle: SIMD2<Double> {
        switch self {
        case .forward(let pieces):
            if pieces.count > 2 { return SIMD2((pieces[1].left + pieces[1].right) / 2, pieces[1].y) }
            guard let first = pieces.first, let last = pieces.last else { return .zero }
            return SIMD2((first.right + last.left) / 2, (first.y + last.y) / 2)
        case .back(let corners):
            return corners.count > 3 ? (corners[2] + corners[3]) / 2 : .zero
        }
    }
}

private func length(_ way: SIMD2<Double>) -> Double { (way * way).sum().squareRoot() }

private func unit(_ way: SIMD2<Double>) -> SIMD2<Double> {
    let length = length(way)
    return length > 0 ? way / length : .zero
}

/// A number with one decimal.
private func tenths(_ value: Double) -> String {
    let whole = Int((value * 10).rounded())
    return "\(whole < 0 ? "-" : "")\(abs(whole) / 10).\(abs(whole) % 10)"
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
