// SPDX-License-Identifier: Apache-2.0

/// Frequencies over the last 8 s, up to half the rate on the mel scale; now is at the right.
public struct SpectrogramPicture: Sendable {
    /// The colours of what is loud: its darker one first; nil: those of the chart of a whole sound.
    public var preset: Preset?
    /// Whether it is to stand out from light ground, rather than from dark.
    public var onLight: Bool

    /// What cannot be seen, in dBFS, and what is brightest.
    public static let range: ClosedRange<Float> = -90...(-10)

    /// Describes the picture.
    public init(preset: Preset? = nil, onLight: Bool = false) {
        (self.preset, self.onLight) = (preset, onLight)
    }

    /// Draws the spectrogram.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        let past = state.sound.spectrogram
        guard width > 0, height > 0, let rows = past.last?.count, rows > 1 else { return image }
        let own = SpectrogramChart.colors.stops
        let colors =
            preset?.rising(onLight: onLight)
            ?? (onLight ? Gradient(even: own.reversed().map(\.color)) : SpectrogramChart.colors)
        // What is quiet lets the ground through.
        let table = (0..<256).map { step -> SIMD4<Float> in
            let place = Float(step) / 255
            return colors.color(at: place).opacity(min(1, place * 3)).premultiplied
        }
        let scale = 255 / (Self.range.upperBound - Self.range.lowerBound)
        // Of rows that share a height the loudest is shown, else what lies between two.
        let places = (0..<height).map { y -> (first: Int, last: Int, part: Float) in
            let low = Float(height - 1 - y) / Float(height) * Float(rows)
            let high = Float(height - y) / Float(height) * Float(rows)
            if rows > height { return (Int(low), min(Int(high.rounded(.up)), rows) - 1, 0) }
            let middle = min(max((low + high) / 2 - 0.5, 0), Float(rows - 1))
            let row = min(Int(middle), rows - 2)
            return (row, row, middle - Float(row))
        }
        let missing = SpectrumMotion.kept - past.count
        let columns = (0..<width).map { x in
            max((2 * x + 1) * SpectrumMotion.kept / (2 * width) - missing, -1)
        }
        guard let known = columns.firstIndex(where: { $0 >= 0 }), past.allSatisfy({ $0.count == rows }) else {
            return image
        }
        // A row of the picture after another: the colours of all that is known, then a pixel for each column.
        var colorsOfRow = [SIMD4<Float>](repeating: .zero, count: past.count)
        for y in 0..<height {
            let (first, last, part) = places[y]
            for column in past.indices {
                let levels = past[column]
                var level = levels[first]
                if part > 0 { level += (levels[first + 1] - level) * part }
                if last > first { for row in first + 1...last { level = max(level, levels[row]) } }
                colorsOfRow[column] = table[Int(min(max((level - Self.range.lowerBound) * scale, 0), 255))]
            }
            image.pixels.withUnsafeMutableBufferPointer { pixels in
                for x in known..<width { pixels[y * width + x] = colorsOfRow[columns[x]] }
            }
        }
        return image
    }
}
