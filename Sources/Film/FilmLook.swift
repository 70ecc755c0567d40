// SPDX-License-Identifier: Apache-2.0
import Picture
import Terminal

/// How the pictures of a film look.
package struct FilmLook: Sendable {
    package let style: PictureStyle
    package let preset: Preset?
    package let wave: WaveForm
    package let isLight: Bool
    package let layout: FilmLayout
    /// What stands at the marks of a meter.
    private let marks: [(level: Float, text: LineOfText)]

    /// How all of it looks. `hasNumbers`: what is measured is written above pictures of measurements, and a meter has a scale.
    package init(
        style: PictureStyle, preset: Preset?, wave: WaveForm, isLight: Bool, hasNumbers: Bool, hasCaptions: Bool,
        size: PictureSize
    ) {
        (self.style, self.preset, self.wave, self.isLight) = (style, preset, wave, isLight)
        layout = FilmLayout(size, hasNumbers: hasNumbers && style.hasNumbers, hasCaptions: hasCaptions)
        let letters = Double(min(size.width, size.height)) / 30
        let levels = style == .meter && hasNumbers && letters >= 7 ? [-60] + MeterPicture.marks + [0] : []
        marks = levels.compactMap { level in
            (try? LineOfText(String(Int(level)), size: letters)).map { (level, $0) }
        }
    }

    private var ink: Color { isLight ? Color(0.25, 0.25, 0.25) : Color(0.8, 0.8, 0.8) }

    /// What is measured, as a line above the picture; nil: nothing is known.
    package func numbers(_ state: PictureState) -> LineOfText? {
        guard let letters = layout.numbers, let words = caption(style, state.sound) else { return nil }
        return try? LineOfText(words, size: letters)
    }

    /// A picture.
    package func draw(_ state: PictureState, _ numbers: LineOfText?) -> PixelImage {
        var image = PixelImage(width: layout.size.width, height: layout.size.height)
        let place = layout.picture
        if marks.isEmpty {
            image.put(picture(state, place.width, place.height), x: place.x, y: place.y)
        } else {
            meter(&image, state)
        }
        if let numbers {
            image.write(
                numbers, x: (layout.size.width - numbers.width) / 2, y: layout.margin - numbers.height / 6, color: ink)
        }
        return image
    }

    private func picture(_ state: PictureState, _ width: Int, _ height: Int) -> PixelImage {
        Picture.draw(style, state, preset: preset, wave: wave, onLight: isLight, width: width, height: height)
    }

    /// The bars, with their scale below them, or at their right where they stand.
    private func meter(_ image: inout PixelImage, _ state: PictureState) {
        let place = layout.picture
        let lies = place.width >= place.height
        let (wide, tall) = (marks.map(\.text.width).max() ?? 0, marks.map(\.text.height).max() ?? 0)
        let room = lies ? tall : wide + tall / 2
        let (width, height) = (max(1, place.width - (lies ? 0 : room)), max(1, place.height - (lies ? room : 0)))
        image.put(picture(state, width, height), x: place.x, y: place.y)
        let bars = MeterPicture.bars(max(1, state.sound.meters.count), width: width, height: height)
        let end = (bars.last?.upperBound ?? 0) + (lies ? place.y : place.x)
        var last: Int?
        // The loudest first: what has no room is left out.
        for (level, text) in marks.reversed() {
            let along = Int((MeterPicture.place(of: Double(level)) * Float(lies ? width : height)).rounded())
            let needed = lies ? text.width + tall / 3 : tall * 2 / 3
            guard last.map({ $0 - along >= needed }) ?? true else { continue }
            last = along
            let (x, y) =
                lies
                ? (place.x + along - text.width / 2, end + tall / 8)
                : (end + tall / 3, place.y + height - along - tall / 2)
            image.write(text, x: min(x, layout.size.width - text.width), y: y, color: ink)
        }
    }
}
