// SPDX-License-Identifier: Apache-2.0

/// What the figures look like: a table for people, or a JSON object a line.
enum Report {
    /// The cells of a line.
    typealias Line = [String]

    static func table(_ rows: [Row]) -> String {
        let head = ["", "", "median", "10..90 %", "compared", "aim", ""]
        return aligned([head] + rows.map(cells), right: [2, 3])
    }

    /// Lines with equally many cells below each other: words to the left, figures, in these columns, to the right.
    static func aligned(_ cells: [Line], right: Set<Int>) -> String {
        let widths = (cells.first ?? []).indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { line in
            var text = ""
            for (column, cell) in line.enumerated() {
                let gap = String(repeating: " ", count: widths[column] - cell.count)
                text += "  " + (right.contains(column) ? gap + cell : cell + gap)
            }
            while text.hasSuffix(" ") { text.removeLast() }
            return text + "\n"
        }.joined()
    }

    private static func cells(_ row: Row) -> Line {
        guard row.value.median.isFinite else { return [row.item, row.subject, row.unit, "", "", "", ""] }
        let range = row.value.low == row.value.high ? "" : "\(short(row.value.low))..\(short(row.value.high))"
        let ratio = row.ratio.map { "\(short($0.median)) x \(row.against) (\(short($0.low))..\(short($0.high)))" }
        return [
            row.item, row.subject, "\(short(row.value.median)) \(row.unit)", range, ratio ?? "", row.aim,
            row.met.map { $0 ? "met" : "MISSED" } ?? "",
        ]
    }

    static func json(_ benchmark: String, _ row: Row) -> String {
        func text(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "null" }
        var fields = [
            "\"benchmark\":\(text(benchmark))", "\"item\":\(text(row.item))", "\"subject\":\(text(row.subject))",
            "\"unit\":\(text(row.unit))", "\"median\":\(number(row.value.median))", "\"low\":\(number(row.value.low))",
            "\"high\":\(number(row.value.high))",
        ]
        if let ratio = row.ratio {
            fields += [
                "\"ratio\":\(number(ratio.median))", "\"ratio_low\":\(number(ratio.low))",
                "\"ratio_high\":\(number(ratio.high))", "\"against\":\(text(row.against))",
            ]
        }
        if !row.aim.isEmpty { fields.append("\"aim\":\(text(row.aim))") }
        if let met = row.met { fields.append("\"met\":\(met)") }
        return "{" + fields.joined(separator: ",") + "}"
    }
}
