// SPDX-License-Identifier: Apache-2.0

/// How two channels lie to each other: what both have stands upright, what one has lies on its diagonal, what is inverted
/// lies across. Below it the correlation: right is alike, left is inverted.
public struct GoniometerPicture: Sendable {
    /// The colours: the brighter one of the newest points.
    public var preset: Preset
    /// Whether it is to stand out from light ground, rather than from dark.
    public var onLight: Bool

    /// Describes the picture.
    public init(preset: Preset = .verdant, onLight: Bool = false) {
        (self.preset, self.onLight) = (preset, onLight)
    }

    /// Draws the points, the oldest first and faintest.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let size = Float(min(width, height))
        let center = SIMD2(Float(width) / 2, Float(height) / 2)
        // Room for the correlation below.
        let radius = size * 0.44
        let middle = SIMD2(center.x, center.y - size * 0.03)
        let colors = preset.rising(onLight: onLight)
        let guide = colors.color(at: 0.5).opacity(0.3).premultiplied
        let line = max(1, size / 160)
        let diagonal = radius * Float(0.5).squareRoot()
        for side in [-diagonal, diagonal] {
            segment(&image, middle + SIMD2(side, -diagonal), middle - SIMD2(side, -diagonal), line, guide)
        }
        let points = state.sound.points
        let dot = max(0.7, size / 200)
        for (index, point) in points.enumerated() {
            let age = Float(index + 1) / Float(points.count)
            let color = colors.color(at: 0.3 + 0.7 * age).opacity(0.15 + 0.75 * age * age).premultiplied
            disc(&image, middle + SIMD2(point.x, -point.y) * radius, dot, color)
        }
        correlation(&image, state.sound.correlation, center, size, colors)
        return image
    }

    private func correlation(
        _ image: inout PixelImage, _ value: Float?, _ center: SIMD2<Float>, _ size: Float, _ colors: Gradient
    ) {
        let y = center.y + size * 0.465
        let half = size * 0.3
        let thick = max(1, size / 80)
        let quiet = colors.color(at: 0.5).opacity(0.3).premultiplied
        segment(&image, SIMD2(center.x - half, y), SIMD2(center.x + half, y), thick / 2, quiet)
        guard let value else { return }
        let place = SIMD2(center.x + min(max(value, -1), 1) * half, y)
        segment(&image, SIMD2(center.x, y), place, thick, colors.color(at: 0.7).premultiplied)
        disc(&image, place, thick, colors.color(at: 1).premultiplied)
    }

    private func disc(_ image: inout PixelImage, _ center: SIMD2<Float>, _ radius: Float, _ color: SIMD4<Float>) {
        let columns = pixels(center.x, radius, image.width)
        for y in pixels(center.y, radius, image.height) {
            for x in columns {
                let away = SIMD2(Float(x) + 0.5, Float(y) + 0.5) - center
                let coverage = edgeCoverage(distance: (away * away).sum().squareRoot() - radius)
                if coverage > 0 { image.blend(x, y, color, coverage: coverage) }
            }
        }
    }

    /// A straight line, row by row or column by column, whichever it has more of.
    private func segment(
        _ image: inout PixelImage, _ a: SIMD2<Float>, _ b: SIMD2<Float>, _ width: Float, _ color: SIMD4<Float>
    ) {
        let way = b - a
        let length = (way * way).sum().squareRoot()
        guard length > 0 else { return }
        let along = way / length
        let reach = width / 2 + 1
        let isSteep = way.y.magnitude > way.x.magnitude
        let (from, to) = isSteep ? (min(a.y, b.y), max(a.y, b.y)) : (min(a.x, b.x), max(a.x, b.x))
        let lines = pixels((from + to) / 2, (to - from) / 2, isSteep ? image.height : image.width)
        for major in lines {
            let share = isSteep ? (Float(major) + 0.5 - a.y) / way.y : (Float(major) + 0.5 - a.x) / way.x
            guard share >= 0, share <= 1 else { continue }
            let across = isSteep ? a.x + share * way.x : a.y + share * way.y
            let slant = isSteep ? along.y.magnitude : along.x.magnitude
            for minor in pixels(across, reach / slant, isSteep ? image.width : image.height) {
                let distance = (Float(minor) + 0.5 - across) * slant
                let coverage = lineCoverage(distance: distance, width: width)
                guard coverage > 0 else { continue }
                image.blend(isSteep ? minor : major, isSteep ? major : minor, color, coverage: coverage)
            }
        }
    }

    private func pixels(_ middle: Float, _ reach: Float, _ end: Int) -> Range<Int> {
        let first = Int(max(middle - reach - 1, -1))
        let last = Int(min(middle + reach + 2, Float(end) + 1))
        return (min(first, last)..<max(first, last)).clamped(to: 0..<end)
    }
}
