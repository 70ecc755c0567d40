// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Parts of a row of numbers, one for each frequency in even steps from 0 to `high`, as they lie between the heights of a
/// picture whose frequencies are in equal ratios.
struct FrequencyRows {
    /// The largest of some numbers, or what lies between two of them.
    private enum Row {
        case largest(ClosedRange<Int>)
        case between(Int, part: Float)
    }

    /// The lowest frequency of a picture, in Hz.
    static let low = 20.0
    private let rows: [Row]

    /// `count`: heights, each to the next; `width`: numbers of a row.
    init(count: Int, width: Int, high: Double) {
        func place(_ height: Double) -> Double {
            Self.low * pow(high / Self.low, height / Double(count)) * Double(width - 1) / high
        }
        rows = (0..<count).map { row in
            let (first, last) = (place(Double(row)), place(Double(row + 1)))
            let (start, end) = (Int(first.rounded(.up)), min(Int(last.rounded(.down)), width - 1))
            if start <= end { return .largest(start...end) }
            let middle = min((first + last) / 2, Double(width - 1))
            return .between(min(Int(middle), width - 2), part: Float(middle - Double(min(Int(middle), width - 2))))
        }
    }

    /// One for each row, the lowest frequency first.
    func values(_ numbers: [Float]) -> [Float] {
        rows.map { row in
            switch row {
            case .largest(let range):
                var largest = numbers[range.lowerBound]
                for index in range where numbers[index] > largest { largest = numbers[index] }
                return largest
            case .between(let index, let part): return numbers[index] * (1 - part) + numbers[index + 1] * part
            }
        }
    }
}

/// Frequencies over the time, in colours from -120 to 0 dBFS.
final class SpectrogramChart: ChartContent {
    /// Mean powers, the lowest frequency first.
    private struct Column {
        var powers: [Float]
        var count: Float = 1
    }

    let up: Axis
    let across: Axis? = nil
    let unit = "Hz"
    let legend = "-120 dBFS dark, 0 dBFS bright"
    let isOverMarks = true
    private let count, rows: Int
    private let high: Double
    private var frequencies: FrequencyRows?
    private var columns: TimeColumns<Column>

    static let floor: Float = -120
    /// From quiet to loud; brighter all the way, so that it reads without colours.
    static let colors = Gradient(
        even: [0x08061A, 0x3B1173, 0x8E1F7A, 0xDE4A5A, 0xFF9E45, 0xFFF4B8].map(Color.init(hex:)))

    init(columns: Int, rows: Int, rate: Double) {
        (count, self.rows) = (max(1, columns), max(1, rows))
        high = rate / 2
        up = .frequency(FrequencyRows.low, high)
        self.columns = TimeColumns(limit: 2 * count) { a, b in
            a.count += b.count
            for row in a.powers.indices { a.powers[row] += b.powers[row] }
        }
    }

    /// What is transformed at once is longer than three 60ths, so that nothing is passed over.
    var step: Int { columns.perColumn >= 24 ? 3 : 1 }

    func take(_ series: String, _ values: [Float], _ sixtieths: Int) {
        guard series == "spectrum", values.count > 1 else { return }
        let frequencies = frequencies ?? FrequencyRows(count: rows, width: values.count, high: high)
        self.frequencies = frequencies
        columns.add(Column(powers: frequencies.values(values).map { powf(10, $0 / 10) }), sixtieths)
    }

    /// The picture alone.
    func image() -> PixelImage {
        var image = PixelImage(width: count, height: rows)
        let table = (0..<256).map { Self.colors.color(at: Float($0) / 255).premultiplied }
        for index in image.pixels.indices { image.pixels[index] = table[0] }
        for (x, column) in columns.spread(over: count).enumerated() {
            for row in 0..<rows {
                let level = 10 * log10f(max(column.powers[row] / column.count, 1e-14))
                let place = min(max((level - Self.floor) / -Self.floor, 0), 1)
                image.pixels[(rows - 1 - row) * count + x] = table[Int(place * 255)]
            }
        }
        return image
    }

    func draw(_ out: inout SVG, _ plot: SoundChart.Plot) throws(NodeError) {
        let picture = try image().png()
        out.add(
            "<image x=\"\(px(plot.x))\" y=\"\(px(plot.y))\" width=\"\(px(plot.width))\" height=\"\(px(plot.height))\" "
                + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,\(String(decoding: base64(picture), as: UTF8.self))\"/>"
        )
    }
}
