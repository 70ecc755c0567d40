// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// Lays out and draws the screen of `voicegraph top`: what is wrong, the load, and a row for each node.
struct TopScreen {
    var theme: Theme
    var state: TopState
    var history: TopHistory

    func draw(_ keys: inout TopKeys, width: Int, height: Int) -> Canvas {
        var canvas = Canvas(width: width, height: height)
        guard width > 0, height > 0 else { return canvas }
        var rest = Area(x: 0, y: 0, width: width, height: height)
        if height >= 3 {
            var face = FaceState(graph: state.status.client, nodes: [])
            face.status = state.status
            Header(theme: theme).draw(&canvas, rest.takeTop(1), face, at: 0)
        }
        for (text, style) in problems(height: height) { line(&canvas, rest.takeTop(1).inset(1), text, style, theme) }
        if height >= 4 { load(&canvas, rest.takeTop(1).inset(1)) }
        if height >= 16 { _ = rest.takeTop(1) }
        let footer = height >= 6 ? rest.takeBottom(1).inset(1) : Area(x: 0, y: 0, width: 0, height: 0)
        table(&canvas, rest.inset(1), &keys)
        self.footer(&canvas, footer, keys)
        if keys.showsHelp {
            HelpPanel(theme: theme).draw(
                &canvas, Area(x: 0, y: 0, width: width, height: height), TopKeys.help)
        }
        return canvas
    }

    /// The worst first: no host, nodes that failed, what is to be known of the driver, the newest dropouts with what to do
    /// about the last one.
    private func problems(height: Int) -> [(String, Style)] {
        func marked(_ text: String) -> String { theme.words("▲", "!") + " " + printable(text) }
        var lines: [(String, Style)] = []
        if let lost = state.lost { lines.append((marked(lost), theme.error)) }
        lines += state.status.degraded.sorted { $0.key < $1.key }.map {
            (marked("\($0.key) failed: \($0.value)"), theme.error)
        }
        if !state.status.notice.isEmpty { lines.append((marked(state.status.notice), theme.warning)) }
        for (index, dropout) in state.dropouts.prefix(3).enumerated() {
            lines.append((marked(dropout.text), index == 0 ? theme.warning : theme.quiet))
            if index == 0, !dropout.advice.isEmpty { lines.append(("  " + printable(dropout.advice), theme.quiet)) }
        }
        return Array(lines.prefix(height >= 24 ? 6 : height >= 10 ? 3 : height >= 5 ? 1 : 0))
    }

    /// What the graph takes of a block, now and lately.
    private func load(_ canvas: inout Canvas, _ area: Area) {
        let status = state.status
        let isBad = status.load >= 0.9 || status.state == "lost" || status.state == "waiting"
        let style = isBad ? theme.error : status.load >= 0.7 || status.xruns > 0 ? theme.warning : theme.text
        let words = (TopTable.facts(status) + [clock(status.time)]).joined(separator: theme.words("  ·  ", "  |  "))
        line(&canvas, area, words, style, theme)
        var graph = area
        _ = graph.takeLeft(columns(words) + 3)
        if graph.width >= 8 { Sparkline(theme: theme, least: 0.01).draw(&canvas, graph, history.load) }
    }

    private func footer(_ canvas: inout Canvas, _ area: Area, _ keys: TopKeys) {
        let count = state.timings.count
        let shown = min(keys.page, count - keys.first)
        let place = shown < count ? "\(keys.first + 1)-\(keys.first + shown) of \(count)" : "\(count) nodes"
        let words = [
            "now, peak, of a block: the last second; others: since the start",
            "arrows scroll and sort, r turns, ? shows all keys, q quits", "? shows all keys, q quits", "q quits",
        ]
        let room = area.width - place.count - 2
        let said =
            words[1].count + words[0].count + 3 <= room
            ? [words[1] + theme.words("  ·  ", "  |  ") + words[0]] : words.dropFirst().filter { $0.count <= room }
        line(
            &canvas, Area(x: area.x, y: area.y, width: room, height: area.height), said.first ?? "", theme.quiet, theme)
        guard area.height > 0, room >= 0 else { return }
        canvas.put(glyphs(place), x: area.x + area.width - place.count, y: area.y, style: theme.text)
    }

