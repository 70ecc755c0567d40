// SPDX-License-Identifier: Apache-2.0

/// All keys, in a frame over whatever is there.
struct HelpPanel {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area) {
        let keys = FaceKeys.help.map { columns($0.keys) }.max() ?? 0
        let wide = min(area.width, keys + (FaceKeys.help.map { columns($0.does) }.max() ?? 0) + 8)
        let tall = min(area.height, FaceKeys.help.count + 2)
        guard wide >= 12, tall >= 3 else { return }
        let x = area.x + (area.width - wide) / 2
        let y = area.y + (area.height - tall) / 2
        let (across, down) = (theme.sign("─", "-"), theme.sign("│", "|"))
        for row in 0..<tall {
            for column in 0..<wide { canvas.put(" ", x: x + column, y: y + row, style: theme.text) }
            canvas.put(down, x: x, y: y + row, style: theme.line)
            canvas.put(down, x: x + wide - 1, y: y + row, style: theme.line)
        }
        for column in 0..<wide {
            canvas.put(across, x: x + column, y: y, style: theme.line)
            canvas.put(across, x: x + column, y: y + tall - 1, style: theme.line)
        }
        for (corner, place) in [
            (theme.sign("┌", "+"), (0, 0)), (theme.sign("┐", "+"), (wide - 1, 0)),
            (theme.sign("└", "+"), (0, tall - 1)), (theme.sign("┘", "+"), (wide - 1, tall - 1)),
        ] { canvas.put(corner, x: x + place.0, y: y + place.1, style: theme.line) }
        for (row, entry) in FaceKeys.help.prefix(tall - 2).enumerated() {
            line(&canvas, Area(x: x + 3, y: y + 1 + row, width: keys, height: 1), entry.keys, theme.accent, theme)
            line(
                &canvas, Area(x: x + 5 + keys, y: y + 1 + row, width: wide - keys - 7, height: 1), entry.does,
                theme.text, theme)
        }
    }
}
