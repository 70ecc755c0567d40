// SPDX-License-Identifier: Apache-2.0

/// Recorders to choose from, each with what it does.
struct RecorderPanel {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area, _ state: FaceState, chosen: Int, at time: Double) {
        let rows = state.parts.nodes(.records).enumerated().map { place, node in
            let recorder = state.recorders[node] ?? RecorderFace()
            return (
                "\(place < 9 ? String(place + 1) : " ")  \(printable(node))", recorder.text(at: time) ?? "begin",
                recorder.isOn ? theme.error : theme.quiet
            )
        }
        let name = rows.map { columns($0.0) }.max() ?? 0
        let title = "begin or complete which recording?"
        let wide = max(columns(title), name + 4 + (rows.map { columns($0.1) }.max() ?? 0)) + 6
        var frame = FramePanel(theme: theme).draw(&canvas, area, width: wide, height: rows.count + 3).inset(2)
        line(&canvas, frame.takeTop(1), title, theme.accent, theme)
        let first = max(0, min(chosen - frame.height / 2, rows.count - frame.height))
        for (place, row) in rows.enumerated().dropFirst(first).prefix(max(0, frame.height)) {
            var part = frame.takeTop(1)
            var style = theme.text
            if place == chosen { style.attributes |= Style.reversed }
            line(&canvas, part.takeLeft(name), row.0, style, theme)
            _ = part.takeLeft(2)
            line(&canvas, part, row.1, row.2, theme)
        }
    }
}
