// SPDX-License-Identifier: Apache-2.0
import Picture

/// Draws one channel as a bar from -60 to 0 dBFS.
struct MeterBar {
    var theme: Theme
    var reading: Ballistics.Reading

    private static let eighths: [Unicode.Scalar] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    /// Fills `rows` rows of `area`, all alike: a body for the RMS, a fainter one up to the peak, a line for the held
    /// peak.
    func draw(_ canvas: inout Canvas, _ area: Area) {
        guard !area.isEmpty else { return }
        let steps = area.width * 8
        let body = eighth(reading.rms, steps)
        let peak = max(body, eighth(reading.peak, steps))
        let held = eighth(reading.held, steps)
        for column in 0..<area.width {
            var cell = self.cell(column, body: body, peak: peak, width: area.width)
            if held > 0, (held - 1) / 8 == column { cell = mark(held, cell, column, area.width) }
            for row in 0..<area.height { canvas[area.x + column, area.y + row] = cell }
        }
    }

    private func eighth(_ level: Double, _ steps: Int) -> Int {
        guard level > Ballistics.floor else { return 0 }
        return min(steps, max(1, Int(((level - Ballistics.floor) / -Ballistics.floor * Double(steps)).rounded())))
    }

    private func level(_ column: Int, _ width: Int) -> Double {
        Ballistics.floor * (1 - (Double(column) + 0.5) / Double(width))
    }

    private func cell(_ column: Int, body: Int, peak: Int, width: Int) -> Cell {
        let here = level(column, width)
        let bodyPart = min(max(body - column * 8, 0), 8)
        let peakPart = min(max(peak - column * 8, 0), 8)
        let bodyInk = theme.meter(here)
        guard theme.capabilities.unicode else {
            let sign: Unicode.Scalar = bodyPart >= 4 ? "=" : peakPart >= 4 ? "-" : "."
            let style = bodyPart >= 4 ? Style(foreground: bodyInk) : peakPart >= 4 ? peakStyle(here) : theme.quiet
            return Cell(glyph: Glyph(base: sign.value), style: style)
        }
        if theme.grounds {
            let peakInk = theme.meterPeak(here)
            let part = bodyPart > 0 ? bodyPart : peakPart
            let ground = bodyPart > 0 && peakPart == 8 ? peakInk : theme.rail
            let style = Style(foreground: bodyPart > 0 ? bodyInk : peakInk, background: ground)
            return Cell(
                glyph: Glyph(base: MeterBar.eighths[part].value),
                style: part == 0 ? Style(background: theme.rail) : style)
        }
        if bodyPart > 0 {
            return Cell(glyph: Glyph(base: MeterBar.eighths[bodyPart].value), style: Style(foreground: bodyInk))
        }
        if peakPart >= 4 { return Cell(glyph: Glyph(base: ("░" as Unicode.Scalar).value), style: peakStyle(here)) }
        return Cell(glyph: Glyph(base: ("·" as Unicode.Scalar).value), style: theme.quiet)
    }

    private func peakStyle(_ level: Double) -> Style { Style(foreground: theme.meterPeak(level)) }

    /// The held peak as a thin line at its place in the cell.
    private func mark(_ held: Int, _ below: Cell, _ column: Int, _ width: Int) -> Cell {
        let place = (held - 1) % 8
        let sign: Unicode.Scalar =
            theme.capabilities.unicode ? (place < 3 ? "▏" : place < 6 ? "│" : "▕") : "|"
        var style = Style(foreground: theme.meter(level(column, width)))
        if theme.grounds {
            let full = below.glyph.base == MeterBar.eighths[8].value
            style.background = full ? below.style.foreground : theme.rail
            if full { style.foreground = theme.capabilities.ink(theme.capabilities.light ? .black : .white) }
        }
        return Cell(glyph: Glyph(base: sign.value), style: style)
    }
}

/// The scale below a bar: as many numbers as fit.
func drawMeterScale(_ canvas: inout Canvas, _ area: Area, _ theme: Theme) {
    guard area.width >= 16, area.height > 0 else { return }
    let step = area.width >= 72 ? 6 : area.width >= 40 ? 12 : area.width >= 28 ? 20 : 30
    for level in stride(from: -60, through: 0, by: step) {
        let label = String(level)
        let place = Int((Double(level + 60) / 60 * Double(area.width)).rounded())
        let x = min(max(place - label.count / 2 - (level == 0 ? 0 : 1), 0), area.width - label.count)
        canvas.put(glyphs(label), x: area.x + x, y: area.y, style: theme.quiet)
    }
}
