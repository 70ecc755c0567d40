// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The colours of an orb.
public struct OrbColors: Sendable, Hashable {
    /// From the centre outwards.
    public var core: Gradient
    /// Once around the ring; begins and ends alike.
    public var ring: Gradient
    /// The light around it: from the core's edge to where it ends.
    public var glow: Gradient

    /// Cyan, blue, purple.
    public init() {
        let cyan = Color(hex: 0x64D2FF)
        let blue = Color(hex: 0x0A84FF)
        let purple = Color(hex: 0xBF5AF2)
        core = Gradient(even: [cyan, blue, purple])
        ring = Gradient(even: [cyan.opacity(0.8), blue.opacity(0.3), purple.opacity(0.8), cyan.opacity(0.8)])
        glow = Gradient(even: [blue.opacity(0.6), purple.opacity(0.1)])
    }

    /// The colours of a preset: its brighter one in the centre.
    public init(_ preset: Preset) {
        let pair = [preset.outer, preset.inner].sorted { $0.luminance > $1.luminance }
        let middle = pair[0].mixed(with: pair[1], 0.5)
        core = Gradient(even: [pair[0], middle, pair[1]])
        let (bright, dim) = (pair[0].opacity(0.8), pair[1].opacity(0.8))
        ring = Gradient(even: [bright, middle.opacity(0.3), dim, middle.opacity(0.3), bright])
        glow = Gradient(even: [middle.opacity(0.6), pair[1].opacity(0.1)])
    }
}

/// The measures of an orb in a given state, in pixels of an orb that is 160 wide.
public struct OrbShape: Sendable, Equatable {
    /// Factor on the core.
    public var coreScale: Float
    /// Factor on the light around it.
    public var glowScale: Float
    /// 0...1.
    public var glowOpacity: Float
    /// Factor on the ring.
    public var ringScale: Float
    /// 0...1.
    public var ringOpacity: Float

    /// The orb's own size.
    public static let size: Float = 160
    /// How far the light is blurred: the standard deviation, as style sheets count it.
    public static let blur: Float = 30
    /// The stroke around the core.
    public static let strokeWidth: Float = 2
    /// Its opacity.
    public static let strokeOpacity: Float = 0.4
    /// The ring's stroke.
    public static let ringWidth: Float = 3
    /// Where the core's gradient begins and ends.
    public static let gradientRadii: ClosedRange<Float> = 10...80

    /// What a state asks for: while speaking everything follows the level, else only the core is left.
    public init(_ state: PictureState) {
        let level = min(max(state.view, 0), 1)
        let speaking = min(max(state.speaking, 0), 1)
        coreScale = 0.85 + 0.5 * level
        glowScale = coreScale * 1.3
        glowOpacity = speaking * (0.3 + 0.7 * level)
        ringScale = 0.9 + speaking * ((1 + 0.7 * level) - 0.9)
        ringOpacity = 0.8 * speaking
    }
}

/// A glowing orb that grows with the voice.
public struct OrbPicture: Sendable {
    /// How it is coloured.
    public var colors: OrbColors
    /// The smaller side of the image, in orb pixels: room for the ring of a loud voice.
    public var extent: Float

    /// Describes an orb.
    public init(colors: OrbColors = OrbColors(), extent: Float = 288) {
        self.colors = colors
        self.extent = extent
    }

