// SPDX-License-Identifier: Apache-2.0

/// An empty frame in the middle of whatever is there.
struct FramePanel {
    var theme: Theme

    /// Draws it, as large as is asked for and there is room for; returns what is inside, which is nothing where there is none.
    func draw(_ canvas: inout Canvas, _ area: Area, width: Int, height: Int) -> Area {
        let (wide, tall) = (min(area.width, width), min(area.height, height))
        guard wide >= 12, tall >= 3 else { return Area(x: area.x, y: area.y, width: 0, height: 0) }
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
        return Area(x: x + 1, y: y + 1, width: wide - 2, height: tall - 2)
    }
}
