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

    /// Lays colours, one for each row, over what lies between two heights of a column, which must be inside; of pixels at
    /// the ends only a part counts.
    @inlinable
    mutating func fill(_ x: Int, from top: Float, to bottom: Float, _ rows: [SIMD4<Float>], opacity: Float = 1) {
        let first = max(0, Int(max(top, 0)))
        let last = min(height - 1, Int(min(bottom, Float(height))))
        guard first <= last else { return }
        for y in first...last {
            let covered = min(Float(y) + 1, bottom) - max(Float(y), top)
            if covered > 0 { blend(x, y, rows[y], coverage: covered * opacity) }
        }
    }

    /// Lays colours, one for each row, over all that lies below the height of each column.
    mutating func fill(below tops: [Float], _ rows: [SIMD4<Float>], opacity: Float) {
        let highest = tops.min() ?? Float(height)
        for y in max(0, Int(min(max(highest, 0), Float(height))))..<max(0, height) {
            let over = rows[y] * opacity
            let place = y * width
            pixels.withUnsafeMutableBufferPointer { pixels in
                for x in 0..<min(width, tops.count) {
                    let covered = min(max(Float(y) + 1 - tops[x], 0), 1)
                    if covered > 0 { pixels[place + x] = over * covered + pixels[place + x] * (1 - over.w * covered) }
                }
            }
        }
    }

    /// Draws a line through columns, in each of which it goes from one height to another; its pen is round.
    mutating func trace(_ columns: [ClosedRange<Float>], width line: Float, _ rows: [SIMD4<Float>], opacity: Float = 1)
    {
        let radius = line / 2
        let reach = max(0, Int((radius - 0.5).rounded(.up)))
        let pen = (0...reach).map { (max(0, radius * radius - Float($0 * $0))).squareRoot() }
        for x in 0..<min(width, columns.count) {
            var (top, bottom) = (columns[x].lowerBound - radius, columns[x].upperBound + radius)
            for near in max(0, x - reach)...min(columns.count - 1, x + reach) {
                let half = pen[abs(near - x)]
                top = min(top, columns[near].lowerBound - half)
                bottom = max(bottom, columns[near].upperBound + half)
            }
            fill(x, from: top, to: bottom, rows, opacity: opacity)
        }
    }

    /// What a line is in each column that goes straight from the height in one to that in the next.
    static func joined(_ heights: [Float]) -> [ClosedRange<Float>] {
        heights.indices.map { x in
            let before = x > 0 ? (heights[x - 1] + heights[x]) / 2 : heights[x]
            let after = x + 1 < heights.count ? (heights[x] + heights[x + 1]) / 2 : heights[x]
            return min(before, heights[x], after)...max(before, heights[x], after)
        }
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

    /// Red, green, blue and alpha of each pixel, not multiplied by it, 0...255, row after row.
    public func rgba() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4 * pixels.count) { bytes, used in
            used = 4 * pixels.count
            for (index, pixel) in pixels.enumerated() {
                var color = pixel.w > 0 ? pixel / pixel.w : .zero
                color.w = pixel.w
                let scaled = SIMD4<UInt8>(
                    truncatingIfNeeded: SIMD4<Int32>(
                        (color * 255 + 0.5).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))))
                (bytes[4 * index], bytes[4 * index + 1]) = (scaled.x, scaled.y)
                (bytes[4 * index + 2], bytes[4 * index + 3]) = (scaled.z, scaled.w)
            }
        }
    }

    /// The picture on an opaque ground as films have it: the brightness of each pixel, row after row, then the two colour
    /// differences of each square of four, 16 to 235 and 16 to 240 (ITU-R BT.709). Both sides must be even.
    public func yuv420(over ground: Color) -> [UInt8] {
        let base = ground.premultiplied
        /// 219 times the brightness.
        func bright(_ color: SIMD4<Float>) -> Float { 46.5594 * color.x + 156.6288 * color.y + 15.8118 * color.z }
        func byte(_ value: Float) -> UInt8 { UInt8(truncatingIfNeeded: Int32(value + 0.5)) }
        /// Of a mean colour and its brightness.
        func blueness(_ color: SIMD4<Float>, _ bright: Float) -> UInt8 {
            byte(128 + (224 / 1.8556) * (color.z - bright / 219))
        }
        func redness(_ color: SIMD4<Float>, _ bright: Float) -> UInt8 {
            byte(128 + (224 / 1.5748) * (color.x - bright / 219))
        }
        let ground = bright(base)
        let empty = (byte(16 + ground), blueness(base, ground), redness(base, ground))
        let (columns, lines) = (width / 2, height / 2)
        return [UInt8](unsafeUninitializedCapacity: 6 * columns * lines) { bytes, used in
            used = 6 * columns * lines
            let (blue, red) = (4 * columns * lines, 5 * columns * lines)
            pixels.withUnsafeBufferPointer { pixels in
                for line in 0..<lines {
                    for column in 0..<columns {
                        let (above, place) = (2 * line * width + 2 * column, line * columns + column)
                        let below = above + width
                        let square = (pixels[above], pixels[above + 1], pixels[below], pixels[below + 1])
                        let sum = square.0 + square.1 + square.2 + square.3
                        guard sum.w > 0 else {
                            (bytes[above], bytes[above + 1]) = (empty.0, empty.0)
                            (bytes[below], bytes[below + 1]) = (empty.0, empty.0)
                            (bytes[blue + place], bytes[red + place]) = (empty.1, empty.2)
                            continue
                        }
                        let values = SIMD4(
                            bright(square.0) + ground * (1 - square.0.w), bright(square.1) + ground * (1 - square.1.w),
                            bright(square.2) + ground * (1 - square.2.w), bright(square.3) + ground * (1 - square.3.w))
                        (bytes[above], bytes[above + 1]) = (byte(16 + values.x), byte(16 + values.y))
                        (bytes[below], bytes[below + 1]) = (byte(16 + values.z), byte(16 + values.w))
                        let (mean, brightness) = ((sum + base * (4 - sum.w)) / 4, values.sum() / 4)
                        (bytes[blue + place], bytes[red + place]) = (
                            blueness(mean, brightness), redness(mean, brightness)
                        )
                    }
                }
            }
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
