// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import NodeKit
import Picture
import System

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

            Of several files each is a line of a table; as many are drawn at a time as there are processors. --output is \
            then a folder, which gets a .png for each, or has {name} in it, which stands for what a file is called. What \
            fails is told, the others are drawn, and the command ends with 1.

            Examples:
              voicegraph picture morning.wav
              voicegraph picture morning.wav -o morning.png --style spectrogram --dark
              voicegraph picture one.wav two.wav -o pictures/
            """)

    enum Format: String { case png, svg }

    @OptionGroup
    var sound: SoundOptions

    @Argument(help: "More of them.", completion: .file())
    var more: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The picture to write: .png or .svg. Of several files a folder, or a name with {name} in it.",
            valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup
    var batch: BatchOptions

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
        try sound.check(files)
        if let target { _ = try format(of: target.text) }
        if style != .waveform, channels || scale != nil {
            throw ValidationError("\(channels ? "--channels" : "--scale") is for --style waveform")
        }
    }

    private var files: [String] { [sound.file] + more }
    private var target: OutputNames? { output.map { OutputNames($0, suffix: ".png") } }

    private func format(of path: String) throws -> Format {
        let end = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard path.contains("."), let format = Format(rawValue: end) else {
            throw ValidationError("\(path) must end in .png or .svg")
        }
        return format
    }

    func run() throws {
        let paths: [String]?
        do throws(Fault) {
            paths = try target?.paths(for: files)
            try target?.makeFolder()
        } catch { throw fail(error) }
        let sounds = try sound.sounds(files)
        let ended = EndFlag()
        guard !more.isEmpty else {
            let report = FileReport(rate: Measurement.rate)
            defer { report.clear() }
            do throws(Fault) {
                try draw(sounds[0], to: paths?[0], ended, report) { json ? $0.json($1) : $0.table }
            } catch {
                report.fail(error)
                throw ExitCode(1)
            }
            return
        }
        if !json { writeOut(ReportText.title) }
        let batch = Batch(count: sounds.count, rate: Measurement.rate)
        let failed = try batch.run(atOnce: self.batch.jobs) {
            !ended.isSet && !isReaderGone
        } _: { index, report in
            do throws(Fault) {
                try draw(sounds[index], to: paths?[index], ended, report) { json ? $0.json($1) : $0.row(of: $1) }
                return true
            } catch {
                report.fail(error)
                return false
            }
        }
        if ended.isSet { throw fail("interrupted") }
        if failed > 0 { throw ExitCode(1) }
    }

    /// Draws a sound into a file, if one is wanted, and writes what `text` makes of the report.
    private func draw(
        _ sound: DrawnSound, to output: String?, _ ended: EndFlag, _ report: FileReport,
        text: (ReportText, String) -> String
    ) throws(Fault) {
        try sound.withSound(ended, report) { path throws(Fault) in
            let chart = output.map { _ in
                SoundChart(
                    style, waveform: WaveformLook(hasLanes: channels, scale: scale ?? .linear), width: size.width,
                    height: size.height, rate: Measurement.rate)
            }
            let measured: Measurement.Report
            do throws(Fault) {
                measured = try Measurement(path: path, series: chart?.series ?? []).run(registry: sound.registry) {
                    report.show(Int($0 * Measurement.rate))
                    return !ended.isSet && !isReaderGone
                } take: { frame in
                    for row in frame.rows { chart?.take(row.name, row.values, at: frame.time) }
                } seriesRate: {
                    chart?.seriesRate ?? 60
                }
            } catch {
                throw error.message.hasPrefix(path) ? error : Fault("\(sound.file): \(error)")
            }
            if ended.isSet { throw Fault("interrupted") }
            let words = ReportText(measured)
            if let chart, let output { try write(chart, words, sound.name, to: output) }
            report.write(text(words, sound.file) + (json ? "\n" : ""))
        }
    }

    private func write(_ chart: SoundChart, _ words: ReportText, _ name: String, to path: String) throws(Fault) {
        let bytes: [UInt8]
        switch try? format(of: path) {
        case .svg: bytes = Array(try chart.svg(title: name, facts: words.line, seconds: words.seconds).utf8)
        default: bytes = try chart.png(title: name, facts: words.line, seconds: words.seconds, isDark: dark)
        }
        do throws(SystemError) { try WholeFile.write(bytes, to: path, mode: 0o666) } catch { throw Fault(error) }
    }
}

extension ChartStyle: ExpressibleByArgument {}
extension WaveformLook.Scale: ExpressibleByArgument {}

extension PictureSize: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package var defaultValueDescription: String { description }
}
