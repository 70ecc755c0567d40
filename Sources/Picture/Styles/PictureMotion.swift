// SPDX-License-Identifier: Apache-2.0

/// What moves the picture of one node: takes what was measured as it comes, and gives what is to be drawn at any time.
public struct PictureMotion: Sendable {
    private var ease = LevelEase()
    private var bars = BarsEase()
    /// The bands as they were measured last; empty: none were.
    private var bands: [Float] = []
    /// Where the sound lies among them.
    private var brightness = Ease(0.5, duration: LevelEase.viewTime, curve: .easeOut)
    private var loudAt = -Double.infinity

    /// Above this level something sounds, and for so many seconds after it.
    private static let (loud, rest): (Float, Double) = (0.02, 0.5)

    /// At rest.
    public init() {}

    /// Takes the orb level.
    public mutating func take(level: Float, at time: Double) {
        ease.set(level: level, at: time)
        if level > Self.loud { loudAt = time }
    }

    /// Takes bands; false: they say what was known already.
    public mutating func take(bands: [Float], at time: Double) -> Bool {
        guard bands != self.bands else { return false }
        self.bands = bands
        if let now = PictureState.brightness(of: bands) { brightness.go(to: Double(now), at: time) }
        return true
    }

    /// What is drawn at a time. `speaking`: whether anything speaks, however quiet it is here.
    public mutating func state(_ style: PictureStyle, speaking: Bool = false, at time: Double) -> PictureState {
        let active = speaking || time - loudAt < Self.rest
        if ease.flag.target != (active ? 1 : 0) {
            if active { ease.set(speaking: true, at: time) } else { ease.end(at: time) }
        }
        if style == .bars, !bands.isEmpty {
            return PictureState(ease, bands: bands.map(BarValues.shown), at: time)
        }
        if style == .bars {
            // Nothing was measured. A new guess each time the bars have arrived at the last one.
            let tick = UInt64(max(0, time / BarsEase.time))
            bars.set(BarValues.guess(level: Float(ease.level.target), seed: tick), at: Double(tick) * BarsEase.time)
        }
        return PictureState(
            ease, bands: bars.values(at: time), brightness: Float(brightness.value(at: time)), at: time)
    }
}

extension PictureStyle {
    /// The series on request that it is drawn from, beside levels.
    public var series: Set<String> { self == .orb ? [] : ["bands"] }
}
