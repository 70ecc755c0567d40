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
        var out = SVG(width: width, height: height)
        out.text(name, .text, GraphLayout.Measure.margin, 34, size: 17, isBold: true)
        out.add("<g transform=\"translate(\(px((width - layout.width) / 2)) \(px(head)))\">")
        for (index, link) in layout.links.enumerated() { out.add(wire(link, layout.routes[index])) }
        for (index, node) in nodes.enumerated() { out.add(box(node, layout.boxes[index])) }
        out.add(gains(layout) + "</g>")
        var x = GraphLayout.Measure.margin
        for kind in kinds {
            let y = height - 24
            out.add("<path class=\"link \(kind)\"\(stroke(kind)) d=\"M\(px(x)) \(px(y))h24\"/>")
            out.text(kind.rawValue, .quiet, x + 32, y + 4, size: 12)
            x += textWidth(kind.rawValue, 12) + 52
        }
        return (out.file(title: name), SIMD2(width, height))
    }

    private func wire(_ link: Link, _ route: GraphLayout.Route) -> String {
        let from = "\(nodes[link.from].name).\(nodes[link.from].outputs[link.output].name)"
        let to = "\(nodes[link.to].name).\(nodes[link.to].inputs[link.input].name)"
        let label = gainLabel(link.gain).map { ", \($0)" } ?? ""
        // What is cut off is drawn, but does not stand out.
        let opacity = nodes[link.from].isMuted ? 0.3 : 0.85
        return "<path class=\"link \(link.kind)\"\(stroke(link.kind, opacity)) d=\"\(path(route))\"><title>"
            + xml("\(from) → \(to): \(link.kind)\(label)") + "</title></path>\n"
    }

    /// What an SVG path has as its `d`.
    func path(_ route: GraphLayout.Route) -> String {
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
            + "\(SVG.fill(.text)) stroke=\"\(Palette.light(.ground))\" stroke-width=\"4\" paint-order=\"stroke\">"
            + xml(label) + "</text>\n"
    }

    private func box(_ node: Node, _ box: GraphLayout.Box) -> String {
        let middle = box.x + box.width / 2
        let isFailed = node.failure != nil
        var out = "<g><title>\(xml(node.sentence))</title>\n"
        out += "<rect class=\"\(isFailed ? "box failed" : "box")\"\(SVG.fill(.box)) "
        out += "stroke=\"\(Palette.light(isFailed ? .failed : .edge))\" stroke-width=\"1.25\""
        out += isFailed ? " stroke-dasharray=\"5 4\"" : ""
        out +=
            " x=\"\(px(box.x))\" y=\"\(px(box.y))\" width=\"\(px(box.width))\" height=\"\(px(box.height))\" rx=\"10\"/>\n"
        out += SVG.text(node.name, .text, middle, box.y + 20, size: 14, isBold: true, anchor: .middle) + "\n"
        out += SVG.text(node.kindText, .quiet, middle, box.y + 36, size: 11, anchor: .middle) + "\n"
        for (ports, isOutput) in [(node.inputs, false), (node.outputs, true)] {
            for (index, port) in ports.enumerated() {
                let place = box.port(index, output: isOutput)
                out += "<circle class=\"port \(port.kind)\"\(SVG.fill(port.kind.role)) "
                out += "stroke=\"\(Palette.light(.ground))\" stroke-width=\"1.5\" "
                out += "cx=\"\(px(place.x))\" cy=\"\(px(place.y))\" r=\"4.5\"/>"
                out += SVG.text(
                    port.name, .quiet, place.x + (isOutput ? -10 : 10), place.y + 3.5, size: 10.5,
                    anchor: isOutput ? .end : .start)
                out += "\n"
            }
        }
        if let live = node.live { out += activity(live, isMuted: node.isMuted, box) }
        return out + badges(node, box) + "</g>\n"
    }

    /// What is done to a node, on the upper edge of its box.
    private func badges(_ node: Node, _ box: GraphLayout.Box) -> String {
        let words = node.done.map { $0.uppercased() }
        let widths = words.map { textWidth($0, 9.5) + 14 }
        var x = box.x + (box.width - widths.reduce(0, +) - 6 * Double(max(0, words.count - 1))) / 2
        var out = ""
        for (word, width) in zip(words, widths) {
            let role: Palette.Role = word == "MUTED" ? .failed : .control
            out += "<rect class=\"level \(role)\"\(SVG.fill(role)) x=\"\(px(x))\" y=\"\(px(box.y - 10))\" "
            out += "width=\"\(px(width))\" height=\"16\" rx=\"8\"/>"
            out += SVG.text(word, .ground, x + width / 2, box.y + 1.5, size: 9.5, isBold: true, anchor: .middle) + "\n"
            x += width + 6
        }
        return out
    }

    /// Level from -60 to 0 dBFS as a bar, with its number, and the share of a block.
    private func activity(_ live: Live, isMuted: Bool, _ box: GraphLayout.Box) -> String {
        let (left, right) = (box.x + 12, box.x + box.width - 12)
        let y = box.y + box.height - 14
        let load = live.load.map { tenths($0 * 100) + " %" } ?? ""
        var out = ""
        if let level = live.level {
            let end = right - 92
            // What a muted node would play is not heard.
            let share = isMuted ? 0 : min(max((level + 60) / 60, 0), 1)
            let role: Palette.Role = level >= -1 ? .failed : level >= -9 ? .control : .audio
            out += "<rect class=\"track\"\(SVG.fill(.edge)) x=\"\(px(left))\" y=\"\(px(y - 3))\" "
            out += "width=\"\(px(end - left))\" height=\"6\" rx=\"3\"/>"
            out += "<rect class=\"level \(role)\"\(SVG.fill(role)) x=\"\(px(left))\" y=\"\(px(y - 3))\" "
            out += "width=\"\(px((end - left) * share))\" height=\"6\" rx=\"3\"/>"
            let number = isMuted ? "muted" : level <= -120 ? "silent" : "\(Int(level.rounded())) dB"
            out += SVG.text(number, .quiet, end + 46, y + 3.5, size: 10.5, anchor: .end)
        }
        return out + SVG.text(load, .quiet, right, y + 3.5, size: 10.5, anchor: .end) + "\n"
    }

    private func stroke(_ kind: Kind, _ opacity: Double = 0.85) -> String {
        let dashes =
            switch kind {
            case .audio: ""
            case .control: " stroke-dasharray=\"2 5\""
            case .midi: " stroke-dasharray=\"9 5\""
            case .message: " stroke-dasharray=\"1 5 7 5\""
            }
        return " fill=\"none\" stroke=\"\(Palette.light(kind.role))\" stroke-width=\"2\" stroke-linecap=\"round\""
            + " stroke-opacity=\"\(opacity)\"\(dashes)"
    }
}

extension GraphSketch.Node {
    /// What a reader is told who points at it.
    fileprivate var sentence: String {
        var facts = ["\(name): \(kindText)"] + done
        if let failure { facts.append(failure) }
        if !isMuted, let level = live?.level { facts.append("peak \(tenths(level)) dBFS") }
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
