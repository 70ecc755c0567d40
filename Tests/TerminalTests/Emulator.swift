// SPDX-License-Identifier: Apache-2.0

/// As much of a terminal as the screen uses: applies bytes to a grid and remembers every sequence it saw.
struct Emulator {
    struct Cell: Equatable {
        var text: Character = " "
        var style = ""
        var isRightHalf = false
    }

    let width: Int
    let height: Int
    var cells: [[Cell]]
    /// The escape sequences, without the escape character.
    var sequences: [String] = []
    /// What was said of pictures, and where the cursor was.
    var pictures: [Picture] = []
    struct Picture {
        var x, y: Int
        /// Sixels; kitty's otherwise.
        var isDevice: Bool
        var text: String
    }
    /// What no terminal of this size should get.
    var faults: [String] = []
    private var x = 0
    private var y = 0
    private var style = ""

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        cells = Array(repeating: Array(repeating: Cell(), count: width), count: height)
    }

    mutating func apply(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return faults.append("not UTF-8") }
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            if scalar == "\u{1B}" {
                let kind = rest.popFirst()
                if kind == "_" || kind == "P" {
                    string(&rest, kind == "P")
                    continue
                }
                guard kind == "[" else {
                    faults.append("escape without [")
                    continue
                }
                var sequence = "["
                while let next = rest.popFirst() {
                    sequence.unicodeScalars.append(next)
                    if (0x40...0x7E).contains(next.value) { break }
                }
                sequences.append(sequence)
                run(sequence)
            } else if scalar.value < 32 || (0x7F..<0xA0).contains(scalar.value) {
                faults.append("control character \(scalar.value)")
            } else {
                put(scalar)
            }
        }
    }

    /// A string of a program (pictures of kitty) or of the device (sixels), up to its end.
    private mutating func string(_ rest: inout Substring.UnicodeScalarView, _ isDevice: Bool) {
        let end = rest.firstIndex(of: "\u{1B}") ?? rest.endIndex
        pictures.append(Picture(x: x, y: y, isDevice: isDevice, text: String(rest[..<end])))
        rest = rest[end...]
        if rest.popFirst() != "\u{1B}" || rest.popFirst() != "\\" { faults.append("a string without an end") }
    }

    private mutating func run(_ sequence: String) {
        let numbers = sequence.dropFirst().dropLast().split(separator: ";").compactMap { Int($0) }
        switch sequence.last {
        case "H":
            y = (numbers.first ?? 1) - 1
            x = (numbers.dropFirst().first ?? 1) - 1
            if y < 0 || y >= height || x < 0 || x >= width { faults.append("cursor outside: \(sequence)") }
        case "m":
            let code = String(sequence.dropFirst().dropLast())
            style = code == "0" ? "" : code.hasPrefix("0;") ? code : style + ";" + code
        case "J": cells = Array(repeating: Array(repeating: Cell(), count: width), count: height)
        case "h", "l": break
        default: faults.append("unknown sequence \(sequence)")
        }
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let category = scalar.properties.generalCategory
        if category == .nonspacingMark || category == .enclosingMark {
            guard x > 0 else { return faults.append("mark at the left edge") }
            var column = x - 1
            if cells[y][column].isRightHalf { column -= 1 }
            cells[y][column].text = Character(String(cells[y][column].text) + String(Character(scalar)))
            return
        }
        let wide =
            scalar.properties.isEmojiPresentation || (0x3000...0x9FFF).contains(scalar.value)
            || (0xAC00...0xD7A3).contains(scalar.value) || (0xFF01...0xFF60).contains(scalar.value)
        let columns = wide ? 2 : 1
        guard y < height, x + columns <= width else { return faults.append("text beyond column \(width) of row \(y)") }
        cells[y][x] = Cell(text: Character(scalar), style: style)
        if wide { cells[y][x + 1] = Cell(text: " ", style: style, isRightHalf: true) }
        x += columns
    }

    /// One row as text, without what is blank at its end.
    func row(_ y: Int) -> String {
        var text = String(cells[y].filter { !$0.isRightHalf }.map(\.text))
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }

    /// All rows.
    var text: String { (0..<height).map { row($0) }.joined(separator: "\n") }

    /// The colour codes of all SGR sequences.
    var colorCodes: [String] {
        sequences.filter { $0.hasSuffix("m") }.flatMap { sequence -> [String] in
            sequence.dropFirst().dropLast().split(separator: ";").map(String.init)
        }
    }
}
