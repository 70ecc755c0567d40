// SPDX-License-Identifier: Apache-2.0

/// Turns grids into the bytes that bring a terminal from one to the next.
struct Painter: Sendable {
    private(set) var shown: Canvas?
    private var images: ImagePainter

    init(_ capabilities: TerminalCapabilities = TerminalCapabilities()) {
        images = ImagePainter(capabilities.graphics, ground: capabilities.ground)
    }

    /// Forgets what the terminal shows: the next frame is painted in full.
    mutating func forget() { shown = nil }

    /// The bytes that make the terminal show `canvas`; none if it does already. A frame is bracketed by the marks of
    /// synchronized output, which terminals that do not know them ignore.
    mutating func frame(_ canvas: Canvas) -> [UInt8] {
        let full = shown == nil || shown!.width != canvas.width || shown!.height != canvas.height
        let before = full ? Canvas(width: canvas.width, height: canvas.height) : shown!
        var canvas = canvas
        let rows = full ? Array(0..<canvas.height) : canvas.keep(what: before)
        shown = canvas
        let pictures = images.frame(canvas.images, all: full)
        if !full, rows.isEmpty, pictures.isEmpty { return [] }
        var pen = Pen()
        pen.text("\u{1B}[?2026h")
        if full { pen.text("\u{1B}[0m\u{1B}[2J") }
        for y in rows { pen.row(y, from: before, to: canvas) }
        pen.style(.plain)
        pen.bytes += pictures
        pen.text("\u{1B}[?2026l")
        return pen.bytes
    }
}

extension Canvas {
    /// Takes over the cells of another canvas, of the same size, that look the same to the eye: pictures that move change
    /// the colour of most of their cells a little in every frame. What is shown never differs by more than that. Returns the
    /// rows in which something differs.
    fileprivate mutating func keep(what shown: Canvas) -> [Int] {
        var rows: [Int] = []
        for y in 0..<height {
            var isSame = true
            for x in 0..<width where self[x, y] != shown[x, y] {
                if self[x, y].isAlike(shown[x, y]) { self[x, y] = shown[x, y] } else { isSame = false }
            }
            if !isSame { rows.append(y) }
        }
        return rows
    }
}

extension Cell {
    /// The colours of the upper and the lower half, of half blocks in 24 bits; nil: it is something else.
    private var halves: (UInt32, UInt32)? {
        let (fore, back) = (style.foreground, style.background)
        guard style.attributes == 0, fore.code >> 24 == 2 else { return nil }
        switch glyph.base {
        case 0x2580: return (fore.code, back.code)
        case 0x2584: return (back.code, fore.code)
        case 0x2588: return (fore.code, fore.code)
        default: return nil
        }
    }

    /// Whether both are parts of pictures whose colours are as good as equal.
    fileprivate func isAlike(_ other: Cell) -> Bool {
        guard let own = halves, let others = other.halves else { return false }
        return isNear(own.0, others.0) && isNear(own.1, others.1)
    }

    /// Steps of 255 that the eye does not see from one frame to the next.
    private static let tolerance: UInt32 = 10

    private func isNear(_ a: UInt32, _ b: UInt32) -> Bool {
        guard a != b else { return true }
        // The terminal's own ground is no colour.
        guard a >> 24 == 2, b >> 24 == 2 else { return false }
        func distance(_ shift: UInt32) -> UInt32 { (Int32(a >> shift & 255) - Int32(b >> shift & 255)).magnitude }
        return max(distance(16), distance(8), distance(0)) <= Self.tolerance
    }
}

extension Canvas {
    /// Its rows as text with colours, for a place on the terminal that is not known.
    func rows() -> [String] {
        (0..<height).map { y in
            var pen = Pen()
            for x in 0..<width where self[x, y].glyph.width > 0 { pen.put(self[x, y]) }
            pen.style(.plain)
            return String(decoding: pen.bytes, as: UTF8.self)
        }
    }
}

/// A growing byte string that knows where the cursor is and how it writes.
private struct Pen {
    var bytes: [UInt8] = []
    private var current = Style.plain
    private var position: (x: Int, y: Int)?

    init() { bytes.reserveCapacity(4096) }

    mutating func text(_ string: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: string.utf8Start, count: string.utf8CodeUnitCount))
    }

    mutating func number(_ value: Int) { bytes.append(contentsOf: String(value).utf8) }

    mutating func row(_ y: Int, from before: Canvas, to after: Canvas) {
        var x = 0
        while x < after.width {
            let cell = after[x, y]
            let width = max(1, Int(cell.glyph.width))
            let changed =
                cell != before[x, y] || (width == 2 && x + 1 < after.width && before[x + 1, y] != after[x + 1, y])
            // The right half of a wide character comes with its left half.
            if changed && cell.glyph.width > 0 {
                move(to: x, y, over: after)
                put(cell)
                position = (x + width, y)
            }
            x += width
        }
    }

    mutating func put(_ cell: Cell) {
        style(cell.style)
        scalar(cell.glyph.base)
        if cell.glyph.mark != 0 { scalar(cell.glyph.mark) }
    }

    /// Short gaps are written again when that is no longer than moving.
    private mutating func move(to x: Int, _ y: Int, over canvas: Canvas) {
        if let position, position.y == y {
            if position.x == x { return }
            let gap = x - position.x
            let cheap = gap > 0 && gap <= 4
            if cheap, (position.x..<x).allSatisfy({ canvas[$0, y].style == current && isASCII(canvas[$0, y].glyph) }) {
                for column in position.x..<x { scalar(canvas[column, y].glyph.base) }
                return
            }
        }
        text("\u{1B}[")
        number(y + 1)
        text(";")
        number(x + 1)
        text("H")
        position = (x, y)
    }

    private func isASCII(_ glyph: Glyph) -> Bool { glyph.width == 1 && glyph.base < 127 && glyph.mark == 0 }

    private mutating func scalar(_ value: UInt32) {
        guard let scalar = Unicode.Scalar(value), let encoded = Unicode.UTF8.encode(scalar) else { return }
        bytes.append(contentsOf: encoded)
    }

    mutating func style(_ next: Style) {
        guard next != current else { return }
        text("\u{1B}[")
        if next == .plain {
            text("0m")
            current = next
            return
        }
        var separate = false
        if next.attributes != current.attributes {
            // Taking attributes away one by one is where terminals differ: start afresh.
            text("0")
            separate = true
            current = .plain
            for (bit, code) in [(Style.bold, 1), (Style.dim, 2), (Style.underlined, 4), (Style.reversed, 7)]
            where next.attributes & bit != 0 {
                text(";")
                number(code)
            }
        }
        if next.foreground != current.foreground { ink(next.foreground, 30, &separate) }
        if next.background != current.background { ink(next.background, 40, &separate) }
        text("m")
        current = next
    }

    private mutating func ink(_ ink: Ink, _ base: Int, _ separate: inout Bool) {
        if separate { text(";") }
        separate = true
        let low = Int(ink.code & 0xFF)
        switch ink.code >> 24 {
        case 0: number(base + 9)
        case 1 where low < 8: number(base + low)
        case 1 where low < 16: number(base + 60 + low - 8)
        case 1:
            number(base + 8)
            text(";5;")
            number(low)
        default:
            number(base + 8)
            text(";2;")
            number(Int(ink.code >> 16 & 0xFF))
            text(";")
            number(Int(ink.code >> 8 & 0xFF))
            text(";")
            number(low)
        }
    }
}
