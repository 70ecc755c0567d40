// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Picture

/// How a terminal shows pixels.
public struct Graphics: Sendable, Equatable {
    /// By which protocol.
    public enum Encoding: String, Sendable, CaseIterable {
        /// kitty's: https://sw.kovidgoyal.net/kitty/graphics-protocol
        case kitty
        /// DEC's: VT330/VT340 Programmer Reference Manual, chapter 14.
        case sixel
    }

    /// The protocol.
    public var encoding: Encoding
    /// The size of a cell in pixels.
    public var cellWidth: Int, cellHeight: Int

    /// Describes a terminal; cells are 8 x 16 where it does not say.
    public init(_ encoding: Encoding, cellWidth: Int = 8, cellHeight: Int = 16) {
        self.encoding = encoding
        self.cellWidth = cellWidth
        self.cellHeight = cellHeight
    }

    /// Throws where what it needs is not installed. [any]
    public static func check(_ encoding: Encoding) throws(NodeError) {
        if encoding == .sixel { try Sixels.load() }
    }

    /// As many pixels as are sent for one picture: what is larger would cost more than it shows.
    private var limit: Int { encoding == .kitty ? 1 << 17 : 1 << 18 }

    /// The cells in the middle of an area that a picture takes, and its size in pixels. kitty scales what is smaller than
    /// its cells; six pixels are a line of sixels, which must not go beyond the cells.
    func place(_ area: Area) -> (area: Area, width: Int, height: Int) {
        var part = area
        func fits() -> Bool { part.width * cellWidth * part.height * cellHeight <= limit }
        if encoding == .sixel, !fits() {
            let scale = (Double(limit) / Double(part.width * cellWidth * part.height * cellHeight)).squareRoot()
            part.width = max(1, Int(Double(area.width) * scale))
            part.height = max(1, Int(Double(area.height) * scale))
            part.x += (area.width - part.width) / 2
            part.y += (area.height - part.height) / 2
        }
        let (width, height) = (part.width * cellWidth, part.height * cellHeight)
        guard encoding == .kitty else { return (part, width, max(1, height / 6) * 6) }
        let scale = min(1, (Double(limit) / Double(width * height)).squareRoot())
        return (part, max(1, Int(Double(width) * scale)), max(1, Int(Double(height) * scale)))
    }
}

/// A picture in pixels on a part of the screen.
struct CellImage: Sendable, Equatable {
    var area: Area
    var image: PixelImage
}

/// Turns the pictures of a screen into the bytes that bring a terminal from one to the next.
struct ImagePainter: Sendable {
    private let graphics: Graphics?
    private let ground: Color
    private var shown: [CellImage] = []

    init(_ graphics: Graphics?, ground: Color) {
        self.graphics = graphics
        self.ground = ground
    }

    /// Forgets what the terminal shows: the next frame has every picture.
    mutating func forget() { shown = [] }

    /// The bytes that make a terminal show these pictures, and those of before no more; none if it does already. What is
    /// left of them goes with the cells that are written over them (sixel), or is deleted (kitty).
    mutating func frame(_ images: [CellImage], all: Bool) -> [UInt8] {
        guard let graphics else { return [] }
        if all { shown = [] }
        var bytes: [UInt8] = []
        if graphics.encoding == .kitty {
            if all { bytes += "\u{1B}_Ga=d,d=A,q=2\u{1B}\\".utf8 }
            for place in images.count..<max(images.count, shown.count) {
                bytes += "\u{1B}_Ga=d,d=I,i=\(Self.first + place),q=2\u{1B}\\".utf8
            }
        }
        for (place, image) in images.enumerated() where place >= shown.count || shown[place] != image {
            bytes += "\u{1B}[\(image.area.y + 1);\(image.area.x + 1)H".utf8
            switch graphics.encoding {
            case .kitty: kitty(&bytes, image, number: Self.first + place)
            case .sixel: bytes += Sixels.encode(image.image, over: ground)
            }
        }
        shown = images
        return bytes
    }

    /// The number of the first picture: others are of other programs.
    private static let first = 7100

    /// One picture in 32 bits a pixel, in parts of 4096 bytes; it takes the place of the one
    /// of the same number. No answer is wanted.
    private func kitty(_ bytes: inout [UInt8], _ shown: CellImage, number: Int) {
        let data = base64(shown.image.rgba())
        let (image, area) = (shown.image, shown.area)
        bytes.reserveCapacity(bytes.count + data.count + data.count / 256)
        var keys =
            "a=T,f=32,s=\(image.width),v=\(image.height),i=\(number),p=1,c=\(area.width),r=\(area.height),C=1,q=2,"
        var from = 0
        repeat {
            let to = min(from + 4096, data.count)
            bytes += "\u{1B}_G\(keys)m=\(to < data.count ? 1 : 0);".utf8
            bytes += data[from..<to]
            bytes += [0x1B, 0x5C]
            keys = "q=2,"
            from = to
        } while from < data.count
    }
}