    /// Draws the orb in the middle of an image.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let unit = Float(min(width, height)) / extent
        let layers = Layers(
            OrbShape(state), colors, unit: unit, edge: Float(min(width, height)) / 2,
            turn: Float((state.time * 0.2).truncatingRemainder(dividingBy: 1)))
        let (centerX, centerY) = (Float(width) / 2, Float(height) / 2)
        image.pixels.withUnsafeMutableBufferPointer { pixels in
            for y in 0..<height {
                let dy = Float(y) + 0.5 - centerY
                let square = layers.end * layers.end - dy * dy
                guard square > 0 else { continue }
                let reach = square.squareRoot()
                let columns = (Int(max(centerX - reach - 1, 0))..<Int(centerX + reach) + 1).clamped(to: 0..<width)
                for x in columns { pixels[y * width + x] = layers.pixel(Float(x) + 0.5 - centerX, dy) }
            }
        }
        return image
    }

    /// One orb, ready to be asked pixel by pixel. Distances are pixels of the image. All but the ring's colour depends on the
    /// distance from the centre alone, and is computed once for each sixteenth of a pixel.
    private struct Layers {
        let coreRadius, glowRadius, glowSpread, strokeWidth, ringRadius, ringWidth: Float
        let ringOpacity, glowOpacity, gradientStart, gradientSpan, turn: Float
        let edge: Float
        /// Beyond this there is nothing.
        let end: Float
        let glow: [SIMD4<Float>]
        /// How far the light goes from the core's edge.
        let glowSpan: Float
        /// From the centre outwards, without the ring.
        private var radial: [SIMD4<Float>] = []
        private static let fineness: Float = 16
        let table: [SIMD4<Float>]
        let ring: [SIMD4<Float>]

        init(_ shape: OrbShape, _ colors: OrbColors, unit: Float, edge: Float, turn: Float) {
            self.edge = edge
            let half = OrbShape.size / 2 * unit
            coreRadius = half * shape.coreScale
            glowRadius = half * shape.glowScale
            // The blurred edge of a disc is close to a logistic curve with this slope.
            glowSpread = 1.702 / max(OrbShape.blur * unit, 0.01)
            strokeWidth = OrbShape.strokeWidth * unit * shape.coreScale
            ringRadius = half * shape.ringScale
            ringWidth = max(OrbShape.ringWidth * unit * shape.ringScale, 0.6)
            ringOpacity = shape.ringOpacity
            glowOpacity = shape.glowOpacity
            end =
                max(
                    coreRadius + strokeWidth, ringRadius + ringWidth, glowOpacity > 0 ? edge : 0) + 1
            let scale = unit * shape.coreScale
            gradientStart = OrbShape.gradientRadii.lowerBound * scale
            gradientSpan = (OrbShape.gradientRadii.upperBound - OrbShape.gradientRadii.lowerBound) * scale
            self.turn = turn
            glow = (0..<256).map { colors.glow.color(at: Float($0) / 255).premultiplied }
            glowSpan = max(glowRadius + OrbShape.blur * unit - coreRadius, 0.01)
            table = (0..<256).map { colors.core.color(at: Float($0) / 255).premultiplied }
            ring = (0..<256).map { colors.ring.color(at: Float($0) / 255).premultiplied }
            radial = (0...Int(end * Self.fineness) + 1).map { below(($0 == 0 ? 0 : Float($0) + 0.5) / Self.fineness) }
        }

        func pixel(_ dx: Float, _ dy: Float) -> SIMD4<Float> {
            let square = dx * dx + dy * dy
            guard square < end * end else { return .zero }
            let radius = square.squareRoot()
            let result = radial[Int(radius * Self.fineness)]
            let ringCoverage = lineCoverage(distance: radius - ringRadius, width: ringWidth)
            guard ringCoverage > 0, ringOpacity > 0 else { return result }
            var angle = atan2f(dy, dx) / (2 * Float.pi) + 1 - turn
            angle -= angle.rounded(.down)
            return over(ring[min(Int(angle * 256), 255)], ringCoverage * ringOpacity, result)
        }

        /// What is at a distance from the centre, below the ring.
        private func below(_ radius: Float) -> SIMD4<Float> {
            var result = SIMD4<Float>.zero
            if glowOpacity > 0 {
                // Towards the picture's edge the light fades out, or it would show where the picture ends.
                let rest = min(max((1 - radius / edge) / 0.4, 0), 1)
                let fade = rest * rest * (3 - 2 * rest)
                let color = glow[Int(min(max((radius - coreRadius) / glowSpan, 0), 1) * 255)]
                result = color * (glowOpacity * fade / (1 + expf(glowSpread * (radius - glowRadius))))
            }
            let inside = edgeCoverage(distance: radius - coreRadius)
            if inside > 0 {
                let place = min(max((radius - gradientStart) / gradientSpan, 0), 1)
                result = over(table[Int(place * 255)], inside, result)
            }
            let stroke = lineCoverage(distance: radius - coreRadius, width: strokeWidth)
            if stroke > 0 { result = over(SIMD4(repeating: 1), stroke * OrbShape.strokeOpacity, result) }
            return result
        }

        private func over(_ color: SIMD4<Float>, _ coverage: Float, _ below: SIMD4<Float>) -> SIMD4<Float> {
            let top = color * coverage
            return top + below * (1 - top.w)
        }
    }
}
