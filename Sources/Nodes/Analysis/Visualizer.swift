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
        ],
        events: [
            EventType(
                "visualizer", "how it wants to be drawn",
                fields: [
                    Field("style", VG_STRING, "what is drawn"),
                    Field("preset", VG_STRING, "the colours, if they were given"),
                ], retained: true, public: true)
        ],
        series: .levels + .analysis, flags: VG_IN_PLACE, process: levelsProcess)

    private static let styles = [
        "orb", "bars", "wave", "spectrum", "spectrogram", "scope", "goniometer", "meter", "loudness",
    ]
    private static let presets = ["verdant", "twilight", "bloom", "mystic", "flare", "glacier"]

    let layout: Layout
    private let host: NodeHost
    private let style: String
    private let preset: String?
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
        layout = .unchanged(channels: channels)
        levels = LevelPublisher(
            channels: channels, host: host, analysis: [Series].levels.count, bands: bands)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> LevelPublisher.Processor {
        levels.prepare(preparation)
    }

    func activate() {
        let colors = preset.map { [("preset", SettingValue.string($0))] } ?? []
        host.publish("visualizer", [("style", .string(style))] + colors)
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
