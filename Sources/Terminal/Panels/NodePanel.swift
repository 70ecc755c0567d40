// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit
import Picture

/// A node of the graph, whether it has a picture or not.
struct GraphNode: Sendable {
    var name: String
    var type: String
    var isMuted: Bool
    var isBypassed: Bool
    /// Whether it has a gain to turn.
    var hasGain: Bool
    /// Whether what it hears is kept without being asked for.
    var keeps: Bool
    /// How loud it is; nil: nobody can listen to it, or nothing came yet.
    var level: Ballistics?
    /// Its share of a block, 0...1; nil: not known yet.
    var load: Double?

    init(_ node: NodeDescription, in graph: GraphDescription, _ parts: FaceModel) {
        (name, type, isMuted, isBypassed) = (node.name, node.type, node.mute, node.bypass)
        hasGain = parts[node.name]?.hasGain == true
        keeps = node.keep && graph.archive
    }

    /// What is done to it.
    var state: String {
        [isMuted ? "muted" : nil, isBypassed ? "bypassed" : nil].compactMap { $0 }.joined(separator: ", ")
    }
}

/// All nodes of a graph, a row each: its name, its type and what is done to it, how loud it is, and its share of a block.
struct NodePanel: Sendable {
    var theme: Theme

    /// Rows that all nodes take.
    static func rows(_ state: FaceState) -> Int { state.graphNodes.isEmpty ? 0 : state.listed.count + 1 }

    /// Columns below which there is no room for bars.
    static let comfortable = 56

    func draw(_ canvas: inout Canvas, _ area: Area, _ state: FaceState, at time: Double) {
        let nodes = state.listed
        let isFiltered = nodes.count < state.graphNodes.count
        guard area.height >= 1, area.width >= 8, !nodes.isEmpty || isFiltered else { return }
        var rest = area
        func kind(_ node: GraphNode) -> String {
            [printable(node.type), state.standing(of: node, at: time)].filter { !$0.isEmpty }.joined(separator: ", ")
        }
        let longest = nodes.map { columns(printable($0.name)) }.max() ?? 0
        let name = min(longest, max(8, area.width / 3))
        let kinds = nodes.map { columns(kind($0)) }.max() ?? 0
        let room = area.width - name - 2
        // From the right: load, level, bar; what is left is for the type.
        let load = room >= 9 ? 9 : 0
        let level = room >= 18 ? 8 : 0
        let type =
            room >= 40 ? min(kinds, room - load - level - 14) : room >= 30 ? min(kinds, room - load - level - 2) : 0
        let bar = room - load - level - type - 4
        if rest.height > nodes.count || isFiltered {
            let title = rest.takeTop(1)
            let words =
                isFiltered ? "\(nodes.count) of \(state.graphNodes.count) nodes with \"\(state.keys.filter)\"" : "node"
            let wide = isFiltered ? area.width - load - 3 : name
            line(
                &canvas, Area(x: title.x, y: title.y, width: wide, height: 1), words,
                isFiltered ? theme.accent : theme.quiet, theme)
            if load > 0 { right(&canvas, "of a block", title.x + title.width, title.y, theme.quiet, limit: load + 2) }
        }
        guard !nodes.isEmpty else { return }
        let shown = rest.height < nodes.count ? max(0, rest.height - 1) : nodes.count
        // The one that is chosen stays in sight.
        let chosen = nodes.firstIndex { $0.name == state.keys.selected }
        let first = chosen.map { max(0, min($0 - shown / 2, nodes.count - shown)) } ?? 0
        for node in nodes[first...].prefix(shown) {
            let row = rest.takeTop(1)
            canvas.mark(row, .node(node.name))
            let failure = state.status.degraded[node.name]
            var style = failure == nil ? theme.text : theme.warning
            if node.name == state.keys.selected {
                style.attributes |= Style.reversed
                for x in 0..<name { canvas.put(" ", x: row.x + x, y: row.y, style: style) }
            }
            line(&canvas, Area(x: row.x, y: row.y, width: name, height: 1), printable(node.name), style, theme)
            var x = row.x + name + 2
            if type > 0 {
                let style = self.style(of: node, state, at: time)
                // What it does now matters more than its type, where there is no room for both.
                let standing = state.standing(of: node, at: time)
                let words = standing.isEmpty || columns(kind(node)) <= type ? kind(node) : standing
                line(&canvas, Area(x: x, y: row.y, width: type, height: 1), words, style, theme)
                x += type + 2
            } else if bar < 8 {
                line(
                    &canvas, Area(x: x, y: row.y, width: bar, height: 1), state.standing(of: node, at: time),
                    self.style(of: node, state, at: time), theme)
            }
            if let reading = node.level?.reading(at: time) {
                if bar >= 8 {
                    MeterBar(theme: theme, reading: reading, isSlim: true).draw(
                        &canvas, Area(x: x, y: row.y, width: bar, height: 1))
                }
                if level > 0 {
                    let text = decibelText(reading.held, unicode: theme.capabilities.unicode)
                    let style = reading.held > -.infinity ? theme.text : theme.quiet
                    right(&canvas, text, row.x + row.width - load - 1, row.y, style, limit: level)
                }
            }
            if load > 0, let share = node.load {
                let style = share >= 0.5 ? theme.warning : theme.quiet
                right(&canvas, fixed(share * 100, 2) + " %", row.x + row.width, row.y, style, limit: load)
            }
        }
        if shown < nodes.count { line(&canvas, rest, "and \(nodes.count - shown) more nodes", theme.quiet, theme) }
    }

    private func style(of node: GraphNode, _ state: FaceState, at time: Double) -> Style {
        if state.recorders[node.name]?.state == "recording" || state.agents[node.name]?.hasFailed == true {
            return theme.error
        }
        return state.standing(of: node, at: time).isEmpty ? theme.quiet : theme.accent
    }

    private func right(
        _ canvas: inout Canvas, _ text: String, _ end: Int, _ y: Int, _ style: Style, limit: Int
    ) {
        let all = glyphs(text)
        guard all.count <= limit else { return }
        canvas.put(all, x: end - all.count, y: y, style: style)
    }
}
