// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Marks what the faces draw: measures like a meter, and says how it wants to be drawn. It may end a chain or stand in
/// the middle of one.
final class Visualizer: Node {
    static let calls: NodeCalls = .poll
    static let descriptor = NodeDescriptor(
        "visualizer", "what a face draws: an orb, bars, a wave, or a picture of what is measured",
        doc: "Audio passes through; the outputs need not be linked.",
        ports: Layout.unchanged(channels: 1).ports,
        settings: [
            .channels("audio channels, measured together"),
            Setting("style", VG_SET_STRING, "what is drawn", default: "\"orb\"", choices: styles),
            Setting(
                "preset", VG_SET_STRING,
                "colours: verdant, twilight, bloom, mystic, flare or glacier, in any case, or two of one's own, outer and "
                    + "inner, as D3FFA6-036B5B; verdant for anything else; without it the style's own"),
            Setting("bands", VG_SET_INTEGER, "bars: bands of the series bands", default: "10", range: 1...512),
            Setting("low", VG_SET_NUMBER, "where they begin", default: "50.0", range: 10...20_000, unit: "Hz"),
            Setting("high", VG_SET_NUMBER, "where they end", default: "10000.0", range: 20...96_000, unit: "Hz"),
            Setting(
                "range_db", VG_SET_NUMBER, "orb and wave are at rest below this", default: "-50.0", range: -90 ... -6,
                unit: "dBFS"),
            Setting(
                "frequency", VG_SET_NUMBER, "wave: periods across the picture", default: "1.5", range: 0.1...20),
            Setting("follow", VG_SET_BOOL, "wave: the lower the sound, the longer the waves", default: "false"),
            Setting(
                "density", VG_SET_NUMBER, "wave: pixels between the corners of a line", default: "1.0",
                range: 0.25...64,
                unit: "px"),
        ] + times.map { Setting($0.key, VG_SET_NUMBER, $0.doc, default: "\($0.seconds)", range: 0...10, unit: "s") },
        events: [
            EventType(
                "visualizer", "how it wants to be drawn",
                fields: [
                    Field("style", VG_STRING, "what is drawn"),
                    Field("preset", VG_STRING, "the colours, if they were given"),
                    Field("frequency", VG_NUMBER, "periods of a wave across the picture"),
                    Field("follow", VG_BOOL, "whether waves are the longer the lower the sound is"),
                    Field("density", VG_NUMBER, "between the corners of a wave", unit: "px"),
                ] + times.map { Field($0.key, VG_NUMBER, $0.doc, unit: "s") }, retained: true, public: true)
        ],
        series: .levels + .analysis, flags: VG_IN_PLACE, process: levelsProcess)

    private static let styles = [
        "orb", "bars", "wave", "spectrum", "spectrogram", "scope", "goniometer", "meter", "loudness",
    ]
    private static let times: [(key: String, seconds: Double, doc: String)] = [
        ("level_time", 0.05, "that the level takes to what is measured"),
        ("view_time", 0.15, "that the orb takes to what is measured"),
        ("speaking_time", 0.6, "that the glow takes to come and to go"),
        ("end_time", 0.25, "that both levels take to nothing, when it is silent"),
    ]
    private static let presets = ["verdant", "twilight", "bloom", "mystic", "flare", "glacier"]

    let layout: Layout
    private let host: NodeHost
    private let style: String
    private let preset: String?
    /// What else it says of how it wants to be drawn.
    private let form: [(String, SettingValue)]
    private let levels: LevelPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let channels = try settings.channels()
        style = settings.string("style") ?? "orb"
        if !Self.styles.contains(style) {
            throw NodeError(
                "has no style \"\(style)\"", hint: "use " + Self.styles.joined(separator: ", "), key: "style")
        }
        preset = settings.string("preset").map { wanted in
            let name = wanted.lowercased()
            return Self.presets.contains(name) || Self.isPair(name) ? name : "verdant"
        }
        var bands = BandRange()
        bands.count = try settings.whole("bands", default: bands.count, in: 1...512)
        bands.low = try settings.finite("low", default: bands.low, in: 10...20_000)
        bands.high = try settings.finite("high", default: bands.high, in: 20...96_000)
        guard bands.low < bands.high else {
            throw NodeError(
                "has bands from \(bands.low) to \(bands.high) Hz", hint: "low must be below high", key: "low")
        }
        var form: [(String, SettingValue)] = [
            ("frequency", .number(try settings.finite("frequency", default: 1.5, in: 0.1...20))),
            ("follow", .bool(settings.bool("follow") ?? false)),
            ("density", .number(try settings.finite("density", default: 1, in: 0.25...64))),
        ]
        for time in Self.times {
            form.append((time.key, .number(try settings.finite(time.key, default: time.seconds, in: 0...10))))
        }
        self.form = form
        layout = .unchanged(channels: channels)
        levels = LevelPublisher(
            channels: channels, host: host, analysis: [Series].levels.count, bands: bands,
            range: -(try settings.finite("range_db", default: -50, in: -90 ... -6)))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> LevelPublisher.Processor {
        levels.prepare(preparation)
    }

    func activate() {
        let colors = preset.map { [("preset", SettingValue.string($0))] } ?? []
        host.publish("visualizer", [("style", .string(style))] + colors + form)
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
}
