// SPDX-License-Identifier: Apache-2.0

/// A bar for each channel from -60 to 0 dBFS: bright the RMS, fainter up to the peak, a line for the held peak, red where it
/// was at full scale. Bars lie in a broad picture, and stand in others.
public struct MeterPicture: Sendable {
    /// The colours from quiet to loud: its darker one first; nil: green, yellow, red.
    public var preset: Preset?

    /// From -60 to 0 dBFS.
    public static let scale = Gradient([
        .init(0, Color(hex: 0x12A594)), .init(0.6, Color(hex: 0x3DBE62)), .init(0.8, Color(hex: 0xE5B93C)),
        .init(0.92, Color(hex: 0xF58A32)), .init(1, Color(hex: 0xF04444)),
    ])
    /// Where the scale has marks, in dBFS.
    public static let marks: [Float] = [-48, -36, -24, -18, -12, -6]

    /// Describes the picture.
    public init(preset: Preset? = nil) { self.preset = preset }

    /// How far a level reaches, 0...1.
    public static func place(of level: Double) -> Float {
        level > Ballistics.floor ? Float(min(1 - level / Ballistics.floor, 1)) : 0
    }

    /// What each of so many bars covers of the side across it.
    public static func bars(_ count: Int, width: Int, height: Int) -> [Range<Int>] {
        let (length, breadth) = (Float(max(width, height)), Float(min(width, height)))
        // Whole pixels, so that edges are sharp.
        let gap = min(breadth / Float(count) * 0.2, breadth * 0.08).rounded(.up)
        let room = (breadth - gap * Float(count - 1)) / Float(count)
        let thick = max(1, min(room, length * 0.25).rounded(.down))
        let used = thick * Float(count) + gap * Float(count - 1)
        return (0..<count).map { bar in
            let start = Int((breadth - used) / 2 + Float(bar) * (thick + gap))
            return (start..<start + Int(thick)).clamped(to: 0..<Int(breadth))
        }
    }

    /// Draws the bars; where nothing is known, one that is empty.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let readings = state.sound.meters.isEmpty ? [Ballistics.Reading()] : state.sound.meters
        let lies = width >= height
        let length = Float(max(width, height))
        let bars = Self.bars(readings.count, width: width, height: height)
        let colors = preset?.rising(onLight: false) ?? Self.scale
        for (channel, reading) in readings.enumerated() {
            let bar = (0..<Int(length)).map { pixel($0, reading, length, colors) }
            for across in bars[channel] {
                for along in bar.indices {
                    let (x, y) = lies ? (along, across) : (across, height - 1 - along)
                    image.pixels[y * width + x] = bar[along]
                }
            }
        }
        return image
    }

    /// One along the bar, counted from its quiet end.
    private func pixel(_ index: Int, _ reading: Ballistics.Reading, _ length: Float, _ colors: Gradient) -> SIMD4<Float>
    {
        let middle = Float(index) + 0.5
        func reached(_ level: Double) -> Float {
            min(max(Self.place(of: level) * length - Float(index), 0), 1)
        }
        let color = colors.color(at: middle / length)
        let line = max(1, length / 160)
        var opacity: Float = 0.14
        for mark in Self.marks where (Self.place(of: Double(mark)) * length - middle).magnitude < line / 2 {
            opacity = 0.3
        }
        opacity = max(opacity, 0.4 * reached(reading.peak), reached(reading.rms))
        let held = Self.place(of: reading.held) * length
        if held > 0 {
            let covered = lineCoverage(distance: middle - min(held, length - line), width: 2 * line)
            opacity = max(opacity, covered)
        }
        if reading.clipped, middle > length - max(2, length * 0.03) { return Color(hex: 0xFF2D2D).premultiplied }
        return color.opacity(opacity).premultiplied
    }
}
