// SPDX-License-Identifier: Apache-2.0

/// Levels over the frequencies, from 20 Hz to half the rate in equal ratios: an area that falls slowly, and a line where it
/// was at most.
public struct SpectrumPicture: Sendable {
    /// The colours from quiet to loud: its darker one below.
    public var preset: Preset
    /// Whether it is to stand out from light ground, rather than from dark.
    public var onLight: Bool

    /// What is at the bottom, in dBFS; 0 is at the top.
    public static let floor: Float = -96

    /// Describes the picture.
    public init(preset: Preset = .verdant, onLight: Bool = false) {
        (self.preset, self.onLight) = (preset, onLight)
    }

    /// How high a level stands, 0...1.
    public static func height(of level: Float) -> Float { min(max(1 - level / floor, 0), 1) }

    /// Draws the spectrum.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let tall = Float(height)
        let line = max(1, 2 * Float(min(width, height)) / 160)
        let colors = preset.rising(onLight: onLight)
        let rows = (0..<height).map { colors.color(at: 1 - (Float($0) + 0.5) / tall).premultiplied }
        let crest = Array(repeating: colors.color(at: 1).premultiplied, count: height)
        let now = heights(state.sound.spectrum, width, tall, line)
        image.fill(below: now, rows, opacity: 0.75)
        let held = heights(state.sound.heldSpectrum, width, tall, line)
        image.trace(PixelImage.joined(held), width: line / 2, crest, opacity: 0.45)
        image.trace(PixelImage.joined(now), width: line, crest)
        return image
    }

    /// y in each column: of the loudest that lies in it, or of what lies between two.
    private func heights(_ levels: [Float], _ width: Int, _ tall: Float, _ line: Float) -> [Float] {
        guard levels.count > 1 else { return Array(repeating: tall - line / 2, count: width) }
        func level(_ place: Float) -> Float {
            let inside = min(max(place, 0), Float(levels.count - 1))
            let first = min(Int(inside), levels.count - 2)
            return levels[first] + (levels[first + 1] - levels[first]) * (inside - Float(first))
        }
        let step = Float(levels.count) / Float(width)
        return (0..<width).map { x in
            let (start, end) = (Float(x) * step - 0.5, Float(x + 1) * step - 0.5)
            var loudest = level((start + end) / 2)
            for row in stride(from: max(0, start.rounded(.up)), through: min(end, Float(levels.count - 1)), by: 1) {
                loudest = max(loudest, levels[Int(row)])
            }
            // The line stays inside.
            return tall - line / 2 - Self.height(of: loudest) * (tall - line)
        }
    }
}
