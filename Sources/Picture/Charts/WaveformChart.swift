// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The samples over the time, of all channels together or of each in a lane of its own: from the least to the largest, and
/// how loud it is inside.
final class WaveformChart: ChartContent {
    private struct Column {
        var least: Float
        var largest: Float
    }

    private struct Lane {
        var extremes: TimeColumns<Column>
        var powers: TimeColumns<(sum: Float, count: Float)>

        init(columns: Int) {
            extremes = TimeColumns(limit: 8 * columns) { a, b in
                (a.least, a.largest) = (min(a.least, b.least), max(a.largest, b.largest))
            }
            powers = TimeColumns(limit: 8 * columns) { a, b in (a.sum, a.count) = (a.sum + b.sum, a.count + b.count) }
        }
    }

    let series: Set<String>
    let across: Axis? = nil
    let unit: String
    let legend = "light: from the least sample to the largest; dark: their mean power"
    let isOverMarks = false
    private let look: WaveformLook
    private let count: Int
    private var lanes: [Lane] = []

    /// Pairs of each channel in a row of its series.
    private static let pairs = 16
    /// What stands in the middle of a scale in dB.
    private static let floor: Float = -80
    /// The part of the height that is between two lanes.
    private static let gap = 0.03

    init(_ look: WaveformLook, columns: Int) {
        (self.look, count) = (look, max(1, columns))
        series = [look.hasLanes ? "waveforms" : "waveform"]
        unit = look.scale == .db ? "dBFS" : ""
    }

    func take(_ series: String, _ values: [Float], _ sixtieths: Int) {
        switch series {
        case "waveform", "waveforms":
            for start in stride(from: 0, to: values.count - 1, by: 2) {
                let lane = start / (2 * Self.pairs)
                add(lane)
                lanes[lane].extremes.add(Column(least: values[start], largest: values[start + 1]))
            }
        case "rms":
            // The loudest channel, or each.
            for (lane, level) in (look.hasLanes ? values : [values.max() ?? 0]).enumerated() {
                add(lane)
                lanes[lane].powers.add((level * level, 1))
            }
        default: break
        }
    }

    private func add(_ lane: Int) { while lanes.count <= lane { lanes.append(Lane(columns: count)) } }

    // MARK: where things stand

    /// How high a sample stands, -1 to 1.
    private func height(_ sample: Float) -> Double {
        guard look.scale == .db else { return Double(min(max(sample, -1), 1)) }
        let level = 20 * log10f(max(sample.magnitude, 1e-7))
        let height = min(max(1 - level / Self.floor, 0), 1)
        return Double(sample < 0 ? -height : height)
    }

    /// The middle of a lane, and how far it reaches from there; as parts of the height, from the top.
    private func extent(_ lane: Int) -> (middle: Double, reach: Double) {
        let part = 1 / Double(max(1, lanes.count))
        return (part * (Double(lane) + 0.5), part / 2 * (lanes.count > 1 ? 1 - Self.gap : 1))
    }

    var up: Axis {
        // In tenths, or in dB from the middle.
        let steps = look.scale == .linear ? [-10, -5, 0, 5, 10] : Array(stride(from: -80, through: 80, by: 20))
        let most = steps.last ?? 1
        let heights = steps.map { step -> (Double, String) in
            let label =
                look.scale == .db ? "\(abs(step) - most)" : step % 10 == 0 ? "\(step / 10)" : tenths(Double(step) / 10)
            return (Double(step) / Double(most), label)
        }
        // Where there are lanes, their edges are seen, and have no room for a number.
        let shown = lanes.count > 1 ? heights.dropFirst().dropLast() : heights[...]
        return Axis(
            marks: lanes.indices.reversed().flatMap { lane in
                let (middle, reach) = extent(lane)
                return shown.map { Axis.Mark(place: 1 - middle + $0.0 * reach, label: $0.1) }
            })
    }

    func draw(_ out: inout SVG, _ plot: SoundChart.Plot, _ seconds: Double) {
        for (index, lane) in lanes.enumerated() {
            let columns = lane.extremes.spread(over: count, of: seconds * 60 * Double(Self.pairs))
            area(&out, plot, index, columns.map { ($0.least, $0.largest) }, opacity: 0.5)
            let levels = lane.powers.spread(over: count, of: seconds * 60).map {
                ($0.sum / max(1, $0.count)).squareRoot()
            }
            area(&out, plot, index, levels.map { (-$0, $0) }, opacity: 1)
            if index > 0 {
                let y = plot.y + plot.height * Double(index) / Double(lanes.count)
                out.add(
                    "<rect class=\"ground\"\(out.fill(.ground)) x=\"\(px(plot.x))\" y=\"\(px(y - 1))\" "
                        + "width=\"\(px(plot.width))\" height=\"2\"/>")
            }
        }
    }

    private func area(
        _ out: inout SVG, _ plot: SoundChart.Plot, _ lane: Int, _ columns: [(Float, Float)], opacity: Double
    ) {
        guard !columns.isEmpty else { return }
        let step = plot.width / Double(columns.count)
        let (middle, reach) = extent(lane)
        let zero = plot.y + plot.height * middle
        func y(_ value: Float) -> Double { zero - plot.height * reach * height(value) }
        // Silence is a line.
        func top(_ column: (Float, Float)) -> Double { min(y(column.1), zero - 0.5) }
        func bottom(_ column: (Float, Float)) -> Double { max(y(column.0), zero + 0.5) }
        var path = "M\(px(plot.x)) \(px(top(columns[0])))"
        for (place, column) in columns.enumerated() {
            path += "V\(px(top(column)))H\(px(plot.x + step * Double(place + 1)))"
        }
        for (place, column) in columns.enumerated().reversed() {
            path += "V\(px(bottom(column)))H\(px(plot.x + step * Double(place)))"
        }
        out.add("<path class=\"level audio\"\(out.fill(.audio)) fill-opacity=\"\(opacity)\" d=\"\(path)Z\"/>")
    }
}
