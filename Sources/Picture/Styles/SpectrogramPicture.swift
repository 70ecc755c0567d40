// SPDX-License-Identifier: Apache-2.0

/// Frequencies over the last 8 s, from 20 Hz to half the rate in equal ratios; now is at the right.
public struct SpectrogramPicture: Sendable {
    /// The colours of what is loud: its darker one first; nil: those of the chart of a whole sound.
    public var preset: Preset?
    /// Whether it is to stand out from light ground, rather than from dark.
    public var onLight: Bool

    /// What cannot be seen, in dBFS, and what is brightest.
    public static let range: ClosedRange<Float> = -110...(-20)

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
        let places = (0..<height).map { y -> (row: Int, part: Float) in
            let place = min(max((Float(height - y) - 0.5) / Float(height) * Float(rows) - 0.5, 0), Float(rows - 1))
            return (min(Int(place), rows - 2), place - Float(min(Int(place), rows - 2)))
        }
        let missing = SpectrumMotion.kept - past.count
        let columns = (0..<width).map { x in
            max((2 * x + 1) * SpectrumMotion.kept / (2 * width) - missing, -1)
        }
        guard let first = columns.firstIndex(where: { $0 >= 0 }), past.allSatisfy({ $0.count == rows }) else {
            return image
        }
        // A row of the picture after another: the colours of all that is known, then a pixel for each column.
        var colorsOfRow = [SIMD4<Float>](repeating: .zero, count: past.count)
        for y in 0..<height {
            let (row, part) = places[y]
            for column in past.indices {
                let levels = past[column]
                let level = levels[row] + (levels[row + 1] - levels[row]) * part
                colorsOfRow[column] = table[Int(min(max((level - Self.range.lowerBound) * scale, 0), 255))]
            }
            image.pixels.withUnsafeMutableBufferPointer { pixels in
                for x in first..<width { pixels[y * width + x] = colorsOfRow[columns[x]] }
            }
        }
        return image
    }
}
