// SPDX-License-Identifier: Apache-2.0

/// The values of a row of bars.
public enum BarValues {
    /// How many bars there are.
    public static let count = 10

    /// Bars guessed from a level alone, for when no bands were measured: the same level and seed give the same bars.
    /// Bar i is level x (1 - 0.6 i/9), times a number between 0.8 and 1.2; up to 0.05 counts as nothing.
    public static func guess(level: Float, seed: UInt64) -> [Float] {
        (0..<count).map { band in
            shown(level * (1 - 0.6 * Float(band) / Float(count - 1)) * (0.8 + 0.4 * unitNoise(seed, band)))
        }
    }

    /// A measured band as it is shown: clamped to 0...1, up to 0.05 counts as nothing.
    public static func shown(_ value: Float) -> Float { value > 0.05 ? min(value, 1) : 0 }

    /// 0..<1 from a seed (SplitMix64).
    private static func unitNoise(_ seed: UInt64, _ index: Int) -> Float {
        var z = seed &+ UInt64(truncatingIfNeeded: index + 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        z ^= z >> 31
        return Float(z >> 40) / Float(1 << 24)
    }
}

/// Bars on their way to new values: each change is there after 150 ms, eased in and out, however often they change.
public struct BarsEase: Sendable, Equatable {
    /// What was set, the newest last; what the first is on the way from is over.
    private var steps: [Step] = []

    private struct Step: Sendable, Equatable {
        var time: Double
        var values: [Float]
    }

    /// Seconds a change takes.
    public static let time = 0.15

    /// Without values: the picture shows that nothing is known.
    public init() {}

    /// Turns to new values; a different number of bars starts afresh.
    public mutating func set(_ values: [Float], at time: Double) {
        if steps.last?.values.count != values.count {
            steps = [Step(time: -.infinity, values: [Float](repeating: 0, count: values.count))]
        }
        guard steps.last?.values != values else { return }
        steps.append(Step(time: time, values: values))
        while steps.count > 1, steps[1].time < time - Self.time { steps.removeFirst() }
    }

    /// The values at a time.
    public func values(at time: Double) -> [Float] {
        guard var result = steps.first?.values else { return [] }
        for (before, step) in zip(steps, steps.dropFirst()) {
            let share = Float(Curve.easeInOut.progress((time - step.time) / Self.time))
            for index in result.indices { result[index] += share * (step.values[index] - before.values[index]) }
        }
        return result
    }

    /// Whether nothing moves any more.
    public func isSettled(at time: Double) -> Bool { steps.last.map { time >= $0.time + Self.time } ?? true }
}

/// Upright capsules, one for each band.
public struct BarsPicture: Sendable {
    /// The colours of each capsule.
    public var preset: Preset

    /// Pixels between two bars; nil: 4 in a picture 160 wide or high.
    public var gap: Float?

    /// Describes the picture.
    public init(preset: Preset = .verdant, gap: Float? = nil) {
        self.preset = preset
        self.gap = gap
    }

    /// The share of the picture's height that a bar takes: 20 to 80 %, 30 % when nothing is known.
    public static func height(of value: Float?) -> Float {
        guard let value else { return 0.3 }
        return 0.2 + 0.6 * min(max(value, 0), 1)
    }

    /// Draws the bars.
    public func draw(_ state: PictureState, width: Int, height: Int) -> PixelImage {
        var image = PixelImage(width: width, height: height)
        guard width > 0, height > 0 else { return image }
        let count = state.bands.isEmpty ? BarValues.count : state.bands.count
        let gap = self.gap ?? 4 * Float(min(width, height)) / 160
        let barWidth = max((Float(width) - gap * Float(count - 1)) / Float(count), 0.5)
        let table = (0..<256).map { preset.gradient.color(at: Float($0) / 255).premultiplied }
        for bar in 0..<count {
            let tall = BarsPicture.height(of: state.bands.isEmpty ? nil : state.bands[bar]) * Float(height)
            capsule(
                &image, left: Float(bar) * (barWidth + gap), top: (Float(height) - tall) / 2, wide: barWidth,
                tall: max(tall, barWidth), table)
        }
        return image
    }

    private func capsule(
        _ image: inout PixelImage, left: Float, top: Float, wide: Float, tall: Float, _ table: [SIMD4<Float>]
    ) {
        let radius = wide / 2
        let centerX = left + radius
        let straightTop = top + radius
        let straightBottom = top + tall - radius
        let columns = (Int(left) - 1..<Int(left + wide) + 2).clamped(to: 0..<image.width)
        let rows = (Int(top) - 1..<Int(top + tall) + 2).clamped(to: 0..<image.height)
        for y in rows {
            let py = Float(y) + 0.5
            let dy = py < straightTop ? straightTop - py : max(0, py - straightBottom)
            let color = table[Int(min(max((py - top) / tall, 0), 1) * 255)]
            for x in columns {
                let dx = Float(x) + 0.5 - centerX
                let coverage = edgeCoverage(distance: (dx * dx + dy * dy).squareRoot() - radius)
                if coverage > 0 { image.blend(x, y, color, coverage: coverage) }
            }
        }
    }
}
