// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Pixels that Cairo draws on, and writes as PNG; it is loaded when it is needed. A thread of its own uses each.
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

    /// Takes the pixels of an image of the same size.
    func fill(_ image: PixelImage) {
        functions.flush(surface)
        guard let data = functions.data(surface) else { return }
        let stride = Int(functions.stride(surface))
        for y in 0..<min(height, image.height) {
            let row = UnsafeMutableRawPointer(data + y * stride).assumingMemoryBound(to: UInt32.self)
            for x in 0..<min(width, image.width) {
                let bytes = (image.pixels[y * image.width + x] * 255 + 0.5).clamped(
                    lowerBound: .zero, upperBound: SIMD4(repeating: 255))
                row[x] = UInt32(bytes.w) << 24 | UInt32(bytes.x) << 16 | UInt32(bytes.y) << 8 | UInt32(bytes.z)
            }
        }
        functions.changed(surface)
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

    /// As a PNG file.
    func png() throws(NodeError) -> [UInt8] {
        let bytes = Bytes()
        let status = functions.write(
            surface,
            { memory, data, count in
                guard let memory, let data else { return 11 }
                Unmanaged<Bytes>.fromOpaque(memory).takeUnretainedValue().all +=
                    UnsafeBufferPointer(start: data, count: Int(count))
                return 0
            }, Unmanaged.passUnretained(bytes).toOpaque())
        guard status == 0 else { throw NodeError("the picture cannot be written as PNG") }
        return bytes.all
    }
}

extension PixelImage {
    /// As a PNG file. Throws where Cairo is missing, or the image is empty or too large for it.
    public func png() throws(NodeError) -> [UInt8] {
        let surface = try CairoSurface(width: width, height: height)
        surface.fill(self)
        return try surface.png()
    }
}

private final class Bytes { var all: [UInt8] = [] }

/// What is used of Cairo.
private struct CairoFunctions: @unchecked Sendable {
    // Sendable: functions of a library that stays loaded.
    typealias Sink = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32) -> Int32

    /// The first: 0 for 32 bits a pixel, alpha above red, green and blue, which are multiplied by it.
    let create: @convention(c) (Int32, Int32, Int32) -> OpaquePointer?
    let status, stride: @convention(c) (OpaquePointer) -> Int32
    let context: @convention(c) (OpaquePointer) -> OpaquePointer?
    let freeSurface, freeContext, flush, changed: @convention(c) (OpaquePointer) -> Void
    let data: @convention(c) (OpaquePointer) -> UnsafeMutablePointer<UInt8>?
    let write: @convention(c) (OpaquePointer, Sink, UnsafeMutableRawPointer?) -> Int32

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
        changed = try library.function("cairo_surface_mark_dirty")
        data = try library.function("cairo_image_surface_get_data")
        write = try library.function("cairo_surface_write_to_png_stream")
        font = try library.function("cairo_select_font_face")
        size = try library.function("cairo_set_font_size")
        extents = try library.function("cairo_text_extents")
        show = try library.function("cairo_show_text")
        move = try library.function("cairo_move_to")
        color = try library.function("cairo_set_source_rgba")
    }
}
