// SPDX-License-Identifier: Apache-2.0

/// Samples one after another, as an oscilloscope shows them: a line from left to right.
public struct ScopePicture: Sendable {
    /// The colours from top to bottom; the line has the brighter one of the middle.
    public var preset: Preset
    /// Whether it is to stand out from light ground, rather than from dark.
    public var onLight: Bool
    /// Factor on the line; 1: two pixels in a picture 160 wide or high.
    public var thickness: Float

    /// Describes the picture.
    public init(preset: Preset = .verdant, onLight: Bool = false, thickness: Float = 1) {
        (self.preset, self.onLight, self.thickness) = (preset, onLight, thickness)
    }

    /// Draws the line; a flat one where nothing is known.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let middle = Float(height) / 2
        let line = max(1, 2 * Float(min(width, height)) / 160 * thickness)
        let colors = preset.rising(onLight: onLight)
        // Brighter the farther it is from the middle.
        let rows = (0..<height).map { y in
            colors.color(at: 0.35 + 0.65 * ((Float(y) + 0.5 - middle) / middle).magnitude).premultiplied
        }
        let quiet = Array(repeating: colors.color(at: 0.35).premultiplied, count: height)
        image.trace(Array(repeating: middle...middle, count: width), width: line / 2, quiet, opacity: 0.35)
        let samples = state.sound.scope
        guard samples.count > 1 else { return image }
        let reach = middle - line / 2
        func y(_ sample: Float) -> Float { middle - min(max(sample, -1), 1) * reach }
        let step = Float(samples.count - 1) / Float(width)
        let columns = (0..<width).map { x -> ClosedRange<Float> in
            // All samples that fall into the column, and where it begins and ends.
            let (start, end) = (Float(x) * step, Float(x + 1) * step)
            var (least, most) = (value(samples, start), value(samples, start))
            func take(_ sample: Float) { (least, most) = (min(least, sample), max(most, sample)) }
            take(value(samples, end))
            var index = Int(start) + 1
            while Float(index) < end {
                take(samples[index])
                index += 1
            }
            return y(most)...y(least)
        }
        image.trace(columns, width: line, rows)
        return image
    }

    private func value(_ samples: [Float], _ place: Float) -> Float {
        let first = min(Int(place), samples.count - 2)
        return samples[first] + (samples[first + 1] - samples[first]) * (place - Float(first))
    }
}
