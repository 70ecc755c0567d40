// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// WAV files of 32-bit floats, one signal per channel.
enum WaveFile {
    static func write(_ channels: [[Float]], rate: UInt32 = 48000, to path: String) throws {
        func bytes<T>(_ value: T) -> Data { withUnsafeBytes(of: value) { Data($0) } }
        let frames = channels.first?.count ?? 0
        let width = UInt32(channels.count * 4)
        let size = UInt32(frames) * width
        var data = Data("RIFF".utf8) + bytes(36 + size) + Data("WAVEfmt ".utf8) + bytes(UInt32(16))
        data += bytes(UInt16(3)) + bytes(UInt16(channels.count)) + bytes(rate) + bytes(rate * width)
        data += bytes(UInt16(width)) + bytes(UInt16(32)) + Data("data".utf8) + bytes(size)
        let samples = (0..<frames).flatMap { frame in channels.map { $0[frame] } }
        data += samples.withUnsafeBytes { Data($0) }
        try data.write(to: URL(fileURLWithPath: path))
    }

    static func read(_ path: String) throws -> [[Float]] {
        let data = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        func number(_ place: Int, _ size: Int) -> Int {
            (0..<size).reduce(0) { $0 | Int(data[place + $1]) << (8 * $1) }
        }
        var channels = 0
        var place = 12
        while place + 8 <= data.count {
            let name = String(decoding: data[place..<place + 4], as: UTF8.self)
            let size = number(place + 4, 4)
            if name == "fmt " {
                channels = number(place + 10, 2)
                try #require(number(place + 22, 2) == 32)
            } else if name == "data" {
                try #require(channels > 0)
                let samples = (0..<size / 4).map { Float(bitPattern: UInt32(number(place + 8 + 4 * $0, 4))) }
                return (0..<channels).map { channel in
                    stride(from: channel, to: samples.count, by: channels).map { samples[$0] }
                }
            }
            place += 8 + size + size % 2
        }
        Issue.record("\(path) has no data")
        return []
    }
}
