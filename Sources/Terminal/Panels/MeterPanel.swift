// SPDX-License-Identifier: Apache-2.0

/// All meters, as tall and as fully labelled as there is room for.
struct MeterPanel {
    var theme: Theme

    /// Rows that the meters of a graph take.
    static func rows(_ state: FaceState, compact: Bool) -> Int {
        let nodes = state.nodes.filter { !$0.meters.isEmpty }
        let channels = nodes.reduce(0) { $0 + $1.meters.count }
        return compact ? channels : channels + 3 * nodes.count
    }

    private struct Plan {
        var thickness = 1
        var channelGap = 0
        var titles = false
        var scales = false
        var nodeGap = 0
        var labels = true

        func rows(_ nodes: [NodeFace]) -> Int {
            let channels = nodes.reduce(0) { $0 + $1.meters.count }
            let inner = channels * thickness + (channels - nodes.count) * channelGap
            let extra = (titles ? 1 : 0) + (scales ? 1 : 0)
            return inner + nodes.count * extra + (nodes.count - 1) * nodeGap
        }
    }

    func draw(_ canvas: inout Canvas, _ area: Area, _ state: FaceState, at time: Double) {
        let nodes = state.nodes.filter { !$0.meters.isEmpty }
        guard !area.isEmpty else { return }
        guard !nodes.isEmpty else {
            if state.nodes.isEmpty { return }
            let text = Area(x: area.x, y: area.y + area.height / 2, width: area.width, height: 1)
            return line(&canvas, text, theme.words("waiting for audio …", "waiting for audio ..."), theme.quiet, theme)
        }
        let plans = [
            Plan(thickness: 3, channelGap: 1, titles: true, scales: true, nodeGap: 2),
            Plan(thickness: 2, channelGap: 1, titles: true, scales: true, nodeGap: 2),
            Plan(thickness: 2, channelGap: 1, titles: true, scales: true, nodeGap: 1),
            Plan(thickness: 1, channelGap: 1, titles: true, scales: true, nodeGap: 1),
            Plan(titles: true, scales: true, nodeGap: 1), Plan(titles: true, scales: true),
            Plan(titles: true), Plan(),
        ]
        // Thick bars fill a screen only where there is plenty of it.
        let plan = plans.first { plan in
            plan.rows(nodes) <= area.height && (plan.thickness < 3 || plan.rows(nodes) <= area.height * 2 / 3)
        }
        if let plan {
            fill(&canvas, area, state, plan, at: time)
        } else {
            crowd(&canvas, area, nodes, at: time)
        }
    }

    private func fill(_ canvas: inout Canvas, _ area: Area, _ state: FaceState, _ plan: Plan, at time: Double) {
        let nodes = state.nodes.filter { !$0.meters.isEmpty }
        var y = area.y + max(0, (area.height - plan.rows(nodes)) / 2)
        let labels = plan.titles ? (nodes.contains { $0.meters.count > 1 } ? 2 : 0) : labelWidth(nodes, area.width)
        for node in nodes {
            if plan.titles {
                let title = Area(x: area.x, y: y, width: area.width, height: 1)
                let listed = state.graphNodes.first { $0.name == node.name }
                let done = listed.map { state.standing(of: $0, at: time) } ?? ""
                let name = [node.name, done].filter { !$0.isEmpty }.joined(separator: ", ")
                line(&canvas, title, name, Style(attributes: Style.bold), theme)
                y += 1
            }
            for channel in node.meters.indices {
                let row = Area(x: area.x, y: y, width: area.width, height: plan.thickness)
                self.channel(&canvas, row, node, channel, label: labels, named: !plan.titles, at: time)
                y += plan.thickness + (channel < node.meters.count - 1 ? plan.channelGap : 0)
            }
            if plan.scales {
                let bar = barArea(Area(x: area.x, y: y, width: area.width, height: 1), label: labels)
                drawMeterScale(&canvas, bar, theme)
                y += 1
            }
            y += plan.nodeGap
        }
    }

    /// More channels than rows: as many as there are rows, and how many are missing.
    private func crowd(_ canvas: inout Canvas, _ area: Area, _ nodes: [NodeFace], at time: Double) {
        let all = nodes.flatMap { node in node.meters.indices.map { (node, $0) } }
        let labels = labelWidth(nodes, area.width)
        let shown = area.height >= 3 ? area.height - 1 : area.height
        for (row, entry) in all.prefix(shown).enumerated() {
            let place = Area(x: area.x, y: area.y + row, width: area.width, height: 1)
            channel(&canvas, place, entry.0, entry.1, label: labels, named: true, at: time)
        }
        guard shown < area.height, all.count > shown else { return }
        let last = Area(x: area.x, y: area.y + shown, width: area.width, height: 1)
        line(&canvas, last, "+\(all.count - shown) more channels", theme.quiet, theme)
    }

    private func labelWidth(_ nodes: [NodeFace], _ width: Int) -> Int {
        guard width >= 20 else { return 0 }
        let longest =
            nodes.map { columns($0.name) + ($0.meters.count > 1 ? 1 + $0.channelLabel($0.meters.count - 1).count : 0) }
            .max() ?? 0
        return min(longest + 1, width / 4)
    }

    private var numberWidth: Int { 7 }

    private func barArea(_ area: Area, label: Int) -> Area {
        let numbers = area.width >= 16 ? numberWidth : 0
        // The numbers' column has room for the clip sign.
        return Area(x: area.x + label, y: area.y, width: area.width - label - numbers, height: area.height)
    }

    private func channel(
        _ canvas: inout Canvas, _ area: Area, _ node: NodeFace, _ index: Int, label: Int, named: Bool, at time: Double
    ) {
        let reading = node.meters[index].reading(at: time)
        let bar = barArea(area, label: label)
        let middle = area.y + (area.height - 1) / 2
        if label > 0 {
            let short = node.meters.count > 1 ? node.channelLabel(index) : ""
            let text = named ? (short.isEmpty ? node.name : "\(node.name) \(short)") : short
            line(&canvas, Area(x: area.x, y: middle, width: label - 1, height: 1), text, theme.quiet, theme)
        }
        MeterBar(theme: theme, reading: reading).draw(&canvas, bar)
        let numbers = area.x + area.width - bar.x - bar.width
        guard numbers >= numberWidth else { return }
        if reading.clipped {
            let text = "CLIP"
            canvas.put(glyphs(" \(text) "), x: bar.x + bar.width + 1, y: middle, style: theme.clip)
        } else {
            let text = decibelText(reading.held, unicode: theme.capabilities.unicode)
            let style = reading.held > -.infinity ? theme.text : theme.quiet
            canvas.put(glyphs(text), x: area.x + area.width - columns(text), y: middle, style: style)
        }
    }
}

extension NodeFace {
    /// "L" and "R" for two channels, else the number from 1.
    fileprivate func channelLabel(_ index: Int) -> String {
        meters.count == 2 ? (index == 0 ? "L" : "R") : String(index + 1)
    }
}