    private func table(_ canvas: inout Canvas, _ area: Area, _ keys: inout TopKeys) {
        var rest = area
        guard rest.height > 0, rest.width > 0 else { return }
        let longest = min(max(8, state.timings.map { columns(printable($0.node)) }.max() ?? 0), max(8, area.width / 3))
        let least = area.width >= 60 ? 14 : area.width >= 36 ? 8 : 0
        var shown = TopColumn.allCases.filter { $0 != .node }
        for column in TopColumn.dispensable
        where column != keys.column && longest + shown.map(\.width).reduce(least, +) > area.width {
            shown.removeAll { $0 == column }
        }
        let numbers = shown.map(\.width).reduce(0, +)
        let name = max(0, min(longest, area.width - numbers))
        // Bars compare nodes with each other: of a block each takes next to nothing, as it should.
        let sum = state.timings.reduce(0) { $0 + $1.recent }
        let bar = area.width - name - numbers >= 80 && sum > 0 ? 26 : 0
        let graph = area.width - name - numbers - bar - 2
        titles(&canvas, rest.takeTop(1), shown, keys, name: name, bar: bar, graph: graph)

        var rows = TopTable.sorted(state.timings, by: keys.column)
        if keys.isReversed { rows.reverse() }
        keys.page = max(1, rest.height)
        keys.first = max(0, min(keys.first, rows.count - rest.height))
        for timing in rows.dropFirst(keys.first).prefix(rest.height) {
            let row = rest.takeTop(1)
            let share = state.period > 0 ? timing.recent / state.period : 0
            let isDegraded = state.status.degraded[timing.node] != nil
            line(
                &canvas, Area(x: row.x, y: row.y, width: name, height: 1), printable(timing.node),
                isDegraded ? theme.error : theme.text, theme)
            var end = row.x + name
            for column in shown {
                end += column.width
                let text = glyphs(column.text(timing, period: state.period))
                let style = column == .share ? theme.heat(share) : column == keys.column ? theme.text : theme.quiet
                canvas.put(text, x: end - text.count, y: row.y, style: style)
            }
            for x in 0..<max(0, Int((timing.recent / max(sum, 1e-12) * Double(bar - 2)).rounded())) {
                canvas.put(theme.sign("▪", "#"), x: end + 2 + x, y: row.y, style: theme.heat(share))
            }
            guard graph >= 6 else { continue }
            Sparkline(theme: theme, least: 0.0005).draw(
                &canvas, Area(x: end + bar + 2, y: row.y, width: graph, height: 1), history.nodes[timing.node] ?? [])
        }
    }

    /// The column that is sorted by is marked.
    private func titles(
        _ canvas: inout Canvas, _ area: Area, _ shown: [TopColumn], _ keys: TopKeys, name: Int, bar: Int, graph: Int
    ) {
        let falls = (keys.column == .node) == keys.isReversed
        let arrow = falls ? theme.words("▼", "v") : theme.words("▲", "^")
        func title(_ column: TopColumn, end: Int?) {
            let isChosen = column == keys.column
            let text = glyphs(isChosen ? (end == nil ? column.title + arrow : arrow + column.title) : column.title)
            canvas.put(
                text, x: end.map { $0 - text.count } ?? area.x, y: area.y, style: isChosen ? theme.accent : theme.quiet)
        }
        title(.node, end: nil)
        var end = area.x + name
        for column in shown {
            end += column.width
            title(column, end: end)
        }
        if bar > 0 { canvas.put(glyphs("of all nodes"), x: end + 2, y: area.y, style: theme.quiet) }
        guard graph >= 6 else { return }
        let words = ["the last \(Int(Double(graph) * TopView.interval)) s", "lately"].first { $0.count <= graph } ?? ""
        canvas.put(glyphs(words), x: area.x + area.width - words.count, y: area.y, style: theme.quiet)
    }
}
