// SPDX-License-Identifier: Apache-2.0

/// What moves the picture of one node: takes what was measured as it comes, and gives what is to be drawn at any time.
public struct PictureMotion: Sendable {
    private var ease: LevelEase
    private var bars = BarsEase()
    private var smoothing = LevelSmoothing()
    private var sound = SoundMotion()
    /// The bands as they were measured last; empty: none were.
    private var bands: [Float] = []
    /// Where the sound lies among them.
    private var brightness: Ease
    private var loudAt = -Double.infinity

    /// Above this level something sounds, and for so many seconds after it.
    private static let (loud, rest): (Float, Double) = (0.02, 0.5)

    /// At rest.
    public init(times: LevelTimes = LevelTimes()) {
        ease = LevelEase(times: times)
        brightness = Ease(0.5, duration: times.view, curve: .easeOut)
    }

    /// Frames a second of the sound, in Hz: half of it is where its spectrum ends.
    public var rate: Double {
        get { sound.rate }
        set { sound.rate = newValue }
    }

    /// The meters of all channels, from the series `peak` and `rms`, which come in this order.
    public var meters: [Ballistics] { sound.meters }

    /// No clip is shown any more.
    public mutating func forgetClips() { sound.forgetClips() }

    /// Takes a series of a frame; false: that says what was known already. Series that no picture needs are ignored.
    public mutating func take(_ series: String, _ values: [Float], at time: Double) -> Bool {
        switch series {
        case "orb":
            guard let level = values.first else { return false }
            ease.set(level: level, at: time)
            if level > Self.loud { loudAt = time }
            return level > 0
        case "bands":
            guard bands != values else { return false }
            bands = values
            bars.set(bands.map(BarValues.shown), at: time)
            if let now = PictureState.brightness(of: bands) { brightness.go(to: Double(now), at: time) }
            return true
        case "rms":
            smoothing.take(values.max() ?? 0)
            return sound.take(series, values, at: time)
        default: return sound.take(series, values, at: time)
        }
    }

    /// What is drawn at a time. `speaking`: whether anything speaks, however quiet it is here.
    public mutating func state(_ style: PictureStyle, speaking: Bool = false, at time: Double) -> PictureState {
        let active = speaking || time - loudAt < Self.rest
        if ease.flag.target != (active ? 1 : 0) {
            if active { ease.set(speaking: true, at: time) } else { ease.end(at: time) }
        }
        if style == .bars, bands.isEmpty {
            // Nothing was measured: a new guess with every look at the level.
            let look = UInt64(max(0, time / LevelSmoothing.step))
            bars.set(
                BarValues.guess(level: smoothing.value(at: time), seed: look), at: Double(look) * LevelSmoothing.step)
        }
        var state = PictureState(
            ease, bands: bars.values(at: time), brightness: Float(brightness.value(at: time)), at: time)
        state.sound = sound.state(at: time)
        return state
    }
}

extension PictureStyle {
    /// The series on request that it is drawn from, beside levels.
    public var series: Set<String> {
        switch self {
        case .orb, .meter: []
        case .bars, .wave: ["bands"]
        case .spectrum, .spectrogram: ["spectrum"]
        case .scope: ["scope"]
        case .goniometer: ["goniometer", "correlation"]
        case .loudness: ["lufs_m", "lufs_s", "lufs_i"]
        }
    }
}
