// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Momentary and short-term loudness over the time, and -23 LUFS, which EBU R 128 asks of a whole programme.
final class LoudnessChart: ChartContent {
    let series: Set = ["lufs_m", "lufs_s"]
    let up = Axis.even(-60, 0, step: 10)
    let across: Axis? = nil
    let unit = "LUFS"
    let legend = "filled: momentary; line: short-term; dashed: -23 LUFS (EBU R 128)"
    let isOverMarks = false
    private let count: Int
    private var momentary, shortTerm: TimeColumns<Float>

    /// What programmes are to have.
    private static let target = -23.0

    init(columns: Int) {
        count = max(1, columns)
        // The loudest of a column.
        momentary = TimeColumns(limit: 4 * count) { $0 = max($0, $1) }
        shortTerm = TimeColumns(limit: 4 * count) { $0 = max($0, $1) }
    }

    /// Ten times a second is as often as EBU Tech 3341 asks a meter to look.
    var step: Int { momentary.perColumn >= 12 ? 6 : 1 }

    func take(_ series: String, _ values: [Float], _ sixtieths: Int) {
        guard let value = values.first else { return }
        switch series {
        case "lufs_m": momentary.add(value, sixtieths)
        case "lufs_s": shortTerm.add(value, sixtieths)
        default: break
        }
    }

    func draw(_ out: inout SVG, _ plot: SoundChart.Plot, _ seconds: Double) {
        func y(_ value: Double) -> Double { plot.bottom - min(max((value + 60) / 60, 0), 1) * plot.height }
        func path(_ values: [Float]) -> String {
            let step = plot.width / Double(max(1, values.count))
            return values.enumerated().map { place, value in
                "\(px(plot.x + (Double(place) + 0.5) * step)) \(px(y(Double(value))))"
            }.joined(separator: "L")
        }
        let loud = momentary.spread(over: count, of: seconds * 60)
        if !loud.isEmpty {
            out.add(
                "<path class=\"level audio\"\(out.fill(.audio)) fill-opacity=\"0.35\" "
                    + "d=\"M\(px(plot.x)) \(px(plot.bottom))L\(path(loud))L\(px(plot.right)) \(px(plot.bottom))Z\"/>")
        }
        out.add(
            "<path class=\"link control\" fill=\"none\" stroke=\"\(Palette.light(.control))\" stroke-width=\"1.5\" "
                + "stroke-dasharray=\"6 4\" d=\"M\(px(plot.x)) \(px(y(Self.target)))H\(px(plot.right))\"/>")
        let smooth = shortTerm.spread(over: count, of: seconds * 60)
        if !smooth.isEmpty {
            out.add(
                "<path class=\"link audio\" fill=\"none\" stroke=\"\(Palette.light(.audio))\" stroke-linejoin=\"round\" "
                    + "stroke-width=\"2\" d=\"M\(path(smooth))\"/>")
        }
    }
}
