// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// What is drawn of a whole sound.
public enum ChartStyle: String, Sendable, CaseIterable {
    case waveform, spectrogram, spectrum, loudness
}

/// How a waveform is drawn.
public struct WaveformLook: Sendable {
    /// How high a sample stands.
    public enum Scale: String, Sendable, CaseIterable {
        /// As large as it is.
        case linear
        /// By its level in dB, so that what is quiet is seen.
        case db
    }

    /// Whether each channel has a lane of its own.
    public var hasLanes: Bool
    /// How high samples stand.
    public var scale: Scale

    /// Describes one.
    public init(hasLanes: Bool = false, scale: Scale = .linear) { (self.hasLanes, self.scale) = (hasLanes, scale) }
}

/// A picture of a whole sound, in one of several styles: takes what was measured, frame after frame, and draws it in the
/// end. The same frames give the same picture.
public final class SoundChart {
    /// Where the picture itself is, in a drawing with its axes.
    struct Plot {
        var x, y, width, height: Double
        var right: Double { x + width }
        var bottom: Double { y + height }
    }

    private let width, height: Int
    private let content: any ChartContent
    private let plot: Plot
    private let hasAxes: Bool
    /// Of each series: where its last frame ended, in 60ths of a second.
    private var ends: [String: Int] = [:]

    /// Draws into so many pixels; pictures that are small have no words and axes. `rate` in Hz: of the sound that is
    /// measured.
    public init(_ style: ChartStyle, waveform: WaveformLook = WaveformLook(), width: Int, height: Int, rate: Double) {
        (self.width, self.height) = (max(1, width), max(1, height))
        hasAxes = width >= 320 && height >= 160
        let (wide, tall) = (Double(self.width), Double(self.height))
        let scale = style == .spectrogram ? SpectrogramChart.scaleWidth : 0
        plot =
            hasAxes
            ? Plot(x: 64, y: 64, width: wide - 64 - 24 - scale, height: tall - 64 - 40)
            : Plot(x: 0, y: 0, width: wide, height: tall)
        let (columns, rows) = (Int(plot.width), Int(plot.height))
        content =
            switch style {
            case .waveform: WaveformChart(waveform, columns: columns)
            case .spectrogram: SpectrogramChart(columns: columns, rows: rows, rate: rate)
            case .spectrum: SpectrumChart(rate: rate)
            case .loudness: LoudnessChart(columns: columns)
            }
    }

    /// The series that it is drawn from, beside levels.
    public var series: Set<String> { content.series }

    /// Frames a second of its series that it needs from now on: 60, or fewer of a long sound, of which many would share a
    /// column.
    public var seriesRate: Int { 60 / content.step }

    /// Takes a frame of a series that ends so many seconds after the beginning; nil: a 60th of a second after the last.
    public func take(_ series: String, _ values: [Float], at seconds: Double? = nil) {
        let last = ends[series] ?? 0
        let end = seconds.map { Int(($0 * 60).rounded()) } ?? last + 1
        ends[series] = max(end, last + 1)
        content.take(series, values, max(1, end - last))
    }

    /// The drawing as an SVG file; `title` and `facts` stand above it, `seconds` is how long the sound is. Throws where a
    /// library is missing.
    public func svg(title: String, facts: String, seconds: Double) throws(NodeError) -> String {
        var out = SVG(width: Double(width), height: Double(height))
        if hasAxes { head(&out, title, facts) }
        out.add(
            "<rect class=\"box\"\(out.fill(.box)) x=\"\(px(plot.x))\" y=\"\(px(plot.y))\" "
                + "width=\"\(px(plot.width))\" height=\"\(px(plot.height))\"/>")
        let isFramed = content.isOverMarks
        if hasAxes, !isFramed { axes(&out, seconds) }
        try content.draw(&out, plot, seconds)
        if hasAxes, isFramed { axes(&out, seconds) }
        if hasAxes { content.drawScale(&out, plot) }
        return out.file(title: title)
    }

    /// The drawing as a PNG file.
    public func png(title: String, facts: String, seconds: Double, isDark: Bool) throws(NodeError) -> [UInt8] {
        let size = SIMD2(Double(width), Double(height))
        return try rasterized(
            try svg(title: title, facts: facts, seconds: seconds), size, scale: 1, isDark: isDark)
    }

    private func head(_ out: inout SVG, _ title: String, _ facts: String) {
        let room = Double(width) - 2 * 24
        let words = textWidth(facts, 12) + 24 > room - textWidth(title, 17) ? "" : facts
        let letters = Int((room - (words.isEmpty ? 0 : textWidth(words, 12) + 24)) / (17 * 0.6))
        let shown = title.count > letters ? title.prefix(max(1, letters - 1)) + "…" : title[...]
        out.text(String(shown), .text, 24, 32, size: 17, isBold: true)
        out.text(words, .quiet, Double(width) - 24, 32, size: 12, anchor: .end)
    }

