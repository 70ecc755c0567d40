// SPDX-License-Identifier: Apache-2.0
import Archive
import Glibc
import Host
import JSON
import System
import Terminal

/// Rows under titles. On a terminal no line is longer than that is wide: the last column is cut.
struct TextTable {
    /// A column; numbers stand to the right.
    struct Column {
        var title: String
        var isNumber = false

        init(_ title: String, number isNumber: Bool = false) { (self.title, self.isNumber) = (title, isNumber) }
    }

    let columns: [Column]
    /// As many texts as there are columns in each.
    var rows: [[String]] = []

    init(_ columns: Column...) { self.columns = columns }

    /// All of it; `width` nil: as long as the lines are.
    func text(width: Int? = terminalWidth()) -> String {
        let cells = ([columns.map(\.title)] + rows).map { $0.map(printable) }
        let widths = columns.indices.map { index in cells.map { Terminal.columns($0[index]) }.max() ?? 0 }
        return cells.map { row in
            var line = ""
            for (index, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[index] - Terminal.columns(cell))
                let isLast = index == columns.count - 1
                line += columns[index].isNumber ? space + cell : cell + (isLast ? "" : space)
                if !isLast { line += "  " }
            }
            return trimmedRight(width.map { cut(line, $0) } ?? line) + "\n"
        }.joined()
    }
}

/// For programs: an object a line.
func jsonLines(_ records: [some ArchivedRecord]) -> String {
    records.map { record in
        JSONText.object(record.fields.map { ($0.name, $0.value.map { EventJSON.value($0) } ?? "null") }) + "\n"
    }.joined()
}

/// Columns of the terminal that standard output is; nil: it is none.
func terminalWidth() -> Int? {
    var size = winsize()
    guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
        return nil
    }
    return Int(size.ws_col)
}

/// A text in at most so many columns; "..." stands for what is left out.
func cut(_ text: String, _ width: Int) -> String {
    guard Terminal.columns(text) > width else { return text }
    var text = text
    while !text.isEmpty, Terminal.columns(text) > max(0, width - 3) { text.removeLast() }
    return text + "..."
}
