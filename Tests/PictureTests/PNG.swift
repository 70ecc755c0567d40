// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
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

/// Width, height and the straight colours, 0...255, of a PNG file with 8 bits of red, green and blue, and perhaps alpha.
func readPNG(_ file: [UInt8]) throws -> (width: Int, height: Int, pixels: [[UInt8]]) {
    func number(_ place: Int) -> Int { file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    var (place, stream): (Int, [UInt8]) = (8, [])
    while place + 8 < file.count {
        let count = number(place)
        if file[place + 4..<place + 8].elementsEqual("IDAT".utf8) { stream += file[place + 8..<place + 8 + count] }
        place += 12 + count
    }
    let (width, height, samples) = (number(16), number(20), file[25] == 6 ? 4 : 3)
    typealias Uncompress =
        @convention(c) (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>, UnsafePointer<UInt8>, UInt) -> Int32
    let uncompress: Uncompress = try Library(["libz.so.1"], package: "zlib1g").function("uncompress")
    let row = width * samples
    var bytes = [UInt8](repeating: 0, count: height * (row + 1))
    var size = UInt(bytes.count)
    guard uncompress(&bytes, &size, stream, UInt(stream.count)) == 0, size == bytes.count else {
        throw NodeError("the PNG cannot be read")
    }
    var lines: [[UInt8]] = []
    for y in 0..<height {
        let filter = bytes[y * (row + 1)]
        var line = Array(bytes[y * (row + 1) + 1..<(y + 1) * (row + 1)])
        for x in line.indices {
            let left = x >= samples ? Int(line[x - samples]) : 0
            let up = y > 0 ? Int(lines[y - 1][x]) : 0
            let corner = x >= samples && y > 0 ? Int(lines[y - 1][x - samples]) : 0
            let guess = left + up - corner
            let (a, b, c) = (abs(guess - left), abs(guess - up), abs(guess - corner))
            let add =
                switch filter {
                case 1: left
                case 2: up
                case 3: (left + up) / 2
                case 4: a <= b && a <= c ? left : b <= c ? up : corner
                default: 0
                }
            line[x] = line[x] &+ UInt8(truncatingIfNeeded: add)
        }
        lines.append(line)
    }
    let pixels = lines.flatMap { line in
        stride(from: 0, to: row, by: samples).map { Array(line[$0..<$0 + samples]) }
    }
    return (width, height, pixels)
}
