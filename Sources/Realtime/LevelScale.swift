// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// How levels are shown: formulas from a linear RMS, and a history of what they gave.
public enum LevelScale {
    /// dBFS of an RMS: `20 log10(max(rms, 1e-6))`, so silence is -120. A NaN stays a NaN. [audio]
    @_noLocks
    public static func decibels(rms: Float) -> Float { vg_amplitude_db(rms < 1e-6 ? 1e-6 : rms) }

    /// 0...1 of an RMS on a scale of 50 dB: `(dB + 50) / 50`, where dB is `20 log10(max(rms, 2e-5))` of at least -50.
    /// Above 0 dBFS it stays 1. A NaN gives 0, so that pictures always have a number. [audio]
    @_noLocks
    public static func orb(rms: Float) -> Float {
        if rms.isNaN { return 0 }
        let level = (vg_amplitude_db(rms < 2e-5 ? 2e-5 : rms) + 50) / 50
        return level < 0 ? 0 : level > 1 ? 1 : level
    }
}

/// The newest 100 values of something. [control]
public struct LevelHistory: Sendable, Equatable {
    /// Values it keeps; a further one replaces the oldest.
    public static let capacity = 100

    private var ring: [Float] = []
    private var oldest = 0

    /// An empty history.
    public init() { ring.reserveCapacity(Self.capacity) }

    /// Values held now: at most `capacity`.
    public var count: Int { ring.count }

    /// Oldest first.
    public var values: [Float] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Adds the newest value.
    public mutating func append(_ value: Float) {
        if ring.count < Self.capacity {
            ring.append(value)
        } else {
            ring[oldest] = value
            oldest = (oldest + 1) % Self.capacity
        }
    }

    /// Two histories are equal when their values are, whatever came before.
    public static func == (a: Self, b: Self) -> Bool { a.values == b.values }
}
