// SPDX-License-Identifier: Apache-2.0

/// What is done with each plugin.
struct ScanPlan: Sendable {
    enum Mode: String, Sendable {
        /// Some signal with the first preset.
        case run
        /// The same, then once more from the saved state.
        case state
        /// A few blocks with every preset.
        case presets
    }

    /// Nil: irregular.
    var block: Int?
    var rate: Double
    var seconds: Double
    var offline: Bool
    var mode: Mode
    /// Presets that another process has done.
    var skip = 0
    /// Which copy of a plugin this process is for, when its state is tried.
    var copy = 0
    /// How far what an earlier copy played was from the first.
    var apart: Float = 0

    /// The longest of the irregular blocks.
    static let longest = 1024

    var maxBlock: Int { block ?? Self.longest }
    var frames: Int { Int(rate * seconds) }

    /// What a child is told.
    var arguments: [String] {
        var result = ["--block", block.map(String.init) ?? "irregular", "--rate", "\(rate)", "--seconds", "\(seconds)"]
        if offline { result.append("--offline") }
        if mode != .run { result.append("--\(mode.rawValue)") }
        return result
    }

    /// The lengths of the blocks for so many frames.
    func blocks(_ frames: Int) -> [Int] {
        var random = Noise(seed: 3)
        var result: [Int] = []
        var left = frames
        while left > 0 {
            let size = min(left, block ?? 1 + Int(random.next() % UInt64(Self.longest)))
            result.append(size)
            left -= size
        }
        return result
    }
}

/// Repeatable noise.
struct Noise {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D >> 11
    }

    /// -1..<1.
    mutating func sample() -> Float { Float(Int64(next() & 0xFF_FFFF) - 0x80_0000) / 0x80_0000 }
}
