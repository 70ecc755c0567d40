// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Marks what the faces draw: measures like a meter, and says how it wants to be drawn. It may end a chain or stand in
/// the middle of one.
final class Visualizer: AudioNode {
    static let calls: NodeCalls = .poll
    static let descriptor = NodeDescriptor(
        "visualizer", "what a face draws: an orb, bars, a wave, or a picture of what is measured",
        doc: "Audio passes through; the outputs need not be linked.",
        ports: Layout.unchanged(channels: 1).ports,
        settings: [
            channels, style, preset, bands, low, high, range, frequency, follow, density, levelTime, viewTime,
            speakingTime, endTime,
        ],
        events: [
            EventType(
                "visualizer", "how it wants to be drawn",
                fields: [
                    Field("style", VG_STRING, "what is drawn"),
                    Field("preset", VG_STRING, "the colours, if they were given"),
                    Field("frequency", VG_NUMBER, "periods of a wave across the picture"),
                    Field("follow", VG_BOOL, "whether waves are the longer the lower the sound is"),
                    Field("density", VG_NUMBER, "between the corners of a wave", unit: "px"),
                ] + times.map { Field($0.name, VG_NUMBER, $0.setting.doc, unit: "s") }, retained: true, public: true)
        ],
        series: .levels + .analysis, otherNames: ["orb", "scope", "spectrum"], flags: VG_IN_PLACE,
        process: { Visualizer.process($0, $1, $2) })

    private static let channels = Key.channels("audio channels, measured together")
    private static let style = Key.choice("style", "what is drawn", default: Style.orb)
    private static let preset = Key.text(
        "preset",
        "colours: verdant, twilight, bloom, mystic, flare or glacier, in any case, or two of one's own, outer and "
            + "inner, as D3FFA6-036B5B; verdant for anything else; without it the style's own")
    private static let bands = Key.integer(
        "bands", "bars: bands of the series bands", default: BandRange().count, in: 1...512)
    private static let low = Key.number(
        "low", "where they begin", default: BandRange().low, in: 10...20_000, unit: "Hz")
    private static let high = Key.number(
        "high", "where they end", default: BandRange().high, in: 20...96_000, unit: "Hz")
    private static let range = Key.number(
        "range_db", "orb and wave are at rest below this", default: -50, in: -90 ... -6, unit: "dBFS")
    private static let frequency = Key.number(
        "frequency", "wave: periods across the picture", default: 1.5, in: 0.1...20)
    private static let follow = Key.flag(
        "follow", "wave: the lower the sound, the longer the waves", default: false)
    private static let density = Key.number(
        "density", "wave: pixels between the corners of a line", default: 1, in: 0.25...64, unit: "px")
    private static let levelTime = time("level_time", 0.05, "that the level takes to what is measured")
    private static let viewTime = time("view_time", 0.15, "that the orb takes to what is measured")
    private static let speakingTime = time("speaking_time", 0.6, "that the glow takes to come and to go")
    private static let endTime = time("end_time", 0.25, "that both levels take to nothing, when it is silent")
    private static let times = [levelTime, viewTime, speakingTime, endTime]

    private static func time(_ name: String, _ seconds: Double, _ doc: String) -> Key<Double> {
        .number(name, doc, default: seconds, in: 0...10, unit: "s")
    }

    private enum Style: String, CaseIterable {
        case orb, bars, wave, spectrum, spectrogram, scope, goniometer, meter, loudness
    }

    private static let presets = ["verdant", "twilight", "bloom", "mystic", "flare", "glacier"]

    let layout: Layout
    private let host: NodeHost
    private let style: Style
    private let preset: String?
    /// What else it says of how it wants to be drawn.
    private let form: [(String, SettingValue)]
    private let levels: LevelPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let channels = try settings[Self.channels]
        style = try settings[Self.style]
        preset = try settings[Self.preset].map { wanted in
            let name = wanted.lowercased()
            return Self.presets.contains(name) || Self.isPair(name) ? name : "verdant"
        }
        let bands = BandRange(
            count: try settings[Self.bands], low: try settings[Self.low], high: try settings[Self.high])
        guard bands.low < bands.high else {
            throw NodeError(
                "has bands from \(bands.low) to \(bands.high) Hz", hint: "low must be below high", key: Self.low.name)
        }
        var form: [(String, SettingValue)] = [
            (Self.frequency.name, .number(try settings[Self.frequency])),
            (Self.follow.name, .bool(try settings[Self.follow])),
            (Self.density.name, .number(try settings[Self.density])),
        ]
        for time in Self.times { form.append((time.name, .number(try settings[time]))) }
        self.form = form
        layout = .unchanged(channels: channels)
        levels = LevelPublisher(
            channels: channels, host: host, analysis: [Series].levels.count, bands: bands,
            range: -(try settings[Self.range]))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> LevelPublisher.Processor {
        levels.prepare(preparation)
    }

    func activate() {
        let colors = preset.map { [("preset", SettingValue.string($0))] } ?? []
        host.publish("visualizer", [("style", .string(style.rawValue))] + colors + form)
    }

    /// Two colours as style sheets write them, such as "d3ffa6-036b5b".
    private static func isPair(_ text: String) -> Bool {
        let colors = text.split(separator: "-", omittingEmptySubsequences: false)
        return colors.count == 2
            && colors.allSatisfy { color in
                let digits = color.hasPrefix("#") ? color.dropFirst() : color
                return digits.count == 6 && digits.allSatisfy(\.isHexDigit)
            }
    }

    func poll() { levels.poll() }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) { measureLevels(&state, block) }
}
