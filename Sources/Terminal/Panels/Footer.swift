// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Picture

/// The bottom line: keys at the left, load, xruns and time at the right.
struct Footer {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area, _ state: FaceState) {
        let inner = area.inset(area.width >= 30 ? 1 : 0)
        if let written = state.keys.line { return prompt(&canvas, inner, written) }
        let status = state.status
        var x = inner.x + inner.width
        func right(_ text: String, _ style: Style, _ canvas: inout Canvas) {
            let all = glyphs(text)
            guard x - all.count >= inner.x else { return }
            x -= all.count
            canvas.put(all, x: x, y: inner.y, style: style)
        }
        right(clock(status.time), theme.text, &canvas)
        right("   ", theme.text, &canvas)
        right(
            "\(status.xruns) xrun\(status.xruns == 1 ? "" : "s")", status.xruns > 0 ? theme.warning : theme.quiet,
            &canvas)
        right("   ", theme.text, &canvas)
        let load = status.load.isFinite ? max(status.load, 0) : 0
        let style = load >= 0.9 ? theme.error : load >= 0.7 ? theme.warning : theme.quiet
        right("\(fixed(load * 100, 1)) %", style, &canvas)
        if inner.width >= 60, theme.capabilities.unicode {
            x -= 11
            var reading = Ballistics.Reading(rms: 0, peak: -.infinity, held: -.infinity, clipped: false)
            reading.rms = load > 0 ? Ballistics.floor * (1 - min(load, 1)) : -.infinity
            MeterBar(theme: theme, reading: reading).draw(&canvas, Area(x: x, y: inner.y, width: 10, height: 1))
        }
        right("DSP ", theme.quiet, &canvas)
        let room = x - inner.x - 2
        guard room >= 6 else { return }
        if state.keys.readsLog {
            let all = ["up, down, PgUp and PgDn scroll, l goes back", "up and down scroll, l: back", "l: back"]
            let words = all.first { $0.count <= room } ?? "l"
            canvas.put(glyphs(words), x: inner.x, y: inner.y, style: theme.quiet)
            return
        }
        let chosen = state.graphNodes.first { $0.name == state.keys.selected }.map { node in
            let name = [printable(node.name), node.state].filter { !$0.isEmpty }.joined(separator: ", ")
            let keys = "\(name): m \(node.isMuted ? "unmutes" : "mutes"), b bypasses"
            let more = node.isBypassed ? " no more" : node.hasGain ? ", + and - turn it" : " it"
            return [keys + more, keys, name]
        }
        let node = chosen?.first { $0.count <= room }
        let all = [node, "q or Ctrl-C quits, ? shows all keys", "q quits, ? shows keys", "q quits"].compactMap { $0 }
        let keys = all.first { $0.count <= room } ?? "q quits"
        canvas.mark(Area(x: inner.x, y: inner.y, width: keys.count, height: 1), .help)
        for (place, glyph) in glyphs(keys).prefix(room).enumerated() {
            let isKey = keys != node && place == 0 || keys.dropFirst(place).first == "?"
            canvas.put(
                CollectionOfOne(glyph), x: inner.x + place, y: inner.y, style: isKey ? theme.accent : theme.quiet)
        }
    }

    /// The line that is being written; of a long one its end.
    private func prompt(_ canvas: inout Canvas, _ area: Area, _ written: WrittenLine) {
        var x =
            area.x + canvas.put(glyphs(written.prompt), x: area.x, y: area.y, style: theme.accent, limit: area.width)
        let all = glyphs(written.text, unicode: theme.capabilities.unicode)
        var room = area.x + area.width - x - 1
        let shown = all.reversed().prefix { glyph in
            room -= Int(glyph.width)
            return room >= 0
        }
        x += canvas.put(shown.reversed(), x: x, y: area.y, style: theme.text)
        canvas.put(theme.sign("▏", "_"), x: x, y: area.y, style: theme.accent)
    }
}
