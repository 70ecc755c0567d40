// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import System

/// The screen of `voicegraph top`. All calls may come from any thread.
public final class TopView: DeviceView {
    private struct Inner: Sendable {
        var state = TopState()
        var painter = Painter()
        var width: Int
        var height: Int
        var isStale = true
    }

    private let inner: Lock<Inner>
    private let theme: Theme

    /// An empty screen.
    public init(capabilities: TerminalCapabilities, width: Int, height: Int) {
        theme = Theme(capabilities)
        inner = Lock(Inner(width: width, height: height))
    }

    /// Takes what there is to show. [any]
    public func update(_ state: TopState) {
        inner.withLock { inner in
            guard state != inner.state else { return }
            inner.state = state
            inner.isStale = true
        }
    }

    /// Takes the terminal's size. [any]
    public func resize(width: Int, height: Int) {
        inner.withLock { inner in
            guard width != inner.width || height != inner.height else { return }
            inner.width = width
            inner.height = height
            inner.isStale = true
        }
    }

    /// The terminal was used by others: the next frame paints everything. [any]
    public func repaint() {
        inner.withLock { inner in
            inner.painter.forget()
            inner.isStale = true
        }
    }

    /// The bytes that bring the terminal up to date. [any]
    public func frame(at time: Double) -> [UInt8] {
        inner.withLock { inner in
            guard inner.isStale else { return [] }
            inner.isStale = false
            return inner.painter.frame(draw(inner.state, width: inner.width, height: inner.height))
        }
    }

    private func draw(_ state: TopState, width: Int, height: Int) -> Canvas {
        var canvas = Canvas(width: width, height: height)
        guard width > 0, height > 0 else { return canvas }
        var rest = Area(x: 0, y: 0, width: width, height: height)
        if height >= 3 {
            var face = FaceState(graph: state.status.client, nodes: [])
            face.status = state.status
            Header(theme: theme).draw(&canvas, rest.takeTop(1), face)
        }
        if height >= 4 { facts(&canvas, rest.takeTop(1).inset(1), state) }
        if height >= 12 { rest.y += 1; rest.height -= 1 }
        if height >= 6 {
            let keys =
                state.lost
                ?? (width >= 90
                    ? "now, peak, of a block: in the last second; mean, 99 %, longest: since the start; q quits"
                    : width >= 60 ? "first three: the last second; others: since the start; q quits" : "q quits")
            line(&canvas, rest.takeBottom(1).inset(1), keys, state.lost == nil ? theme.quiet : theme.error, theme)
        }
        notes(&canvas, &rest, state, height: height)
        table(&canvas, rest.inset(1), state)
        return canvas
    }

    private func facts(_ canvas: inout Canvas, _ area: Area, _ state: TopState) {
        let status = state.status
        let style: Style =
            status.load >= 0.9 || status.state == "lost" || status.state == "waiting"
            ? theme.error : status.load >= 0.7 || status.xruns > 0 ? theme.warning : theme.text
        let facts = TopTable.facts(status) + [clock(status.time)]
        line(&canvas, area, facts.joined(separator: theme.words("  ·  ", "  |  ")), style, theme)
    }

    /// Failed nodes, then the newest dropouts with what to do about the last one.
    private func notes(_ canvas: inout Canvas, _ rest: inout Area, _ state: TopState, height: Int) {
        guard height >= 10 else { return }
        var lines: [(String, Style)] = []
        lines += state.status.degraded.sorted { $0.key < $1.key }.prefix(3).map {
            ("\(theme.words("▲", "!")) \($0.key) failed: \($0.value)", theme.warning)
        }
        for (index, dropout) in state.dropouts.prefix(height >= 20 ? 3 : 1).enumerated() {
            lines.append((dropout.text, index == 0 ? theme.warning : theme.quiet))
            if index == 0, !dropout.advice.isEmpty { lines.append(("  " + dropout.advice, theme.quiet)) }
        }
        for (text, style) in lines.reversed() { line(&canvas, rest.takeBottom(1).inset(1), text, style, theme) }
    }

    private func table(_ canvas: inout Canvas, _ area: Area, _ state: TopState) {
        var rest = area
        let rows = TopTable.rows(state)
        // Columns from the right go first when there is no room.
        let column = area.width >= 100 ? TopTable.width : TopTable.width - 1
        let longest = max(8, rows.map { columns($0.node) }.max() ?? 0)
        let count = max(1, min(TopTable.titles.count, (area.width - min(longest, 16)) / column))
        let tableWidth = count * column
        let bar = area.width - tableWidth - longest - 2
        let name = min(longest, area.width - tableWidth)
        func cells(_ texts: [String], _ at: Area, _ style: Style) {
            for (place, text) in shown(texts, count).enumerated() {
                let glyphs = glyphs(text)
                let x = at.x + name + (place + 1) * column - glyphs.count
                canvas.put(glyphs, x: x, y: at.y, style: style)
            }
        }
        guard rest.height > 0 else { return }
        let title = rest.takeTop(1)
        line(&canvas, Area(x: title.x, y: title.y, width: name, height: 1), "node", theme.quiet, theme)
        cells(TopTable.titles, title, theme.quiet)
        // Bars compare nodes with each other: of a block each takes next to nothing, as it should.
        let sum = rows.reduce(0) { $0 + $1.share }
        if bar >= 12 {
            let place = Area(x: title.x + name + tableWidth + 2, y: title.y, width: bar, height: 1)
            line(&canvas, place, "of all nodes", theme.quiet, theme)
        }
        let shownRows = rows.count > rest.height ? max(0, rest.height - 1) : rows.count
        for row in rows.prefix(shownRows) {
            let place = rest.takeTop(1)
            line(&canvas, Area(x: place.x, y: place.y, width: name, height: 1), row.node, theme.text, theme)
            cells(row.cells, place, row.share >= 0.5 ? theme.warning : theme.text)
            if bar >= 8, sum > 0 {
                let filled = min(bar, Int((row.share / sum * Double(bar)).rounded()))
                for x in 0..<filled {
                    let at = place.x + name + tableWidth + 2 + x
                    canvas.put(
                        theme.sign("▪", "#"), x: at, y: place.y,
                        style: row.share >= 0.5 ? theme.warning : theme.accent)
                }
            }
        }
        if shownRows < rows.count { line(&canvas, rest, "and \(rows.count - shownRows) more", theme.quiet, theme) }
    }

    /// What a node takes now matters most, then the worst.
    private func shown(_ cells: [String], _ count: Int) -> [String] {
        let places = [[2], [0, 2], [0, 2, 5], [0, 1, 2, 5], [0, 1, 2, 4, 5]]
        return count > places.count ? cells : places[max(1, count) - 1].map { cells[$0] }
    }
}