    private func axes(_ out: inout SVG, _ seconds: Double) {
        let across = content.across ?? Axis.time(seconds, width: plot.width)
        for mark in across.marks {
            let x = plot.x + mark.place * plot.width
            line(&out, x, plot.y, x, plot.bottom)
            let label = textWidth(mark.label, 11) / 2
            out.text(
                mark.label, .quiet, min(max(x, plot.x + label), plot.right - label), plot.bottom + 18, size: 11,
                anchor: .middle)
        }
        var last = Double.infinity
        for mark in content.up.marks {
            let y = plot.bottom - mark.place * plot.height
            // What has no room is left out.
            guard last - y >= 14 else { continue }
            last = y
            line(&out, plot.x, y, plot.right, y)
            out.text(mark.label, .quiet, plot.x - 8, y + 4, size: 11, anchor: .end)
        }
        out.text(content.unit, .quiet, plot.x - 8, plot.y - 10, size: 11, anchor: .end)
        if textWidth(content.legend, 11) < plot.width {
            out.text(content.legend, .quiet, plot.right, plot.y - 10, size: 11, anchor: .end)
        }
    }

    private func line(_ out: inout SVG, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        out.add(
            "<path class=\"mark\" fill=\"none\" stroke=\"\(Palette.light(.edge))\" stroke-width=\"1\" "
                + "stroke-opacity=\"\(content.isOverMarks ? 0.25 : 0.6)\" d=\"M\(px(x1)) \(px(y1))L\(px(x2)) \(px(y2))\"/>"
        )
    }
}

/// What is different from style to style.
protocol ChartContent: AnyObject {
    /// What it is drawn from.
    var series: Set<String> { get }
    /// Upwards.
    var up: Axis { get }
    /// From left to right; nil: time.
    var across: Axis? { get }
    /// What the numbers at the left are.
    var unit: String { get }
    /// What is what.
    var legend: String { get }
    /// Whether it covers what is below, so that the marks lie on it.
    var isOverMarks: Bool { get }

    /// How many 60ths of a second a frame may stand for: no more than what was measured until now lets nobody see.
    var step: Int { get }

    /// Takes what was measured in so many 60ths of a second.
    func take(_ series: String, _ values: [Float], _ sixtieths: Int)
    /// Draws so many seconds.
    func draw(_ out: inout SVG, _ plot: SoundChart.Plot, _ seconds: Double) throws(NodeError)
    /// Draws what its colours are, at the right.
    func drawScale(_ out: inout SVG, _ plot: SoundChart.Plot)
}

extension ChartContent {
    /// Every one.
    var step: Int { 1 }
    /// None: its colours are no levels.
    func drawScale(_ out: inout SVG, _ plot: SoundChart.Plot) {}
}

/// Places along a side of a picture, 0 to 1.
struct Axis {
    struct Mark {
        var place: Double
        var label: String
    }

    var marks: [Mark]

    /// Values from `low` to `high`, every `step`.
    static func even(_ low: Double, _ high: Double, step: Double) -> Axis {
        Axis(
            marks: stride(from: low, through: high, by: step).map {
                Mark(place: ($0 - low) / (high - low), label: String(Int($0)))
            })
    }

    /// Frequencies in Hz, up to `high`.
    static func frequency(_ scale: FrequencyScale, _ high: Double) -> Axis {
        let all = [0.0, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]
        return Axis(
            marks: all.filter { $0 <= high && scale.place(of: $0, high: high) >= 0 }.map { frequency in
                let label = frequency >= 1000 ? "\(Int(frequency / 1000))k" : String(Int(frequency))
                return Mark(place: scale.place(of: frequency, high: high), label: label)
            })
    }

    /// Time from 0, in steps that people count in.
    static func time(_ seconds: Double, width: Double) -> Axis {
        let steps = [
            0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400,
            28_800, 86_400,
        ]
        guard seconds > 0 else { return Axis(marks: [Mark(place: 0, label: "0 s")]) }
        let step = steps.first { seconds / $0 * 84 <= width } ?? 86_400 * (seconds / 86_400 / 8).rounded(.up)
        return Axis(
            marks: stride(from: 0, through: seconds, by: step).map { time in
                Mark(place: time / seconds, label: label(time, step))
            })
    }

    private static func label(_ time: Double, _ step: Double) -> String {
        if step < 1 {
            let places = step < 0.1 ? 100.0 : 10
            return "\((time * places).rounded() / places) s"
        }
        let whole = Int(time.rounded())
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if whole >= 3600 { return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))" }
        return "\(whole / 60):\(two(whole % 60))"
    }
}
