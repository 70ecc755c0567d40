// SPDX-License-Identifier: Apache-2.0

/// All keys, in a frame over whatever is there.
struct HelpPanel {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area, _ help: [KeyHelp]) {
        let keys = help.map { columns($0.keys) }.max() ?? 0
        let wide = keys + (help.map { columns($0.does) }.max() ?? 0) + 8
        let frame = FramePanel(theme: theme).draw(&canvas, area, width: wide, height: help.count + 2)
        for (row, entry) in help.prefix(frame.height).enumerated() {
            let place = Area(x: frame.x + 2, y: frame.y + row, width: frame.width - 4, height: 1)
            line(&canvas, Area(x: place.x, y: place.y, width: keys, height: 1), entry.keys, theme.accent, theme)
            line(
                &canvas, Area(x: place.x + keys + 2, y: place.y, width: place.width - keys - 2, height: 1),
                entry.does, theme.text, theme)
        }
    }
}
