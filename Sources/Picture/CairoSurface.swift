// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Pixels that Cairo draws on; it is loaded when it is needed. A thread of its own uses each.
final class CairoSurface {
    /// To draw on it.
    let context: OpaquePointer
    private let functions: CairoFunctions
    private let surface: OpaquePointer
    private let width, height: Int

    /// Clear pixels. Throws where Cairo is missing, or they are too many for it.
    init(width: Int, height: Int) throws(NodeError) {
        functions = try CairoFunctions.loaded.get()
        (self.width, self.height) = (width, height)
        // What Cairo takes at most.
        guard (1...32_767).contains(width), (1...32_767).contains(height), width * height <= 1 << 28,
            let surface = functions.create(0, Int32(width), Int32(height))
        else {
            throw NodeError(
                "a picture of \(width)x\(height) pixels is too large", hint: "at most 32767 each way, and 268 million")
        }
        guard functions.status(surface) == 0, let context = functions.context(surface) else {
            functions.freeSurface(surface)
            throw NodeError("there is no memory for a picture of \(width)x\(height) pixels")
        }
        (self.surface, self.context) = (surface, context)
    }

    deinit {
        functions.freeContext(context)
        functions.freeSurface(surface)
    }

    /// How many pixels a text takes in letters of that size.
    func width(of text: String, size: Double) -> Double {
        functions.font(context, "sans-serif", 0, 0)
        functions.size(context, size)
        // The last but one is how far the next letter would be.
        var extents = [Double](repeating: 0, count: 6)
        functions.extents(context, text, &extents)
        return extents[4]
    }

    /// Writes a text, whose letters stand on a line that begins there.
    func write(_ text: String, size: Double, x: Double, y: Double) {
        functions.font(context, "sans-serif", 0, 0)
        functions.size(context, size)
        functions.color(context, 1, 1, 1, 1)
        functions.move(context, x, y)
        functions.show(context, text)
    }

    /// How much of each pixel is covered, 0...1, row after row.
    func alpha() -> [Float] {
        functions.flush(surface)
        guard let data = functions.data(surface) else { return Array(repeating: 0, count: width * height) }
        let stride = Int(functions.stride(surface))
        return (0..<width * height).map { place in
            let row = UnsafeMutableRawPointer(data + place / width * stride).assumingMemoryBound(to: UInt32.self)
            return Float(row[place % width] >> 24) / 255
        }
    }

    /// As a PNG file; where no pixel can be seen through, it has no alpha.
    func png() throws(NodeError) -> [UInt8] {
        functions.flush(surface)
        guard let data = functions.data(surface) else { throw NodeError("the picture cannot be read") }
        let stride = Int(functions.stride(surface))
        let count = width * height
        var isOpaque = true
        // Cairo has multiplied the colours by alpha.
        let pixels = [UInt8](unsafeUninitializedCapacity: 4 * count) { bytes, used in
            used = 4 * count
            for y in 0..<height {
                let row = UnsafeRawPointer(data + y * stride).assumingMemoryBound(to: UInt32.self)
                for x in 0..<width {
                    let (place, alpha) = (4 * (y * width + x), row[x] >> 24)
                    var parts = (row[x] >> 16 & 255, row[x] >> 8 & 255, row[x] & 255)
                    if alpha < 255 {
                        isOpaque = false
                        let half = alpha / 2
                        parts =
                            alpha == 0
                            ? (0, 0, 0)
                            : (
                                min(255, (parts.0 * 255 + half) / alpha), min(255, (parts.1 * 255 + half) / alpha),
                                min(255, (parts.2 * 255 + half) / alpha)
                            )
                    }
                    (bytes[place], bytes[place + 1]) = (UInt8(parts.0), UInt8(parts.1))
                    (bytes[place + 2], bytes[place + 3]) = (UInt8(parts.2), UInt8(alpha))
                }
            }
        }
        guard isOpaque else { return try PNGFile.bytes(.rgba(pixels), width: width, height: height) }
        let colors = [UInt8](unsafeUninitializedCapacity: 3 * count) { bytes, used in
            used = 3 * count
            for index in 0..<count {
                (bytes[3 * index], bytes[3 * index + 1]) = (pixels[4 * index], pixels[4 * index + 1])
                bytes[3 * index + 2] = pixels[4 * index + 2]
            }
        }
        return try PNGFile.bytes(.rgb(colors), width: width, height: height)
    }
}

/// What is used of Cairo.
private struct CairoFunctions: @unchecked Sendable {
    // Sendable: functions of a library that stays loaded.
    /// The first: 0 for 32 bits a pixel, alpha above red, green and blue, which are multiplied by it.
    let create: @convention(c) (Int32, Int32, Int32) -> OpaquePointer?
    let status, stride: @convention(c) (OpaquePointer) -> Int32
    let context: @convention(c) (OpaquePointer) -> OpaquePointer?
    let freeSurface, freeContext, flush: @convention(c) (OpaquePointer) -> Void
    let data: @convention(c) (OpaquePointer) -> UnsafeMutablePointer<UInt8>?

    /// A family, upright (0), of normal weight (0).
    let font: @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32, Int32) -> Void
    let size: @convention(c) (OpaquePointer, Double) -> Void
    let extents: @convention(c) (OpaquePointer, UnsafePointer<CChar>, UnsafeMutablePointer<Double>) -> Void
    let show: @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Void
    let move: @convention(c) (OpaquePointer, Double, Double) -> Void
    let color: @convention(c) (OpaquePointer, Double, Double, Double, Double) -> Void

    /// Loaded once.
    static let loaded = Result { () throws(NodeError) in try CairoFunctions() }

    private init() throws(NodeError) {
        let library = try Library(["libcairo.so.2"], package: "libcairo2")
        create = try library.function("cairo_image_surface_create")
        status = try library.function("cairo_surface_status")
        stride = try library.function("cairo_image_surface_get_stride")
        context = try library.function("cairo_create")
        freeSurface = try library.function("cairo_surface_destroy")
        freeContext = try library.function("cairo_destroy")
        flush = try library.function("cairo_surface_flush")
        data = try library.function("cairo_image_surface_get_data")
        font = try library.function("cairo_select_font_face")
        size = try library.function("cairo_set_font_size")
        extents = try library.function("cairo_text_extents")
        show = try library.function("cairo_show_text")
        move = try library.function("cairo_move_to")
        color = try library.function("cairo_set_source_rgba")
    }
}
