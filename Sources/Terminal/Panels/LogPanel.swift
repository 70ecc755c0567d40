// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What has happened: its last lines, or all of it to be read.
struct LogPanel {
    var theme: Theme

    /// Draws the newest entries at the bottom of an area, each in as many lines as it needs, or as are left of `lines`;
    /// returns how many it took.
    func draw(_ canvas: inout Canvas, _ area: Area, _ entries: [FaceLog.Entry], lines: Int) -> Int {
        let count = draw(&canvas, area, entries[...], lines: min(lines, area.height), times: 0).lines
        canvas.mark(Area(x: area.x, y: area.y + area.height - count, width: area.width, height: count), .log)
        return count
    }

    /// Draws as much as there is room for, with the times, as far back as it is read.
    func draw(_ canvas: inout Canvas, _ area: Area, _ state: inout FaceState) {
        var rest = area
        let newer = state.log.newer
        if newer > 0, rest.height >= 2 {
            let words = "\(newer) newer \(newer == 1 ? "line" : "lines") below"
            line(&canvas, rest.takeBottom(1).inset(1), words, theme.accent, theme)
        }
        canvas.mark(area, .log)
        guard !state.log.entries.isEmpty else {
            return line(&canvas, rest.inset(1), "nothing has happened yet", theme.quiet, theme)
        }
        let widest = state.log.read.reduce(0) { max($0, clock($1.time).count) }
        let shown = draw(
            &canvas, rest, state.log.read, lines: rest.height, times: area.width >= 30 ? widest + 2 : 0)
        state.keys.page = max(1, shown.entries)
    }

    private func draw(
        _ canvas: inout Canvas, _ area: Area, _ entries: ArraySlice<FaceLog.Entry>, lines: Int, times: Int
    ) -> (lines: Int, entries: Int) {
        var rest = area
        var left = lines
        var count = 0
        for entry in entries.reversed() where left > 0 {
            let style: Style =
                switch entry.level {
                case .plain: times > 0 ? theme.text : theme.quiet
                case .warning: theme.warning
                case .error: theme.error
                }
            let text = SpeechFace(node: "", text: entry.text, unicode: theme.capabilities.unicode)
            let wrapped = text.lines(width: rest.width - 6 - times)
            let shown = wrapped.prefix(left)
            for (place, range) in shown.enumerated().reversed() {
                let row = rest.takeBottom(1).inset(1)
                if place == 0, times > 0 {
                    let time = glyphs(clock(entry.time))
                    canvas.put(time, x: row.x + times - 2 - time.count, y: row.y, style: theme.quiet)
                }
                var x = row.x + times + (place == 0 ? 0 : 2)
                x += canvas.put(text.glyphs[range], x: x, y: row.y, style: style, limit: row.width - times)
                if place == left - 1, wrapped.count > left {
                    canvas.put(glyphs(theme.words(" …", " ..")), x: x, y: row.y, style: style)
                }
            }
            left -= shown.count
            count += 1
        }
        return (lines - left, count)
    }
}
