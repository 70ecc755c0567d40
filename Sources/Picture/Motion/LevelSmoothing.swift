// SPDX-License-Identifier: Apache-2.0

/// The level that bars follow when no bands were measured: looked at every 200 ms, quickly up and slower down.
public struct LevelSmoothing: Sendable, Equatable {
    /// Seconds from one look to the next.
    public static let step = 0.2

    private var value: Float = 0
    private var input: Float = 0
    private var steps = 0
    private var hasBegun = false

    /// Silent.
    public init() {}

    /// The next value: four times the input, 1 at most, weighs 0.9 where it rises and 0.6 where it falls.
    public static func next(after value: Float, input: Float) -> Float {
        let raw = min(1, 4 * max(0, input))
        let kept: Float = raw > value ? 0.1 : 0.4
        return kept * value + (1 - kept) * raw
    }

    /// Takes an RMS, linear; NaN is ignored.
    public mutating func take(_ rms: Float) { if !rms.isNaN { input = rms } }

    /// The value at a time, which does not go back.
    public mutating func value(at time: Double) -> Float {
        let now = Int(max(0, min(time, 1e9)) / Self.step)
        if !hasBegun { steps = now - 1 }
        hasBegun = true
        // After so many it has arrived.
        steps = max(steps, now - 50)
        while steps < now {
            value = Self.next(after: value, input: input)
            steps += 1
        }
        return value
    }
}
