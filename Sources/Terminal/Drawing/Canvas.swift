// SPDX-License-Identifier: Apache-2.0
import Picture

/// How a cell looks.
struct Style: Sendable, Hashable {
    var foreground = Ink.standard
    var background = Ink.standard
    /// Bits: 1 bold, 2 dim, 4 underlined, 8 reversed.
    var attributes: UInt8 = 0

    static let plain = Style()
    static let bold: UInt8 = 1
    static let dim: UInt8 = 2
    static let underlined: UInt8 = 4
    static let reversed: UInt8 = 8
}

/// One cell of the screen.
struct Cell: Sendable, Hashable {
    var glyph = Glyph.space
    var style = Style.plain

    static let blank = Cell()
}

/// A part of the screen, in cells.
struct Area: Sendable, Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    var isEmpty: Bool { width <= 0 || height <= 0 }
    /// Takes rows off the top.
    mutating func takeTop(_ rows: Int) -> Area {
        let taken = min(max(rows, 0), max(height, 0))
        defer {
            y += taken
            height -= taken
        }
        return Area(x: x, y: y, width: width, height: taken)
    }
    /// Takes rows off the bottom.
    mutating func takeBottom(_ rows: Int) -> Area {
        let taken = min(max(rows, 0), max(height, 0))
        height -= taken
        return Area(x: x, y: y + height, width: width, height: taken)
    }
    /// Takes columns off the left.
    mutating func takeLeft(_ columns: Int) -> Area {
        let taken = min(max(columns, 0), max(width, 0))
        defer {
            x += taken
            width -= taken
        }
        return Area(x: x, y: y, width: taken, height: height)
    }
    func contains(_ column: Int, _ row: Int) -> Bool {
        column >= x && column < x + width && row >= y && row < y + height
    }
    /// Without a margin at left and right.
    func inset(_ columns: Int) -> Area { Area(x: x + columns, y: y, width: width - 2 * columns, height: height) }
}

/// What a mouse can point at.
enum Target: Sendable, Equatable {
    case node(String)
    case picture(String)
    case log
    case help
}

/// A grid of cells to draw on. Whatever lies outside is cut off.
struct Canvas: Sendable {
    let width: Int
    let height: Int
    private(set) var cells: [Cell]
    /// Pictures in pixels, above the cells.
    private(set) var images: [CellImage] = []
    private var targets: [(area: Area, target: Target)] = []

    init(width: Int, height: Int) {
        self.width = max(0, width)
        self.height = max(0, height)
        cells = Array(repeating: .blank, count: self.width * self.height)
    }

    subscript(x: Int, y: Int) -> Cell {
        get { cells[y * width + x] }
        set {
            guard x >= 0, y >= 0, x < width, y < height else { return }
            cells[y * width + x] = newValue
        }
    }

    /// Writes glyphs from x on, at most `limit` columns; returns the columns written.
    @discardableResult
    mutating func put(_ glyphs: some Sequence<Glyph>, x: Int, y: Int, style: Style = .plain, limit: Int = .max) -> Int {
        var column = x
        let end = min(width, limit > width ? width : x + limit)
        for glyph in glyphs {
            let next = column + Int(glyph.width)
            guard next <= end else { break }
            if column >= 0 {
                self[column, y] = Cell(glyph: glyph, style: style)
                if glyph.width == 2 { self[column + 1, y] = Cell(glyph: .rightHalf, style: style) }
            }
            column = next
        }
        return column - x
    }

    /// Shows a picture in a part. Its cells look empty, but are others than blank ones, so that they are written again when
    /// there is no picture any more.
    mutating func show(_ image: PixelImage, _ area: Area) {
        for y in area.y..<area.y + area.height {
            for x in area.x..<area.x + area.width { put("\u{A0}", x: x, y: y, style: .plain) }
        }
        images.append(CellImage(area: area, image: image))
    }

    /// Says what is shown in a part.
    mutating func mark(_ area: Area, _ target: Target) {
        if !area.isEmpty { targets.append((area, target)) }
    }

    /// What is shown in a cell, as was marked last.
    func target(_ x: Int, _ y: Int) -> Target? { targets.last { $0.area.contains(x, y) }?.target }

    /// Writes one scalar.
    mutating func put(_ scalar: Unicode.Scalar, x: Int, y: Int, style: Style) {
        self[x, y] = Cell(glyph: Glyph(base: scalar.value), style: style)
    }
}
