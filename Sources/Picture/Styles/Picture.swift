// SPDX-License-Identifier: Apache-2.0

/// The looks of a visualizer.
public enum PictureStyle: String, Sendable, CaseIterable {
    case orb, bars, wave, spectrum, spectrogram, scope, goniometer, meter, loudness

    /// Whether it is as wide as high; others are broader.
    public var isRound: Bool { self == .orb || self == .goniometer }

    /// Finds a style by name, ignoring case; unknown names give the orb.
    public init(named name: String) { self = PictureStyle(rawValue: name.lowercased()) ?? .orb }
}

/// All that a picture depends on: the same state gives the same pixels.
public struct PictureState: Sendable, Equatable {
    /// 0...1, for waves.
    public var level: Float
    /// 0...1, for the orb: the level as it is eased for the eye.
    public var view: Float
    /// 0...1: how far the change to "speaking" has come.
    public var speaking: Float
    /// 0...1 for each bar; empty: nothing is known.
    public var bands: [Float]
    /// Where the sound lies, for waves: 0 in the lowest band, 1 in the highest; 0.5 where nothing is known.
    public var brightness: Float
    /// Seconds: turns the ring and moves the waves.
    public var time: Double
    /// For pictures of measurements.
    public var sound = SoundState()

    /// Describes a state.
    public init(
        level: Float = 0, view: Float = 0, speaking: Float = 0, bands: [Float] = [], brightness: Float = 0.5,
        time: Double = 0
    ) {
        self.level = level
        self.view = view
        self.speaking = speaking
        self.bands = bands
        self.brightness = brightness
        self.time = time
    }

    /// What the eases give at a time.
    public init(_ ease: LevelEase, bands: [Float] = [], brightness: Float = 0.5, at time: Double) {
        self.init(
            level: Float(ease.level.value(at: time)), view: Float(ease.view.value(at: time)),
            speaking: Float(ease.flag.value(at: time)), bands: bands, brightness: brightness, time: time)
    }

    /// Where the middle of the power of bands lies, 0 to 1; nil: they are silent.
    public static func brightness(of bands: [Float]) -> Float? {
        let powers = bands.map { $0 * $0 }
        let sum = powers.reduce(0, +)
        guard bands.count > 1, sum > 1e-6 else { return nil }
        return zip(powers, 0...).reduce(0) { $0 + $1.0 * Float($1.1) } / (sum * Float(bands.count - 1))
    }
}

/// Draws a visualizer. Sizes are pixels; every picture scales with the smaller side.
public enum Picture {
    /// Draws one picture. `preset` nil: the style's own colours; `wave`: of that style; `onLight`: it is to be seen on light
    /// ground.
    public static func draw(
        _ style: PictureStyle, _ state: PictureState, preset: Preset? = nil, wave: WaveForm = WaveForm(),
        onLight: Bool = false,
        width: Int, height: Int
    ) -> PixelImage {
        let colors = preset ?? .verdant
        return switch style {
        case .orb:
            OrbPicture(colors: preset.map { OrbColors($0) } ?? OrbColors()).draw(state, width: width, height: height)
        case .bars: BarsPicture(preset: colors).draw(state, width: width, height: height)
        case .wave: WavePicture(preset: colors, form: wave).draw(state, width: width, height: height)
        case .spectrum: SpectrumPicture(preset: colors, onLight: onLight).draw(state, width: width, height: height)
        case .spectrogram:
            SpectrogramPicture(preset: preset, onLight: onLight).draw(state, width: width, height: height)
        case .scope: ScopePicture(preset: colors, onLight: onLight).draw(state, width: width, height: height)
        case .goniometer: GoniometerPicture(preset: colors, onLight: onLight).draw(state, width: width, height: height)
        case .meter: MeterPicture(preset: preset).draw(state, width: width, height: height)
        case .loudness: LoudnessPicture(preset: colors, onLight: onLight).draw(state, width: width, height: height)
        }
    }
}
