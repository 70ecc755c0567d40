// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What can be asked for of a speech wave.
public struct WaveForm: Sendable, Hashable {
    /// Periods across the picture; where it follows the sound, of one in the middle of the bands.
    public var frequency = WaveShape.frequency
    /// Whether waves are the longer the lower the sound is.
    public var follows = false
    /// Pixels between the corners of a wave.
    public var density: Float = 1

    /// Describes one.
    public init(frequency: Float = WaveShape.frequency, follows: Bool = false, density: Float = 1) {
        self.frequency = frequency
        self.follows = follows
        self.density = max(density, 0.25)
    }

    /// Periods for a sound that lies there among the bands, 0 to 1: where it follows, from 0.4 times to 2.4 times as many.
    public func frequency(brightness: Float) -> Float {
        follows ? frequency * powf(6, min(max(brightness, 0), 1) - 0.5) : frequency
    }
}

/// The geometry of a speech wave: five sines under one arch.
public enum WaveShape {
    /// How high each wave is, as a factor on the level; below zero it hangs upside down.
    public static let amplitudes: [Float] = [0.7, 0.4, 0.1, -0.2, -0.5]
    /// How visible each wave is.
    public static let alphas: [Float] = [1, 0.867, 0.733, 0.6, 0.467]
    /// How thick each wave is, in pixels of a picture 160 high.
    public static let widths: [Float] = [1.5, 0.75, 0.5, 0.375, 0.3]
    /// Periods across the picture, unless something else is asked for.
    public static let frequency: Float = 1.5

    /// Radians: how far the wave moves in each 100 ms.
    public static let phaseStep: Double = -1.5

    /// The phase at a time, linear between the steps.
    public static func phase(at time: Double) -> Float {
        Float((time * 10 * phaseStep).truncatingRemainder(dividingBy: 2 * .pi))
    }

    /// y of one wave at x: an arch that is zero at both edges, times a sine, around the middle of the height.
    public static func y(
        x: Float, width: Float, height: Float, amplitude: Float, phase: Float, frequency: Float = frequency
    ) -> Float {
        let middle = width / 2
        let offset = (x - middle) / middle
        let arch = 1 - offset * offset
        return arch * height / 2 * amplitude * sinf(2 * .pi * frequency * x / width + phase) + height / 2
    }

    /// The corners of one wave: x from 0 to width + density, every `density` pixels.
    public static func points(
        width: Float, height: Float, amplitude: Float, phase: Float, density: Float, frequency: Float = frequency
    ) -> [SIMD2<Float>] {
        guard width > 0, density > 0 else { return [] }
        return stride(from: Float(0), through: width + density, by: density).map {
            SIMD2($0, y(x: $0, width: width, height: height, amplitude: amplitude, phase: phase, frequency: frequency))
        }
    }
}

/// Five waves that swell with the voice.
public struct WavePicture: Sendable {
    /// The colours from the highest crest to the lowest.
    public var preset: Preset
    /// Its form.
    public var form: WaveForm
    /// Factor on the strokes; 1: as thick as the shape says in a picture 160 high, never thinner than can be seen.
    public var thickness: Float

    /// Describes the picture.
    public init(preset: Preset = .verdant, form: WaveForm = WaveForm(), thickness: Float = 1) {
        self.preset = preset
        self.form = form
        self.thickness = thickness
    }

    /// Draws the waves, the faintest first.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let unit = max(Float(height) / 160, 0.5) * thickness
        let phase = WaveShape.phase(at: state.time)
        let level = min(max(state.level, 0), 1)
        let frequency = form.frequency(brightness: state.brightness)
        // A quiet voice has all colours, too; what is flat has those of the middle.
        let middle = Float(height) / 2
        let reach = max(middle * level * (WaveShape.amplitudes.max() ?? 1), unit * 4)
        let rows = (0..<height).map { y in
            preset.gradient.color(at: 0.5 + (Float(y) + 0.5 - middle) / reach / 2).premultiplied
        }
        for wave in WaveShape.amplitudes.indices.reversed() {
            let points = WaveShape.points(
                width: Float(width), height: Float(height), amplitude: level * WaveShape.amplitudes[wave], phase: phase,
                density: form.density, frequency: frequency)
            stroke(&image, points, width: WaveShape.widths[wave] * unit, alpha: WaveShape.alphas[wave], rows)
        }
        return image
    }

    /// Column by column: the distance to the line at that x, corrected for its slope.
    private func stroke(
        _ image: inout PixelImage, _ points: [SIMD2<Float>], width: Float, alpha: Float, _ rows: [SIMD4<Float>]
    ) {
        for x in 0..<image.width {
            let px = Float(x) + 0.5
            let segment = min(Int(px / form.density), points.count - 2)
            let (a, b) = (points[segment], points[segment + 1])
            let slope = (b.y - a.y) / (b.x - a.x)
            let middle = a.y + (px - a.x) * slope
            let across = 1 / (1 + slope * slope).squareRoot()
            let reach = (width / 2 + 0.5) / across + 1
            let top = max(0, Int((middle - reach).rounded(.down)))
            let bottom = min(image.height - 1, Int((middle + reach).rounded(.up)))
            guard top <= bottom else { continue }
            for y in top...bottom {
                let distance = (Float(y) + 0.5 - middle) * across
                let coverage = lineCoverage(distance: distance, width: width)
                if coverage > 0 { image.blend(x, y, rows[y], coverage: coverage * alpha) }
            }
        }
    }
}
