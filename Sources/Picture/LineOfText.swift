// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A line of text as pixels, by Cairo, which is loaded when it is needed.
public struct LineOfText: Sendable {
    /// Pixels across and down, of which the letters take the middle.
    public let width: Int, height: Int
    /// How much of each pixel is covered, 0...1, row after row.
    let coverage: [Float]

    /// Draws a text in letters of so many pixels. Throws where Cairo is missing, or it is too long. [any]
    public init(_ text: String, size: Double) throws(NodeError) {
        height = Int((size * 1.5).rounded(.up))
        width = Int(try CairoSurface(width: 1, height: 1).width(of: text, size: size).rounded(.up)) + 2
        let surface = try CairoSurface(width: width, height: height)
        surface.write(text, size: size, x: 1, y: size * 1.1)
        coverage = surface.alpha()
    }
}

extension PixelImage {
    /// Writes a line in one colour, its upper left corner at a pixel; what lies outside is cut off.
    public mutating func write(_ line: LineOfText, x: Int, y: Int, color: Color) {
        let ink = color.premultiplied
        for row in max(0, -y)..<max(max(0, -y), min(line.height, height - y)) {
            for column in max(0, -x)..<max(max(0, -x), min(line.width, width - x)) {
                let covered = line.coverage[row * line.width + column]
                if covered > 0 { blend(x + column, y + row, ink, coverage: covered) }
            }
        }
    }

    /// Takes the pixels of a smaller image, its upper left corner at a pixel; it must lie within.
    public mutating func put(_ image: PixelImage, x: Int, y: Int) {
        for row in 0..<image.height {
            let from = row * image.width
            pixels.replaceSubrange(
                ((y + row) * width + x)..<((y + row) * width + x + image.width),
                with: image.pixels[from..<from + image.width])
        }
    }
}
