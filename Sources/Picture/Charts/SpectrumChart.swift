// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Levels over the frequencies: of the whole sound on average, and at most.
final class SpectrumChart: ChartContent {
    let series: Set = ["spectrum"]
    let up = Axis.even(-120, 0, step: 20)
    let across: Axis?
    let unit = "dBFS"
    let legend = "filled: on average; line: at most"
    let isOverMarks = false
    private let high: Double
    private var sums: [Double] = []
    private var most: [Float] = []
    private var count = 0.0

    /// Steps across the picture.
    private static let steps = 400

    init(rate: Double) {
        high = rate / 2
        across = .frequency(.ratios, high)
    }

    /// After two minutes; what is transformed at once is longer.
    var step: Int { count >= 7200 ? 3 : 1 }

    func take(_ series: String, _ values: [Float], _ sixtieths: Int) {
        guard series == "spectrum", values.count > 1 else { return }
        if sums.isEmpty {
            sums = Array(repeating: 0, count: values.count)
            most = Array(repeating: -140, count: values.count)
        }
        for index in values.indices {
            sums[index] += Double(powf(10, values[index] / 10)) * Double(sixtieths)
            most[index] = max(most[index], values[index])
        }
        count += Double(sixtieths)
    }

    func draw(_ out: inout SVG, _ plot: SoundChart.Plot, _ seconds: Double) {
        guard count > 0 else { return }
        let means = sums.map { Float(10 * log10(max($0 / count, 1e-14))) }
        let frequencies = FrequencyRows(count: Self.steps, width: means.count, high: high)
        for (values, isArea) in [(most, false), (means, true)] {
            let points = frequencies.values(values).enumerated().map { step, level -> (x: Double, y: Double) in
                let place = (Double(step) + 0.5) / Double(Self.steps)
                let height = Double(min(max((level + 120) / 120, 0), 1))
                return (plot.x + place * plot.width, plot.bottom - height * plot.height)
            }
            let line = points.map { "\(px($0.x)) \(px($0.y))" }.joined(separator: "L")
            if isArea {
                out.add(
                    "<path class=\"level audio\"\(out.fill(.audio)) fill-opacity=\"0.35\" "
                        + "d=\"M\(px(plot.x)) \(px(plot.bottom))L\(line)L\(px(plot.right)) \(px(plot.bottom))Z\"/>")
            }
            out.add(
                "<path class=\"link audio\" fill=\"none\" stroke=\"\(Palette.light(.audio))\" stroke-linejoin=\"round\" "
                    + "stroke-width=\"\(isArea ? 2 : 1)\" stroke-opacity=\"\(isArea ? 1 : 0.6)\" d=\"M\(line)\"/>")
        }
    }
}
