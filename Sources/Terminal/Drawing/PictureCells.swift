// SPDX-License-Identifier: Apache-2.0
import Picture

/// Shows pictures: in pixels where the terminal can, else as cells: two pixels a cell where there are colours enough, dots of braille for lines, characters of
/// growing weight otherwise.
struct PictureCells {
    var theme: Theme

    private var ground: Color { theme.capabilities.light ? .white : .black }

    /// Draws a visualizer into an area.
    func draw(
        _ canvas: inout Canvas, _ area: Area, style: PictureStyle, preset: Preset?, wave: WaveForm,
        state: PictureState
    ) {
        guard !area.isEmpty else { return }
        let colors = theme.capabilities.colors
        if let graphics = theme.capabilities.graphics {
            let place = graphics.place(area)
            return canvas.show(
                Picture.draw(
                    style, state, preset: preset, wave: wave, onLight: theme.capabilities.light, width: place.width,
                    height: place.height), place.area)
        }
        func picture(_ width: Int, _ height: Int) -> PixelImage {
            Picture.draw(
                style, state, preset: preset, wave: wave, onLight: theme.capabilities.light, width: width,
                height: height)
        }
        if !theme.capabilities.unicode || colors < .palette && !Self.isOfLines(style) {
            let image = picture(area.width * 2, area.height * 4)
            weights(&canvas, area, image)
        } else if style == .wave {
            let picture = WavePicture(preset: preset ?? .verdant, form: wave, thickness: 2)
            braille(&canvas, area, picture.draw(state, width: area.width * 2, height: area.height * 4))
        } else if Self.isOfLines(style) {
            braille(&canvas, area, picture(area.width * 2, area.height * 4))
        } else if style == .bars {
            // Bars of whole columns with one between them: crisp edges.
            let count = max(state.bands.count, BarValues.count)
            let wide = max(1, (area.width + 1) / count - 1)
            let total = min(area.width, wide * count + count - 1)
            let place = Area(x: area.x + (area.width - total) / 2, y: area.y, width: total, height: area.height)
            let bars = BarsPicture(preset: preset ?? .verdant, gap: 1)
            halves(&canvas, place, bars.draw(state, width: total, height: area.height * 2))
        } else {
            halves(&canvas, area, picture(area.width, area.height * 2))
        }
    }

    /// Whether it is thin lines and dots, for which braille has most room.
    private static func isOfLines(_ style: PictureStyle) -> Bool { [.wave, .scope, .goniometer].contains(style) }

    /// The upper half block: its colour above, the ground's below.
    private func halves(_ canvas: inout Canvas, _ area: Area, _ image: PixelImage) {
        for row in 0..<area.height {
            for column in 0..<area.width {
                let upper = ink(image.pixels[row * 2 * area.width + column])
                let lower = ink(image.pixels[(row * 2 + 1) * area.width + column])
                let cell: (Unicode.Scalar, Style) =
                    switch (upper, lower) {
                    case (nil, nil): (" ", .plain)
                    case (let upper?, nil): ("▀", Style(foreground: upper))
                    case (nil, let lower?): ("▄", Style(foreground: lower))
                    case (let upper?, let lower?):
                        upper == lower
                            ? ("█", Style(foreground: upper)) : ("▀", Style(foreground: upper, background: lower))
                    }
                canvas.put(cell.0, x: area.x + column, y: area.y + row, style: cell.1)
            }
        }
    }

    /// nil: nothing to be seen there, so the terminal's own ground stays.
    private func ink(_ pixel: SIMD4<Float>) -> Ink? {
        guard pixel.w > 0.06 else { return nil }
        let mixed = pixel + ground.premultiplied * (1 - pixel.w)
        return theme.capabilities.pictureInk(Color(mixed.x, mixed.y, mixed.z))
    }

    /// 2 x 4 dots a cell, in the mean colour of what is lit.
    private func braille(_ canvas: inout Canvas, _ area: Area, _ image: PixelImage) {
        let bits: [[UInt32]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        for row in 0..<area.height {
            for column in 0..<area.width {
                var dots: UInt32 = 0
                var sum = SIMD4<Float>.zero
                for dy in 0..<4 {
                    for dx in 0..<2 {
                        let pixel = image.pixels[(row * 4 + dy) * image.width + column * 2 + dx]
                        sum += pixel
                        if pixel.w > 0.3 { dots |= bits[dy][dx] }
                    }
                }
                guard dots != 0, sum.w > 0 else { continue }
                let color = Color(sum.x / sum.w, sum.y / sum.w, sum.z / sum.w)
                // Lines are thin: the darker half of a preset would hardly be seen.
                let lit = color.mixed(with: theme.capabilities.light ? .black : .white, 0.3)
                let style = Style(foreground: theme.capabilities.pictureInk(lit))
                canvas[area.x + column, area.y + row] = Cell(glyph: Glyph(base: 0x2800 + dots), style: style)
            }
        }
    }

    /// One character for 2 x 4 pixels, heavier where there is more.
    private func weights(_ canvas: inout Canvas, _ area: Area, _ image: PixelImage) {
        let ramp: [Unicode.Scalar] =
            theme.capabilities.unicode
            ? [" ", "░", "▒", "▓", "█"] : [" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"]
        for row in 0..<area.height {
            for column in 0..<area.width {
                var sum = SIMD4<Float>.zero
                for dy in 0..<4 {
                    let first: Int = (row * 4 + dy) * image.width + column * 2
                    sum += image.pixels[first]
                    sum += image.pixels[first + 1]
                }
                sum /= 8
                let brightness: Float = 0.35 * sum.w + 0.65 * Color(sum.x, sum.y, sum.z).luminance
                let weight = Int((brightness * Float(ramp.count - 1) * 1.25).rounded())
                guard sum.w > 0.06, weight > 0 else { continue }
                let color = Color(sum.x / sum.w, sum.y / sum.w, sum.z / sum.w)
                canvas.put(
                    ramp[min(weight, ramp.count - 1)], x: area.x + column, y: area.y + row,
                    style: Style(foreground: theme.capabilities.ink(color)))
            }
        }
    }
}
