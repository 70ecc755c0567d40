// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// An SVG drawing as pixels, by librsvg and Cairo, which are loaded when they are needed. A thread of its own uses each.
public final class VectorImage {
    private let functions: Functions
    private let handle: OpaquePointer

    /// Reads a drawing. Throws where the libraries are missing, or the drawing is none.
    public init(svg: String) throws(NodeError) {
        functions = try Functions.loaded.get()
        let bytes = Array(svg.utf8)
        guard let handle = functions.read(bytes, bytes.count, nil) else {
            throw NodeError("the drawing cannot be read as SVG")
        }
        self.handle = handle
    }

    deinit { functions.release(handle) }

    /// Sets style rules, which take the place of the drawing's attributes.
    public func style(_ rules: String) throws(NodeError) {
        let bytes = Array(rules.utf8)
        guard functions.style(handle, bytes, bytes.count, nil) != 0 else { throw NodeError("cannot set style rules") }
    }

    /// The drawing as a PNG file of that size in pixels, which it fills. Throws where it is too large.
    public func png(width: Int, height: Int) throws(NodeError) -> [UInt8] {
        // What Cairo takes at most.
        guard (1...32_767).contains(width), (1...32_767).contains(height),
            let surface = functions.surface(0, Int32(width), Int32(height))
        else {
            throw NodeError("a picture of \(width)x\(height) pixels is too large", hint: "at most 32767 each way")
        }
        defer { functions.freeSurface(surface) }
        guard functions.status(surface) == 0, let context = functions.context(surface) else {
            throw NodeError("there is no memory for a picture of \(width)x\(height) pixels")
        }
        defer { functions.freeContext(context) }
        var place = [0, 0, Double(width), Double(height)]
        guard functions.draw(handle, context, &place, nil) != 0 else { throw NodeError("the drawing cannot be drawn") }
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

private final class Bytes { var all: [UInt8] = [] }

/// What is used of librsvg and Cairo.
private struct Functions: @unchecked Sendable {
    // Sendable: functions of libraries that stay loaded.
    typealias Sink = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32) -> Int32

    let read: @convention(c) (UnsafePointer<UInt8>, Int, UnsafeMutableRawPointer?) -> OpaquePointer?
    let style: @convention(c) (OpaquePointer, UnsafePointer<UInt8>, Int, UnsafeMutableRawPointer?) -> Int32
    /// The last but one: x, y, width and height.
    let draw:
        @convention(c) (OpaquePointer, OpaquePointer, UnsafeMutablePointer<Double>, UnsafeMutableRawPointer?) -> Int32
    let release: @convention(c) (OpaquePointer) -> Void
    /// The first: 0 for 32 bits a pixel.
    let surface: @convention(c) (Int32, Int32, Int32) -> OpaquePointer?
    let status: @convention(c) (OpaquePointer) -> Int32
    let context: @convention(c) (OpaquePointer) -> OpaquePointer?
    let freeSurface, freeContext: @convention(c) (OpaquePointer) -> Void
    let write: @convention(c) (OpaquePointer, Sink, UnsafeMutableRawPointer?) -> Int32

    /// Loaded once.
    static let loaded = Result { () throws(NodeError) in try Functions() }

    private init() throws(NodeError) {
        let drawing = try Library(["librsvg-2.so.2"], package: "librsvg2-2")
        read = try drawing.function("rsvg_handle_new_from_data")
        style = try drawing.function("rsvg_handle_set_stylesheet")
        draw = try drawing.function("rsvg_handle_render_document")
        release = try Library(["libgobject-2.0.so.0"], package: "libglib2.0-0").function("g_object_unref")
        let cairo = try Library(["libcairo.so.2"], package: "libcairo2")
        surface = try cairo.function("cairo_image_surface_create")
        status = try cairo.function("cairo_surface_status")
        context = try cairo.function("cairo_create")
        freeSurface = try cairo.function("cairo_surface_destroy")
        freeContext = try cairo.function("cairo_destroy")
        write = try cairo.function("cairo_surface_write_to_png_stream")
    }
}

extension GraphSketch {
    /// The drawing as a PNG file, `scale` pixels for each of its own.
    public func png(scale: Double, isDark: Bool = false) throws(NodeError) -> [UInt8] {
        let (text, size) = drawing()
        let image = try VectorImage(svg: text)
        if isDark { try image.style(GraphColors.darkRules) }
        return try image.png(width: pixels(size.x * scale), height: pixels(size.y * scale))
    }
}

private func pixels(_ value: Double) -> Int { Int(max(1, min(value.rounded(.up), 1e6))) }
