// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// Measures a sound file, as fast as it goes: a `file` node and a `meter`, played offline.
public struct Measurement: Sendable {
    /// What a meter reports of the whole.
    public struct Report: Sendable, Equatable {
        /// Of the file.
        public var seconds = 0.0
        /// Of the file.
        public var channels = 0
        /// In LUFS; -70: all was quieter.
        public var integrated = -70.0
        /// In LU.
        public var range = 0.0
        /// In dBTP.
        public var truePeak = -140.0
        /// Samples at full scale or beyond.
        public var clips = 0
        /// The mean of the samples of the channel where it is farthest from 0.
        public var dc = 0.0
        /// Seconds below -60 dBFS.
        public var silence = 0.0

        /// Of nothing.
        public init() {}
    }

    /// What is measured is resampled to this, in Hz.
    public static let rate = 48_000.0

    /// The sound file.
    public var path: String
    /// The series that are wanted, as `voicegraph describe meter` lists them.
    public var series: Set<String>

    /// Describes one.
    public init(path: String, series: Set<String> = []) {
        self.path = path
        self.series = series
    }

    /// Gives each frame of levels, and of each series that is wanted, to `take`, and now and then the seconds done to
    /// `progress`, which ends it by returning false. `seriesRate` is how often a second the series are needed from then on:
    /// 60, 30, 20 or 10 times. Throws if the file cannot be read, or something cannot be measured. [control]
    public func run(
        registry: NodeRegistry, progress: (Double) -> Bool = { _ in true }, take: (SeriesFrame) -> Void,
        seriesRate: () -> Int = { 60 }
    ) throws(Fault) -> Report {
        var lastRate = 60
        var report = Report()
        var end: Int?
        var pass = FilePass(name: "measure", path: path, rate: Self.rate, series: series)
        // Half of what is transformed at once.
        if series.contains("fine_spectrum") { pass.tail = Int(Self.rate / 10) }
        let played = try pass.run(
            registry: registry,
            listener: { channels in
                report.channels = channels
                let settings: [String: SettingValue] = ["channels": .integer(Int64(channels)), "report": .bool(true)]
                return NodeDescription(name: "", type: StandardType.meter, entries: settings.mapValues { Entry($0) })
            }, progress: progress,
            take: { published in
                switch published {
                case .frame(let frame): take(frame)
                // What cannot be measured is said, and makes the rest worthless here.
                case .event(let event)
                where event.name == HostEvent.health.name && event.text("state") == "degraded":
                    return event.text("reason")
                case .event(let event) where event.type?.end != nil:
                    end = Settings(event.fields).integer("frames")
                default: break
                }
                return nil
            },
            adjust: { meter throws(NodeError) in
                let rate = seriesRate()
                if rate != lastRate { try meter.setHere("series_rate", to: .integer(Int64(rate))) }
                lastRate = rate
            },
            finish: { meter throws(NodeError) in
                // What is played in blocks ends with zeros.
                let arguments = end.map { ["frames": SettingValue.integer(Int64($0))] } ?? [:]
                let fields = Settings(try meter.performAndWait("report", arguments))
                report.integrated = fields.number("integrated") ?? report.integrated
                report.range = fields.number("range") ?? 0
                report.truePeak = fields.number("true_peak") ?? report.truePeak
                report.clips = fields.integer("clips") ?? 0
                report.dc = fields.number("dc") ?? 0
                report.silence = fields.number("silence") ?? 0
            })
        report.seconds = end.map { Double($0) / Self.rate } ?? played
        return report
    }
}
