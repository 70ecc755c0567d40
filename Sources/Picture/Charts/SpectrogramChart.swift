// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Frequencies over the time, in colours from -90 to 0 dBFS: the spectra of a long window and of short ones together, so that
/// neighbouring tones are apart and onsets have their time (S. Cheung and J. Lim, Combined multiresolution spectrograms, 1992).
final class SpectrogramChart: ChartContent {
    /// Mean powers, the lowest frequency first.
    private struct Column {
        var powers: [Float]
        var count: Float = 1
    }

    let series: Set = ["fine_spectrum", "fast_spectra"]
    let up: Axis
    let across: Axis? = nil
    let unit = "Hz"
    let legend = "mel scale"
    let isOverMarks = true
    private let count, rows: Int
    private let rate: Double
    private var fineRows, fastRows: FrequencyRows?
    /// Levels of the long window.
    private var fine: [Float] = []
    /// How much the long window counts, the lowest frequency first.
    private let shares: [Float]
    private var columns: TimeColumns<Column>
    /// Columns that are of the time before the sound.
    private var early = 0

    static let floor: Float = -90
    /// From quiet to loud; brighter all the way, so that it reads without colours.
    static let colors = Gradient(
        even: [0x08061A, 0x3B1173, 0x8E1F7A, 0xDE4A5A, 0xFF9E45, 0xFFF4B8].map(Color.init(hex:)))
    /// Short windows, each a column, in a 60th of a second.
    private static let parts = 4

    init(columns: Int, rows: Int, rate: Double) {
        (count, self.rows, self.rate) = (max(1, columns), max(1, rows), rate)
        up = .frequency(.mel, rate / 2)
        // Low tones are near each other and slow.
        shares = (0..<max(1, rows)).map { max(0.4, 0.85 - 0.9 * Float($0) / Float(max(1, rows))) }
        self.columns = TimeColumns(limit: 2 * count) { a, b in
            a.count += b.count
            for row in a.powers.indices { a.powers[row] += b.powers[row] }
        }
    }

    /// The long window is longer than six 60ths, so that nothing is passed over.
    var step: Int { columns.perColumn >= 24 * Self.parts ? 6 : columns.perColumn >= 8 * Self.parts ? 3 : 1 }

    func take(_ series: String, _ values: [Float], _ sixtieths: Int) {
        if series == "fine_spectrum", values.count > 1 {
            if fineRows == nil {
                fineRows = FrequencyRows(.mel, count: rows, width: values.count, high: rate / 2)
                // It is of the middle of its window, which has as many samples on either side.
                early = Int((Double(values.count - 1) / rate * 60 * Double(Self.parts)).rounded())
            }
            fine = fineRows?.values(values) ?? []
        }
        let width = values.count / Self.parts
        guard series == "fast_spectra", width > 1, !fine.isEmpty else { return }
        let frequencies = fastRows ?? FrequencyRows(.mel, count: rows, width: width, high: rate / 2)
        fastRows = frequencies
        for part in 0..<Self.parts {
            let before = min(early, sixtieths)
            early -= before
            guard before < sixtieths else { continue }
            let fast = frequencies.values(values[part * width..<(part + 1) * width])
            let powers = (0..<rows).map { powf(10, (fast[$0] + (fine[$0] - fast[$0]) * shares[$0]) / 10) }
            columns.add(Column(powers: powers), sixtieths - before)
        }
    }

    /// How loud each pixel of so many seconds is, row after row: 0 is -90 dBFS or less, 255 is 0 dBFS.
    func levels(_ seconds: Double) -> [UInt8] {
        var levels = [UInt8](repeating: 0, count: count * rows)
        for (x, column) in columns.spread(over: count, of: seconds * 60 * Double(Self.parts)).enumerated() {
            for row in 0..<rows {
                let level = 10 * log10f(max(column.powers[row] / column.count, 1e-14))
                let place = min(max((level - Self.floor) / -Self.floor, 0), 1)
                levels[(rows - 1 - row) * count + x] = UInt8(place * 255)
            }
        }
        return levels
    }

    /// The colour of a level, 0 to 255.
    static func color(of level: UInt8) -> Color { colors.color(at: Float(level) / 255) }

    /// The picture alone, as a PNG file.
    private func png(_ seconds: Double) throws(NodeError) -> [UInt8] {
        var colors = PixelImage(width: 256, height: 1)
        colors.pixels = (0...255).map { Self.color(of: $0).premultiplied }
        return try PNGFile.bytes(.indices(levels(seconds), of: colors.rgb(over: .black)), width: count, height: rows)
    }

    func draw(_ out: inout SVG, _ plot: SoundChart.Plot, _ seconds: Double) throws(NodeError) {
        let picture = try png(seconds)
        out.add(
            "<image x=\"\(px(plot.x))\" y=\"\(px(plot.y))\" width=\"\(px(plot.width))\" height=\"\(px(plot.height))\" "
                + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,\(String(decoding: base64(picture), as: UTF8.self))\"/>"
        )
    }

    /// Room that the scale of colours has at the right.
    static let scaleWidth = 64.0

    func drawScale(_ out: inout SVG, _ plot: SoundChart.Plot) {
        let stops = Self.colors.stops.map { "<stop offset=\"\($0.place)\" stop-color=\"\($0.color.hex)\"/>" }
        out.add(
            "<defs><linearGradient id=\"levels\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\(stops.joined())</linearGradient></defs>"
        )
        let x = plot.right + 16
        out.add(
            "<rect fill=\"url(#levels)\" x=\"\(px(x))\" y=\"\(px(plot.y))\" width=\"12\" height=\"\(px(plot.height))\"/>"
        )
        out.text("dBFS", .quiet, x, plot.y - 10, size: 11)
        let step = plot.height >= 160 ? 10.0 : 30
        for level in stride(from: Double(Self.floor), through: 0, by: step) {
            let y = plot.y + plot.height * level / Double(Self.floor)
            out.text(String(Int(level)), .quiet, x + 18, y + 4, size: 11)
        }
    }
}
