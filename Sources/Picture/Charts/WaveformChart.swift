// SPDX-License-Identifier: Apache-2.0

/// The samples of all channels over the time: from the least to the largest, and how loud it is inside.
final class WaveformChart: ChartContent {
    private struct Column {
        var least: Float
        var largest: Float
    }

    let up = Axis(
        marks: [(0, "-1"), (0.25, "-0.5"), (0.5, "0"), (0.75, "0.5"), (1, "1")].map {
            Axis.Mark(place: $0.0, label: $0.1)
        })
    let across: Axis? = nil
    let unit = ""
    let legend = "light: from the least sample to the largest; dark: their mean power"
    let isOverMarks = false
    private let count: Int
    private var extremes: TimeColumns<Column>
    private var powers: TimeColumns<(sum: Float, count: Float)>

    init(columns: Int) {
        count = max(1, columns)
        extremes = TimeColumns(limit: 8 * count) { a, b in
            (a.least, a.largest) = (min(a.least, b.least), max(a.largest, b.largest))
        }
        powers = TimeColumns(limit: 8 * count) { a, b in (a.sum, a.count) = (a.sum + b.sum, a.count + b.count) }
    }

    func take(_ series: String, _ values: [Float], _ sixtieths: Int) {
        switch series {
        case "waveform":
            for place in stride(from: 0, to: values.count - 1, by: 2) {
                extremes.add(Column(least: values[place], largest: values[place + 1]))
            }
        case "rms":
            // The loudest channel.
            let most = values.max() ?? 0
            powers.add((most * most, 1))
        default: break
        }
    }

    func draw(_ out: inout SVG, _ plot: SoundChart.Plot) {
        let columns = extremes.spread(over: count)
        area(&out, plot, columns.map { ($0.least, $0.largest) }, opacity: 0.5)
        let levels = powers.spread(over: count).map { ($0.sum / max(1, $0.count)).squareRoot() }
        area(&out, plot, levels.map { (-$0, $0) }, opacity: 1)
    }

    private func area(_ out: inout SVG, _ plot: SoundChart.Plot, _ columns: [(Float, Float)], opacity: Double) {
        guard !columns.isEmpty else { return }
        let step = plot.width / Double(columns.count)
        func y(_ value: Float) -> Double {
            plot.y + plot.height * (1 - (Double(min(max(value, -1), 1)) + 1) / 2)
        }
        // Silence is a line.
        func top(_ column: (Float, Float)) -> Double { min(y(column.1), y(0) - 0.5) }
        func bottom(_ column: (Float, Float)) -> Double { max(y(column.0), y(0) + 0.5) }
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
