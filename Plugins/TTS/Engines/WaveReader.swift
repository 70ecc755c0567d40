// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// Reads a WAV file as it comes, piece by piece: what programs write to a pipe, where the sizes in the head are often
/// not true. Several channels become one, their mean.
struct WaveReader {
    private enum Encoding { case unsigned8, integer(bytes: Int), float32, float64 }
    private enum Stage { case head, chunk, skip(Int), samples(left: Int), over }

    /// Hz; 0: not known yet.
    private(set) var rate = 0.0
    private var encoding = Encoding.integer(bytes: 2)
    private var channels = 1
    private var stage = Stage.head
    private var bytes: [UInt8] = []

    /// Whether the head was read to where the samples begin.
    var hasHead: Bool {
        switch stage {
        case .samples, .over: rate > 0
        case .head, .chunk, .skip: false
        }
    }

    /// Takes bytes and gives the samples that are whole with them. Throws if that is no WAV file, or of a kind that
    /// nobody speaks.
    mutating func take(_ input: [UInt8]) throws(NodeError) -> [Float] {
        bytes += input
        var samples: [Float] = []
        while try step(&samples) {}
        return samples
    }

    /// Does one thing with what is there; false: more is needed.
    private mutating func step(_ samples: inout [Float]) throws(NodeError) -> Bool {
        switch stage {
        case .head:
            guard bytes.count >= 12 else { return false }
            let kind = text(0)
            guard kind == "RIFF" || kind == "RF64", text(8) == "WAVE" else { throw NodeError("this is no WAV file") }
            bytes.removeFirst(12)
            stage = .chunk
        case .chunk:
            guard bytes.count >= 8 else { return false }
            let (name, size) = (text(0), Int(number(4, bytes: 4)))
            if name == "data" {
                guard rate > 0 else { throw NodeError("this WAV file does not say what its samples are") }
                bytes.removeFirst(8)
                // Who cannot know the size writes none, or the largest there is.
                stage = .samples(left: size == 0 || size >= 0x7fff_0000 ? .max : size)
            } else if name == "fmt " {
                guard size >= 16, size < 1000 else {
                    throw NodeError("this WAV file does not say what its samples are")
                }
                guard bytes.count >= 8 + size else { return false }
                try readFormat(size)
                bytes.removeFirst(8 + size + size % 2)
                stage = .chunk
            } else {
                bytes.removeFirst(8)
                stage = .skip(size + size % 2)
            }
        case .skip(let left):
            let count = min(left, bytes.count)
            bytes.removeFirst(count)
            stage = count == left ? .chunk : .skip(left - count)
            return count == left
        case .samples(let left):
            let frame = channels * width
            let count = min(left, bytes.count) / frame
            for index in 0..<count {
                var sum: Float = 0
                for channel in 0..<channels { sum += sample(index * frame + channel * width) }
                samples.append(channels == 1 ? sum : sum / Float(channels))
            }
            bytes.removeFirst(count * frame)
            let rest = left == .max ? left : left - count * frame
            stage = rest < frame ? .over : .samples(left: rest)
            return false
        case .over:
            bytes = []
            return false
        }
        return true
    }

    private mutating func readFormat(_ size: Int) throws(NodeError) {
        var format = number(8, bytes: 2)
        channels = Int(number(10, bytes: 2))
        let given = Double(number(12, bytes: 4))
        let bits = Int(number(22, bytes: 2))
        // WAVE_FORMAT_EXTENSIBLE says it at the start of a longer name.
        if format == 0xfffe, size >= 26 { format = number(32, bytes: 2) }
        switch (format, bits) {
        case (1, 8): encoding = .unsigned8
        case (1, 16), (1, 24), (1, 32): encoding = .integer(bytes: bits / 8)
        case (3, 32): encoding = .float32
        case (3, 64): encoding = .float64
        default: throw NodeError("this WAV file has samples of another kind (format \(format), \(bits) bits)")
        }
        guard (1...64).contains(channels), (1000...768_000).contains(given) else {
            throw NodeError("this WAV file has \(channels) channels at \(Int(given)) Hz")
        }
        rate = given
    }

    private var width: Int {
        switch encoding {
        case .unsigned8: 1
        case .integer(let bytes): bytes
        case .float32: 4
        case .float64: 8
        }
    }

    private func sample(_ place: Int) -> Float {
        switch encoding {
        case .unsigned8: return (Float(bytes[place]) - 128) / 128
        case .integer(let count):
            // The highest byte says whether it is negative.
            let shift = 32 - 8 * count
            return Float(Int32(truncatingIfNeeded: number(place, bytes: count) << shift)) / 2_147_483_648
        case .float32:
            let value = Float(bitPattern: UInt32(number(place, bytes: 4)))
            return value.isFinite ? value : 0
        case .float64:
            let value = Float(Double(bitPattern: number(place, bytes: 8)))
            return value.isFinite ? value : 0
        }
    }

    /// Little-endian.
    private func number(_ place: Int, bytes count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[place + $1]) << (8 * UInt64($1)) }
    }

    private func text(_ place: Int) -> String { String(decoding: bytes[place..<place + 4], as: UTF8.self) }
}
