// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Picture

/// Pictures as sixels, by libsixel, which is loaded when it is needed.
enum Sixels {
    /// Throws where the library is missing.
    static func load() throws(NodeError) { _ = try functions.get() }

    /// A picture on an opaque ground; nothing where the library is missing. It has the 256 colours that suit it best, and
    /// none is mixed from others: patterns would flicker from one picture to the next.
    static func encode(_ image: PixelImage, over ground: Color) -> [UInt8] {
        guard let functions = try? functions.get(), image.width > 0, image.height > 0 else { return [] }
        let bytes = Bytes()
        var output: OpaquePointer?
        let sink = Unmanaged.passUnretained(bytes).toOpaque()
        guard functions.makeOutput(&output, Self.sink, sink, nil) == 0, let output else { return [] }
        defer { functions.freeOutput(output) }
        var made: OpaquePointer?
        guard functions.makeColors(&made, 256, nil) == 0, let colors = made else { return [] }
        defer { functions.freeColors(colors) }
        var pixels = image.rgb(over: ground)
        let (width, height) = (Int32(image.width), Int32(image.height))
        // 3: red, green and blue, a byte each; 0: as the library finds best; 2: soon rather than well.
        guard functions.choose(colors, &pixels, width, height, 3, 0, 0, 2) == 0 else { return [] }
        // 1: nothing is mixed.
        functions.setMixing(colors, 1)
        return functions.encode(&pixels, width, height, 3, colors, output) == 0 ? bytes.all : []
    }

    private static let sink: Sink = { data, count, memory in
        guard let data, let memory, count >= 0 else { return -1 }
        Unmanaged<Bytes>.fromOpaque(memory).takeUnretainedValue().all += UnsafeBufferPointer(
            start: data, count: Int(count))
        return count
    }

    private static let functions = Result { () throws(NodeError) in try SixelFunctions() }
}

private final class Bytes { var all: [UInt8] = [] }

private typealias Sink = @convention(c) (UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutableRawPointer?) -> Int32

/// What is used of libsixel.
private struct SixelFunctions: @unchecked Sendable {
    // Sendable: functions of a library that stays loaded.
    /// The last is for memory: nil, its own.
    let makeOutput:
        @convention(c) (UnsafeMutablePointer<OpaquePointer?>, Sink, UnsafeMutableRawPointer, OpaquePointer?) -> Int32
    let freeOutput, freeColors: @convention(c) (OpaquePointer) -> Void
    let makeColors: @convention(c) (UnsafeMutablePointer<OpaquePointer?>, Int32, OpaquePointer?) -> Int32
    /// Pixels, width, height, their format, and three ways of choosing.
    let choose:
        @convention(c) (OpaquePointer, UnsafeMutablePointer<UInt8>, Int32, Int32, Int32, Int32, Int32, Int32) -> Int32
    let setMixing: @convention(c) (OpaquePointer, Int32) -> Void
    /// Pixels, which it may change, width, height, depth.
    let encode: @convention(c) (UnsafeMutablePointer<UInt8>, Int32, Int32, Int32, OpaquePointer, OpaquePointer) -> Int32

    init() throws(NodeError) {
        let library = try Library(["libsixel.so.1"], package: "libsixel1")
        makeOutput = try library.function("sixel_output_new")
        freeOutput = try library.function("sixel_output_unref")
        freeColors = try library.function("sixel_dither_unref")
        makeColors = try library.function("sixel_dither_new")
        choose = try library.function("sixel_dither_initialize")
        setMixing = try library.function("sixel_dither_set_diffusion_type")
        encode = try library.function("sixel_encode")
    }
}
