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
        let surface = try CairoSurface(width: width, height: height)
        var place = [0, 0, Double(width), Double(height)]
        guard functions.draw(handle, surface.context, &place, nil) != 0 else {
            throw NodeError("the drawing cannot be drawn")
        }
        return try surface.png()
    }
}

/// What is used of librsvg.
private struct Functions: @unchecked Sendable {
    // Sendable: functions of libraries that stay loaded.
    let read: @convention(c) (UnsafePointer<UInt8>, Int, UnsafeMutableRawPointer?) -> OpaquePointer?
    let style: @convention(c) (OpaquePointer, UnsafePointer<UInt8>, Int, UnsafeMutableRawPointer?) -> Int32
    /// The last but one: x, y, width and height.
    let draw:
        @convention(c) (OpaquePointer, OpaquePointer, UnsafeMutablePointer<Double>, UnsafeMutableRawPointer?) -> Int32
    let release: @convention(c) (OpaquePointer) -> Void

    /// Loaded once.
    static let loaded = Result { () throws(NodeError) in try Functions() }

    private init() throws(NodeError) {
        let drawing = try Library(["librsvg-2.so.2"], package: "librsvg2-2")
        read = try drawing.function("rsvg_handle_new_from_data")
        style = try drawing.function("rsvg_handle_set_stylesheet")
        draw = try drawing.function("rsvg_handle_render_document")
        release = try Library(["libgobject-2.0.so.0"], package: "libglib2.0-0").function("g_object_unref")
    }
}

/// An SVG file as a PNG file, `scale` pixels for each of its own.
func rasterized(_ svg: String, _ size: SIMD2<Double>, scale: Double, isDark: Bool) throws(NodeError) -> [UInt8] {
    let image = try VectorImage(svg: svg)
    if isDark { try image.style(Palette.darkRules) }
    func pixels(_ value: Double) -> Int { Int(max(1, min((value * scale).rounded(.up), 1e6))) }
    return try image.png(width: pixels(size.x), height: pixels(size.y))
}

extension GraphSketch {
    /// The drawing as a PNG file, `scale` pixels for each of its own.
    public func png(scale: Double, isDark: Bool = false) throws(NodeError) -> [UInt8] {
        let (text, size) = drawing()
        return try rasterized(text, size, scale: scale, isDark: isDark)
    }
}
