// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Pixels as a PNG file, by libpng, which is loaded when it is needed. Rows are not filtered: what is drawn here has flat parts
/// and repeats, and becomes smaller and is written sooner without.
enum PNGFile {
    /// What the bytes of an image are.
    enum Pixels {
        /// Red, green and blue of each.
        case rgb([UInt8])
        /// Red, green, blue and alpha of each, not multiplied by it.
        case rgba([UInt8])
        /// One of 256 colours each, of which there are red, green and blue.
        case indices([UInt8], of: [UInt8])
    }

    /// Throws where libpng is missing, or the image is too large for it.
    static func bytes(_ pixels: Pixels, width: Int, height: Int) throws(NodeError) -> [UInt8] {
        let functions = try Functions.loaded.get()
        let (samples, colors, format): ([UInt8], [UInt8], UInt32) =
            switch pixels {
            case .rgb(let samples): (samples, [], 2)
            case .rgba(let samples): (samples, [], 3)
            case .indices(let samples, let colors): (samples, colors, 2 | 8)
            }
        guard width > 0, height > 0, !samples.isEmpty, samples.count <= 1 << 30 else {
            throw NodeError("a picture of \(width)x\(height) pixels cannot be written as PNG")
        }
        var image = Image(
            width: UInt32(width), height: UInt32(height), format: format, colors: UInt32(colors.count / 3))
        // More than it can be: rows that do not shrink, and the colours.
        var size = samples.count + samples.count / 256 + 16 * height + 4096
        var status: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, used in
            status = functions.write(&image, bytes.baseAddress!, &size, 0, samples, 0, colors)
            used = status == 0 ? 0 : size
        }
        functions.free(&image)
        guard status != 0 else { throw NodeError("the picture cannot be written as PNG") }
        return bytes
    }

    /// As `png_image` of libpng's simplified interface is laid out.
    private struct Image {
        private var control = 0
        private var version: UInt32 = 1
        var width, height, format: UInt32
        /// Without filters, and less compressed.
        private var flags: UInt32 = 2
        var colors: UInt32
        private var failure: UInt32 = 0
        private var message: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)

        init(width: UInt32, height: UInt32, format: UInt32, colors: UInt32) {
            (self.width, self.height, self.format, self.colors) = (width, height, format, colors)
        }
    }

    /// What is used of libpng.
    private struct Functions: @unchecked Sendable {
        // Sendable: functions of a library that stays loaded.
        /// Into memory of that size, which becomes what was used of it; 0: it failed.
        let write:
            @convention(c) (
                UnsafeMutableRawPointer, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, Int32,
                UnsafePointer<UInt8>, Int32, UnsafePointer<UInt8>
            ) -> Int32
        let free: @convention(c) (UnsafeMutableRawPointer) -> Void

        /// Loaded once.
        static let loaded = Result { () throws(NodeError) in try Functions() }

        private init() throws(NodeError) {
            let library = try Library(["libpng16.so.16"], package: "libpng16-16")
            write = try library.function("png_image_write_to_memory")
            free = try library.function("png_image_free")
        }
    }
}
