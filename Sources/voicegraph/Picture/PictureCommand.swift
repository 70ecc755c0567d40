// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import LV2
import NodeKit
import Picture

/// `voicegraph picture`: draws a sound file, and says what a meter finds in it.
struct PictureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Draw a sound file or what a graph plays, and report its loudness, peak and faults.",
        discussion: """
            Without --output only the report is made. Styles: waveform (samples, and how loud they are), spectrogram \
            (frequencies on the mel scale over the time, -90 to 0 dBFS, of windows of 171 and 21 ms together), spectrum (the mean, and the most) and loudness (momentary and \
            short-term, with -23 LUFS). What is measured is resampled to 48 kHz. A graph is rendered first, \
            as `voicegraph render` does.

            Examples:
              voicegraph picture morning.wav
              voicegraph picture morning.wav -o morning.png --style spectrogram --dark
              voicegraph picture morning.wav -o quiet.svg --channels --scale db
            """)

    enum Format: String { case png, svg }

    @OptionGroup
    var sound: SoundOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The picture to write: .png or .svg.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: "What to draw: waveform, spectrogram, spectrum or loudness.")
    var style = ChartStyle.waveform

    @Flag(help: "Waveform: each channel in a lane of its own.")
    var channels = false

    @Option(help: "Waveform: linear, or db, which shows what is quiet, down to -80 dBFS.")
    var scale: WaveformLook.Scale?

    @Option(help: ArgumentHelp("Of the picture, in pixels.", valueName: "width x height"))
    var size = PictureSize(width: 1200, height: 480)

    @Flag(help: "PNG: light on dark.")
    var dark = false

    @Flag(help: "Print the report as a JSON object.")
    var json = false

    func validate() throws {
        if output != nil { _ = try format() }
        if style != .waveform, channels || scale != nil {
            throw ValidationError("\(channels ? "--channels" : "--scale") is for --style waveform")
        }
    }

    private func format() throws -> Format {
        let name = output ?? ""
        let end = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard name.contains("."), let format = Format(rawValue: end) else {
            throw ValidationError("\(name) must end in .png or .svg")
        }
        return format
    }

    func run() throws {
        if let output, let old = FileIdentity(output), FileIdentity(sound.file) == old {
            throw fail("the picture would be written over \(output), which is to be drawn; name another file")
        }
        let ended = EndFlag()
        try sound.withSound(ended) { try draw($0, ended) }
    }

    private func draw(_ path: String, _ ended: EndFlag) throws {
        let chart = output.map { _ in
            SoundChart(
                style, waveform: WaveformLook(hasLanes: channels, scale: scale ?? .linear), width: size.width,
                height: size.height, rate: Measurement.rate)
        }
        let registry = NodeRegistry(search: try sound.plugins.search())
        let bar = ProgressBar(rate: Measurement.rate)
        let report: Measurement.Report
        do throws(Fault) {
            report = try Measurement(path: path, series: chart?.series ?? []).run(registry: registry) {
                bar.show(Int($0 * Measurement.rate))
                return !ended.isSet && !isReaderGone
            } take: { frame in
                for row in frame.rows { chart?.take(row.name, row.values, at: frame.time) }
            } seriesRate: {
                chart?.seriesRate ?? 60
            }
            bar.clear()
        } catch {
            bar.clear()
            throw fail(error.message.hasPrefix(path) ? "\(error)" : "\(sound.file): \(error)")
        }
        if ended.isSet { throw fail("interrupted") }
        if let chart, let output {
            let text = ReportText(report)
            let bytes: [UInt8]
            do throws(NodeError) {
                bytes =
                    switch try? format() {
                    case .svg: Array(try chart.svg(title: sound.name, facts: text.line, seconds: report.seconds).utf8)
                    default:
                        try chart.png(title: sound.name, facts: text.line, seconds: report.seconds, isDark: dark)
                    }
            } catch { throw fail(error) }
            try writeWhole(bytes, to: output)
        }
        writeOut(json ? ReportText(report).json(sound.file) + "\n" : ReportText(report).table)
    }
}

extension ChartStyle: ExpressibleByArgument {}
extension WaveformLook.Scale: ExpressibleByArgument {}

extension PictureSize: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package var defaultValueDescription: String { description }
}
