// SPDX-License-Identifier: Apache-2.0

/// A small deterministic generator (SplitMix64), so that a failing test fails again.
public struct TestRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts a sequence; equal seeds give equal sequences.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number in -1..<1.
    public mutating func sample() -> Float { Float(next() >> 40) / Float(1 << 23) - 1 }
}

/// How a signal is cut into blocks.
public enum BlockPlan: Sendable, CustomStringConvertible {
    /// Blocks of one size; the last may be shorter.
    case fixed(Int)
    /// Blocks of 1...max frames.
    case random(max: Int, seed: UInt64)

    /// The longest block it may give.
    public var longest: Int {
        switch self {
        case .fixed(let size): size
        case .random(let max, _): max
        }
    }

    /// The block lengths for `frames` in all.
    public func sizes(_ frames: Int) -> [Int] {
        var sizes: [Int] = []
        var left = frames
        var random = TestRandom(seed: 0)
        if case .random(_, let seed) = self { random = TestRandom(seed: seed) }
        while left > 0 {
            let size: Int
            switch self {
            case .fixed(let fixed): size = min(fixed, left)
            case .random(let max, _): size = min(Int.random(in: 1...max, using: &random), left)
            }
            sizes.append(size)
            left -= size
        }
        return sizes
    }

    /// As test output shows it.
    public var description: String {
        switch self {
        case .fixed(let size): "blocks of \(size)"
        case .random(let max, let seed): "random blocks up to \(max) (seed \(seed))"
        }
    }

    /// The plans that every node has to give the same signal for.
    public static let all: [BlockPlan] = [
        .fixed(1), .fixed(64), .fixed(100), .fixed(1024), .random(max: 256, seed: 1), .random(max: 1024, seed: 2),
    ]
}

/// The rates that every node has to work at, in Hz.
public let testRates: [Double] = [44100, 48000, 96000]
