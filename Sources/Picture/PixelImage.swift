// SPDX-License-Identifier: Apache-2.0

/// A picture in memory: rows from the top, premultiplied floats, so that layers add up without rounding.
public struct PixelImage: Sendable, Equatable {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int
    /// `width * height` premultiplied red, green, blue, alpha, each 0...1.
    public var pixels: [SIMD4<Float>]

    /// A clear image; sizes below zero count as zero.
    public init(width: Int, height: Int) {
        self.width = max(0, width)
        self.height = max(0, height)
        pixels = Array(repeating: .zero, count: self.width * self.height)
    }

    /// The pixel with straight alpha; clear outside the image.
    public subscript(x: Int, y: Int) -> Color {
        guard x >= 0, y >= 0, x < width, y < height else { return Color(0, 0, 0, 0) }
        return straight(pixels[y * width + x])
    }

    /// Lays a premultiplied colour over one pixel, which must be inside. `coverage` 0...1 thins it.
    @inlinable
    public mutating func blend(_ x: Int, _ y: Int, _ color: SIMD4<Float>, coverage: Float) {
        let over = color * coverage
        let index = y * width + x
        pixels[index] = over + pixels[index] * (1 - over.w)
    }

    /// Red, green and blue of each pixel on an opaque ground, 0...255, row after row.
    public func rgb(over ground: Color) -> [UInt8] {
        let base = ground.premultiplied
        // 0 to 1 with a little more from rounding, which is cut off.
        func byte(_ value: Float) -> UInt8 { UInt8(truncatingIfNeeded: Int32(value * 255 + 0.5)) }
        let empty = (byte(base.x), byte(base.y), byte(base.z))
        return [UInt8](unsafeUninitializedCapacity: 3 * pixels.count) { bytes, used in
            var place = 0
            for pixel in pixels {
                if pixel.w == 0 {
                    (bytes[place], bytes[place + 1], bytes[place + 2]) = empty
                } else {
                    let shown = pixel + base * (1 - pixel.w)
                    (bytes[place], bytes[place + 1], bytes[place + 2]) = (byte(shown.x), byte(shown.y), byte(shown.z))
                }
                place += 3
            }
            used = place
        }
    }

    /// The same picture on an opaque ground.
    public func over(_ ground: Color) -> PixelImage {
        var result = self
        let base = ground.premultiplied
        for index in result.pixels.indices {
            result.pixels[index] += base * (1 - result.pixels[index].w)
        }
        return result
    }
}

private func straight(_ pixel: SIMD4<Float>) -> Color {
    guard pixel.w > 0 else { return Color(0, 0, 0, 0) }
    let scale = 1 / pixel.w
    return Color(pixel.x * scale, pixel.y * scale, pixel.z * scale, pixel.w)
}

/// How much of a pixel, whose centre lies `distance` from a line, is covered by the line of that width: exact for
/// lines along the pixel grid, close for others.
@inlinable
func lineCoverage(distance: Float, width: Float) -> Float {
    let half = width / 2
    return max(0, min(distance + 0.5, half) - max(distance - 0.5, -half))
}

/// How much of a pixel is covered by a shape whose edge is `distance` away from its centre (negative: inside).
@inlinable
func edgeCoverage(distance: Float) -> Float { min(1, max(0, 0.5 - distance)) }
