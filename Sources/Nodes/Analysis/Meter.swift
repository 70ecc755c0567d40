// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Lets audio through unchanged and publishes its levels 60 times a second: peak and RMS per channel, orb level, and a
/// needle per channel where a standard's ballistics are asked for.
final class Meter: AudioNode {
    static let calls: NodeCalls = [.poll, .perform, .settings]
    static let descriptor = NodeDescriptor(
        "meter", "lets audio through and shows its levels",
        doc: "ballistics: peak has no needle; vu is the volume unit meter of IEC 60268-17, ppm1 and ppm2 are the peak "
            + "programme meters of IEC 60268-10, type I (DIN) and type II (BBC, EBU); k12, k14 and k20 are the averaging "
            + "meters of the K-System. A sine whose peak is at reference shows 0. Where it is not given, it is -18, the "
            + "alignment level of EBU R 68, or -12, -14 and -20. On the scale of the BBC 0 dB is PPM 4, and a mark is 4 "
            + "dB.",
        ports: ports(channels: 1, hasNeedle: false),
        settings: [channels, ballistics, reference, seriesRate, reports],
        actions: [
            Action("reset", "begin the report anew"),
            Action(
                "report", "loudness, true peak and clips since the start, the last change of rate, or reset",
                arguments: [frames], results: MeterReport.declared),
        ],
        series: ownSeries + .analysis, otherNames: ["level", "vu", "levels", "loudness"], flags: VG_IN_PLACE,
        process: { Meter.process($0, $1, $2) })

    private static let ownSeries: [Series] =
        .levels + [Series("needle", "what the needle of each channel shows, above reference", unit: "dB", rate: 60)]
    private static let channels = Key.channels()
    private static let ballistics = Key.text(
        "ballistics", "adds a needle that moves as a standard asks", default: noNeedle,
        choices: [noNeedle] + Needle.Kind.allCases.map(\.rawValue))
    private static let reference = Key.number(
        "reference", "the peak of a sine at which the needle shows 0", in: -60...0, unit: "dBFS")
    private static let seriesRate = Key.integer(
        "series_rate", "how often the series come that are measured on request: 60, 30, 20 or 10 times", default: 60,
        in: 10...60, unit: "Hz", live: true)
    private static let reports = Key.flag(
        "report", "measures all the time what the action report tells", default: false)
    private static let frames = Key.integer(
        "frames", "how many were to be measured: up to a second of silence that came last is left out",
        in: 0...1_000_000_000_000_000)
    private static let noNeedle = "peak"

    struct Processor: BitwiseCopyable {
        var levels: LevelPublisher.Processor
        let hasNeedle: Bool
        let reference: Float
    }

    let layout: Layout
    private let levels: LevelPublisher
    private let reference: Double

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = try settings[Self.channels]
        let needle = Needle.Kind(rawValue: try settings[Self.ballistics])
        guard needle != nil || !settings.gives(Self.reference) else {
            throw NodeError(
                "has no needle that a reference is for", hint: "set ballistics to vu, ppm2, k20 or another",
                key: Self.reference.name)
        }
        reference = try settings[Self.reference] ?? needle?.reference ?? 0
        layout = Layout(ports: Self.ports(channels: channels, hasNeedle: needle != nil))
        levels = LevelPublisher(
            channels: channels, host: host, analysis: Self.ownSeries.count, needle: needle, reference: reference,
            reports: try settings[Self.reports])
        levels.analyzer.step = try Self.step(settings[Self.seriesRate])
    }

    /// 60ths of a second of each frame.
    private static func step(_ rate: Int) throws(NodeError) -> Int {
        guard let step = Analyzer.steps.first(where: { 60 / $0 == rate }) else {
            throw NodeError(
                "has no series \(rate) times a second", hint: "use 60, 30, 20 or 10", key: seriesRate.name)
        }
        return step
    }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        levels.analyzer.step = try Self.step(Self.seriesRate.value(of: value))
    }

    /// What it shows can move anything: the loudest of all channels, of the last 60th of a second.
    private static func ports(channels: Int, hasNeedle: Bool) -> [Port] {
        func value(_ name: String, _ doc: String) -> Port { Port(VG_CONTROL_PORT, VG_OUTPUT, name, doc: doc) }
        return Layout.unchanged(channels: channels).ports
            + [
                value("peak", "the largest sample, in dBFS, -120 at least"),
                value("rms", "the root mean square, the same"),
            ]
            + (hasNeedle ? [value("needle", "what the needle shows, in dB above reference")] : [])
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(
            levels: levels.prepare(preparation), hasNeedle: layout.ports.contains { $0.symbol == "needle" },
            reference: Float(reference))
    }

    func poll() { levels.poll() }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        // What has come until now counts to what was before.
        levels.poll()
        guard let report = levels.analyzer.report else {
            throw NodeError("measures no report", hint: "set report = true in the file, and see the node's health")
        }
        switch action {
        case "reset": levels.analyzer.resetReport()
        default:
            let frames = try arguments[Self.frames]
            for (name, value) in report.fields(frames: frames) { call.put(name, value) }
        }
    }
}

extension Meter {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        measureLevels(&state.levels, block)
        let meter = state.levels.meter
        block.setControl(0, decibels(meter.peak))
        block.setControl(1, decibels(meter.rms))
        if state.hasNeedle { block.setControl(2, decibels(meter.needlePeak) - state.reference) }
    }
}

@_noLocks
private func decibels(_ level: Float) -> Float { level > 1e-6 ? 20 * vg_log10(level) : -120 }
