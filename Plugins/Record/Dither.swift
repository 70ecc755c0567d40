// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Rounds samples to integers, with noise in place of the distortion that rounding adds, and counts what is beyond full
/// scale. Equal samples give equal integers in every run.
struct Dither {
    enum Kind: String, CaseIterable {
        /// Plain rounding.
        case none
        /// White noise of triangular density, two steps wide: the error is then independent of the signal in mean and
        /// power (Lipshitz, Wannamaker, Vanderkooy, "Quantization and Dither", JAES 1992).
        case tpdf
        /// The same, and the whole error is moved to where the ear hears least at 44.1 and 48 kHz (five coefficients of
        /// Lipshitz, Vanderkooy, Wannamaker, "Minimally Audible Noise Shaping", JAES 1991).
        case shaped
    }

    /// Samples beyond full scale so far.
    private(set) var clipped = 0
    private let kind: Kind
    private let channels: Int
    private let scale: Double
    private let shift: Int32
    private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// The last five errors of each channel, newest first.
    private var errors: [Double]
    private static let shape = [2.033, -2.165, 1.959, -1.590, 0.6149]

    init(_ kind: Kind, bits: Int, channels: Int) {
        self.kind = kind
        self.channels = channels
        scale = exp2(Double(bits - 1))
        shift = Int32(32 - bits)
        errors = Array(repeating: 0, count: channels * Self.shape.count)
    }

    /// Interleaved samples as integers whose upper bits count, as libsndfile takes them. [worker]
    mutating func integers(_ samples: UnsafeBufferPointer<Float>) -> [Int32] {
        var result: [Int32] = []
        result.reserveCapacity(samples.count)
        for (index, sample) in samples.enumerated() {
            // What is no number is silence.
            let value = sample.isFinite ? Double(sample) * scale : sample > 0 ? scale : sample < 0 ? -scale : 0
            if abs(sample) > 1 { clipped += 1 }
            let rounded = round(value, channel: index % channels)
            result.append(Int32(min(max(rounded, -scale), scale - 1)) << shift)
        }
        return result
    }

    private mutating func round(_ value: Double, channel: Int) -> Double {
        if kind == .none || value == 0 && isQuiet(channel) { return value.rounded() }
        var wanted = value
        let first = channel * Self.shape.count
        if kind == .shaped {
            for (index, weight) in Self.shape.enumerated() { wanted -= weight * errors[first + index] }
        }
        let result = (wanted + uniform() + uniform()).rounded()
        if kind == .shaped {
            for index in stride(from: Self.shape.count - 1, to: 0, by: -1) {
                errors[first + index] = errors[first + index - 1]
            }
            // What was clipped is not made up for later.
            errors[first] = min(max(result - wanted, -2), 2)
        }
        return result
    }

    /// Whether digital silence may stay what it is.
    private func isQuiet(_ channel: Int) -> Bool { kind != .shaped || errors[channel * Self.shape.count] == 0 }

    /// -0.5..<0.5 (xorshift64*: Marsaglia 2003, Vigna 2016).
    private mutating func uniform() -> Double {
        random ^= random >> 12
        random ^= random << 25
        random ^= random >> 27
        return Double((random &* 0x2545_F491_4F6C_DD1D) >> 11) * 0x1p-53 - 0.5
    }
}
