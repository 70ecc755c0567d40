// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Mono float WAV files for plugins that load some.
enum WaveFile {
    static func write(_ samples: [Float], rate: UInt32 = 48000, to path: String) throws {
        func bytes<T>(_ value: T) -> Data { withUnsafeBytes(of: value) { Data($0) } }
        let size = UInt32(samples.count * 4)
        var data = Data("RIFF".utf8) + bytes(36 + size) + Data("WAVEfmt ".utf8) + bytes(UInt32(16))
        data += bytes(UInt16(3)) + bytes(UInt16(1)) + bytes(rate) + bytes(rate * 4) + bytes(UInt16(4))
        data += bytes(UInt16(32)) + Data("data".utf8) + bytes(size)
        for sample in samples { data += bytes(sample) }
        try data.write(to: URL(fileURLWithPath: path))
    }
}
