// SPDX-License-Identifier: Apache-2.0
import Picture

/// Draws one channel as a bar from -60 to 0 dBFS.
struct MeterBar {
    var theme: Theme
    var reading: Ballistics.Reading
    /// Whether the scale stands in the bar itself.
    var hasScale = false
    /// Whether it leaves a gap above it, so that rows of bars stay apart; it moves by whole columns then.
    var isSlim = false

    private static let eighths: [Unicode.Scalar] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    /// Fills `rows` rows of `area`, all alike: a body for the RMS, a fainter one up to the peak, a line for the held
    /// peak.
    func draw(_ canvas: inout Canvas, _ area: Area) {
        guard !area.isEmpty else { return }
        let steps = area.width * 8
        let body = eighth(reading.rms, steps)
        let peak = max(body, eighth(reading.peak, steps))
        let held = eighth(reading.held, steps)
        let scale = hasScale ? Dictionary(uniqueKeysWithValues: meterScale(area.width)) : [:]
        for column in 0..<area.width {
            var cell = self.cell(column, body: body, peak: peak, width: area.width)
            if let sign = scale[column] { cell = labelled(cell, sign) }
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
        if theme.grounds, isSlim {
            let ink = bodyPart >= 4 ? bodyInk : peakPart >= 4 ? theme.meterPeak(here) : theme.rail
            return Cell(glyph: Glyph(base: ("▆" as Unicode.Scalar).value), style: Style(foreground: ink))
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

    /// A sign of the scale in place of what a cell shows, on the same ground.
    private func labelled(_ cell: Cell, _ sign: Glyph) -> Cell {
        var style = theme.quiet
        if theme.grounds {
            let isLit = cell.glyph != .space
            style.background = isLit ? cell.style.foreground : theme.rail
            if isLit { style.foreground = theme.capabilities.ink(theme.capabilities.light ? .white : .black) }
        } else if cell.style != theme.quiet {
            style = Style(foreground: cell.style.foreground, attributes: Style.bold)
        }
        return Cell(glyph: sign, style: style)
    }

    private func peakStyle(_ level: Double) -> Style { Style(foreground: theme.meterPeak(level)) }

    /// The held peak as a thin line at its place in the cell.
    private func mark(_ held: Int, _ below: Cell, _ column: Int, _ width: Int) -> Cell {
        if isSlim, theme.grounds {
            return Cell(glyph: below.glyph, style: Style(foreground: theme.meter(level(column, width))))
        }
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

/// The numbers of the scale of a bar so many columns wide, as many as fit: each sign with its column.
func meterScale(_ width: Int) -> [(Int, Glyph)] {
    guard width >= 16 else { return [] }
    let step = width >= 72 ? 6 : width >= 40 ? 12 : width >= 28 ? 20 : 30
    return stride(from: -60, through: 0, by: step).flatMap { level in
        let label = String(level)
        let place = Int((Double(level + 60) / 60 * Double(width)).rounded())
        let x = min(max(place - label.count / 2 - (level == 0 ? 0 : 1), 0), width - label.count)
        return glyphs(label).enumerated().map { (x + $0.offset, $0.element) }
    }
}

/// The scale below a bar.
func drawMeterScale(_ canvas: inout Canvas, _ area: Area, _ theme: Theme) {
    guard area.height > 0 else { return }
    for (x, sign) in meterScale(area.width) {
        canvas.put(CollectionOfOne(sign), x: area.x + x, y: area.y, style: theme.quiet)
    }
}
