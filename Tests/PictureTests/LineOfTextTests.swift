// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Picture

/// Letters in pictures.
@Suite struct LineOfTextTests {
    @Test("A line is as wide as its letters, as high as they are, and covers a part of it") func line() throws {
        let short = try LineOfText("-23.0", size: 20)
        let long = try LineOfText("-23.0 LUFS", size: 20)
        #expect(short.height == 30 && long.height == 30)
        #expect(short.width > 40 && short.width < 70 && long.width > 3 * short.width / 2)
        let covered = short.coverage.reduce(0, +) / Float(short.coverage.count)
        #expect(covered > 0.05 && covered < 0.5)
        #expect(try LineOfText("", size: 20).coverage.allSatisfy { $0 == 0 })
    }

    @Test("A line is written in its colour, and cut off at the edges") func written() throws {
        let line = try LineOfText("MMM", size: 20)
        var image = PixelImage(width: 40, height: 20)
        image.write(line, x: -10, y: -5, color: Color(1, 0, 0))
        #expect(image.pixels.contains { $0.x > 0.9 } && image.pixels.allSatisfy { $0.y == 0 && $0.z == 0 })
        image.write(line, x: 100, y: 100, color: .white)
        image.write(line, x: -1000, y: -1000, color: .white)
        #expect(image.pixels.allSatisfy { $0.y == 0 })
    }

    @Test("A smaller picture has its place in a larger one") func put() {
        var small = PixelImage(width: 2, height: 2)
        small.pixels = [SIMD4(1, 0, 0, 1), .zero, .zero, SIMD4(0, 1, 0, 1)]
        var large = PixelImage(width: 4, height: 3)
        large.put(small, x: 2, y: 1)
        #expect(large.pixels[6] == small.pixels[0] && large.pixels[11] == small.pixels[3])
        #expect(large.pixels.count { $0.w > 0 } == 2)
    }
}
