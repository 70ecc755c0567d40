// SPDX-License-Identifier: Apache-2.0

/// Loudness over the last 20 s, from -50 to -5 LUFS: an area for momentary loudness, a line for short-term, a dashed one at
/// -23 LUFS (EBU R 128), and a mark at the right for the integrated loudness. Now is at the right.
public struct LoudnessPicture: Sendable {
    /// The colours from quiet to loud: its darker one below.
    public var preset: Preset
    /// Whether it is to stand out from light ground, rather than from dark.
    public var onLight: Bool

    /// What is at the bottom, and at the top, in LUFS.
    public static let range: ClosedRange<Float> = -50...(-5)
    /// What programmes are to have, in LUFS.
    static let target: Float = -23

    /// Describes the picture.
    public init(preset: Preset = .verdant, onLight: Bool = false) {
        (self.preset, self.onLight) = (preset, onLight)
    }

    /// How high a loudness stands, 0...1.
    public static func height(of loudness: Float) -> Float {
        min(max((loudness - range.lowerBound) / (range.upperBound - range.lowerBound), 0), 1)
    }

    /// Draws it.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let tall = Float(height)
        let line = max(1, 2 * Float(min(width, height)) / 160)
        let colors = preset.rising(onLight: onLight)
        func even(_ place: Float) -> [SIMD4<Float>] {
            Array(repeating: colors.color(at: place).premultiplied, count: height)
        }
        func y(_ loudness: Float) -> Float { tall - line / 2 - Self.height(of: loudness) * (tall - line) }
        let rows = (0..<height).map { colors.color(at: 1 - (Float($0) + 0.5) / tall).premultiplied }
        let target = y(Self.target)
        for x in 0..<width where x * 40 / width % 2 == 0 {
            image.fill(x, from: target - line / 4, to: target + line / 4, even(1), opacity: 0.5)
        }
        let past = state.sound.loudness
        // What is known begins at this column.
        let first = width - width * past.count / SoundState.loudnessCount
        let values = (first..<max(first, width)).map { x -> SIMD2<Float> in
            let place = (Float(x) + 0.5) / Float(width) * Float(SoundState.loudnessCount) - 0.5
            let inside = min(max(place - Float(SoundState.loudnessCount - past.count), 0), Float(past.count - 1))
            let index = min(Int(inside), max(past.count - 2, 0))
            let next = past[min(index + 1, past.count - 1)]
            return past[index] + (next - past[index]) * (inside - Float(index))
        }
        image.fill(below: Array(repeating: tall, count: first) + values.map { y($0.x) }, rows, opacity: 0.6)
        let smooth = PixelImage.joined(values.map { y($0.y) })
        // Nothing before it: a line below the picture.
        image.trace(Array(repeating: 2 * tall...2 * tall, count: first) + smooth, width: line, even(1))
        if let integrated = state.sound.integrated, integrated > -70 {
            let place = y(integrated)
            for x in width - max(2, width / 16)..<width where x >= 0 {
                image.fill(x, from: place - line, to: place + line, even(0.85))
            }
        }
        return image
    }
}
