// SPDX-License-Identifier: Apache-2.0

/// The link for browsers as a QR code, dark on light whatever the terminal's colours are, with the link below it.
struct CodePanel {
    var theme: Theme

    func draw(_ canvas: inout Canvas, _ area: Area, _ state: FaceState) {
        for y in 0..<area.height { for x in 0..<area.width { canvas[area.x + x, area.y + y] = .blank } }
        var rest = area
        var below = linkLines(state.link, width: area.width - 2).map { ($0, theme.accent) }
        if !state.isLinkRemote {
            below.append(
                ("only this machine reaches it; --web 0.0.0.0:PORT --web-remote lets others in", theme.quiet))
        }
        below.append(("any key goes back", theme.quiet))
        guard let code = QRCode(state.link) else { return }
        let side = code.size + 2 * QRCode.quietZone
        // Two modules a cell, one above the other; without such characters one in two cells.
        let (wide, tall) = theme.capabilities.unicode ? (side, (side + 1) / 2) : (2 * side, side)
        if wide > area.width || tall > area.height {
            below.insert(("the QR code needs \(wide) columns and \(tall) rows", theme.warning), at: 0)
            rest.height = min(below.count, area.height)
            rest.y += (area.height - rest.height) / 2
        } else {
            below = Array(below.prefix(area.height - tall))
            _ = rest.takeTop((area.height - tall - below.count) / 2)
            let place = rest.takeTop(tall)
            self.code(&canvas, x: area.x + (area.width - wide) / 2, y: place.y, code, side)
        }
        for (text, style) in below {
            var row = rest.takeTop(1)
            _ = row.takeLeft((area.width - columns(text)) / 2)
            line(&canvas, row, text, style, theme)
        }
    }

    private func code(_ canvas: inout Canvas, x: Int, y: Int, _ code: QRCode, _ side: Int) {
        func isDark(_ column: Int, _ row: Int) -> Bool { code[column - QRCode.quietZone, row - QRCode.quietZone] }
        for row in stride(from: 0, to: side, by: theme.capabilities.unicode ? 2 : 1) {
            for column in 0..<side {
                let upper = isDark(column, row)
                guard theme.capabilities.unicode else {
                    for half in 0..<2 { canvas.put(" ", x: x + 2 * column + half, y: y + row, style: module(upper)) }
                    continue
                }
                // The half below the last row is the terminal's own ground.
                let lower = row + 1 < side ? isDark(column, row + 1) : nil
                let cell: (Unicode.Scalar, Style) =
                    switch (upper, lower) {
                    case (_, nil): ("▀", half(upper))
                    case (_, upper): (" ", module(upper))
                    default: ("▀", pair(upper))
                    }
                canvas.put(cell.0, x: x + column, y: y + row / 2, style: cell.1)
            }
        }
    }

    private var hasColors: Bool { theme.capabilities.colors > .none }
    private func ink(_ isDark: Bool) -> Ink { theme.capabilities.ink(isDark ? .black : .white) }

    /// A cell that is all dark or all light. Without colours the terminal's own two are taken.
    private func module(_ isDark: Bool) -> Style {
        guard !hasColors else { return Style(background: ink(isDark)) }
        return Style(attributes: isDark == theme.capabilities.light ? Style.reversed : 0)
    }

    /// The upper half dark or light, the lower the other.
    private func pair(_ isDark: Bool) -> Style {
        guard !hasColors else { return Style(foreground: ink(isDark), background: ink(!isDark)) }
        return Style(attributes: isDark == theme.capabilities.light ? 0 : Style.reversed)
    }

    private func half(_ isDark: Bool) -> Style {
        hasColors ? Style(foreground: ink(isDark)) : Style()
    }
}

/// A link in as many lines as it needs: nothing of it is left out.
func linkLines(_ link: String, width: Int) -> [String] {
    guard width > 0 else { return [] }
    let all = Array(printable(link))
    return stride(from: 0, to: all.count, by: width).map { String(all[$0..<min($0 + width, all.count)]) }
}
