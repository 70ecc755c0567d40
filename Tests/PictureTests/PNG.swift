// SPDX-License-Identifier: Apache-2.0
import Foundation
import Picture

extension PixelImage {
    /// Rows from the top, 8 bits of red, green, blue and straight alpha for each pixel.
    var rgba8: [UInt8] {
        (0..<height).flatMap { y in
            (0..<width).flatMap { x in
                let scaled = (self[x, y].rgba * 255 + 0.5).clamped(
                    lowerBound: .zero, upperBound: SIMD4(repeating: 255))
                return [UInt8(scaled.x), UInt8(scaled.y), UInt8(scaled.z), UInt8(scaled.w)]
            }
        }
    }
}

/// A PNG file of an image, not compressed: to look at what the tests draw.
func png(_ image: PixelImage) -> Data {
    var raw: [UInt8] = []
    let bytes = image.rgba8
    for y in 0..<image.height {
        raw.append(0)
        raw += bytes[(y * image.width * 4)..<((y + 1) * image.width * 4)]
    }
    var stream: [UInt8] = [0x78, 0x01]
    var rest = raw[...]
    repeat {
        let part = rest.prefix(65535)
        rest = rest.dropFirst(part.count)
        let count = UInt16(part.count)
        stream += [rest.isEmpty ? 1 : 0, UInt8(count & 255), UInt8(count >> 8)]
        stream += [UInt8(~count & 255), UInt8(~count >> 8)] + part
    } while !rest.isEmpty
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in raw {
        a = (a + UInt32(byte)) % 65521
        b = (b + a) % 65521
    }
    stream += bigEndian(b << 16 | a)
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += chunk("IHDR", bigEndian(UInt32(image.width)) + bigEndian(UInt32(image.height)) + [8, 6, 0, 0, 0])
    file += chunk("IDAT", stream) + chunk("IEND", [])
    return Data(file)
}

/// Writes an image into the folder named by VOICEGRAPH_LOOK, if there is one.
func look(_ image: PixelImage, _ name: String) throws {
    guard let folder = ProcessInfo.processInfo.environment["VOICEGRAPH_LOOK"] else { return }
    try png(image.over(Color(hex: 0x101014))).write(
        to: URL(fileURLWithPath: folder).appendingPathComponent("\(name).png"))
}

private func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * UInt32($0)) & 255) } }

private func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + body
    var crc: UInt32 = ~0
    for byte in checked {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return bigEndian(UInt32(body.count)) + checked + bigEndian(~crc)
}
