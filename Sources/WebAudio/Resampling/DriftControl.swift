// SPDX-License-Identifier: Apache-2.0

/// Finds how much faster one clock is than another from how much waits between the two, and what keeps that at a target.
///
/// A proportional-integral controller on the smoothed error of what waits. That grows by the difference of the clocks, and
/// shrinks by the correction; so with the two gains below the loop has two equal poles at `speed`, and does not swing. A
/// difference of 100 ppm, as usual between two crystals, moves what waits by 1 ms until it is found, one of 1000 ppm by 10.
struct DriftControl {
    /// Of the correction: 0.5 % is 9 cents, and makes up for 5 ms a second.
    static let limit = 0.005
    /// In 1/s.
    static let speed = 0.05
    private static let proportional = 2 * speed
    private static let integral = speed * speed
    /// A larger error, in seconds, comes from elsewhere than from the clocks: no more of it counts for them.
    private static let largestError = 0.01

    /// Seconds over which what waits is smoothed; short against 1 / `speed`.
    let smoothing: Double
    /// How much faster the source is, as far as is known: 0.0001 is 100 ppm.
    private(set) var drift = 0.0
    /// What to take from the source beside what the rates say, to make up for its clock and what waits.
    private(set) var correction = 0.0
    /// The smoothed error; nil: nothing is known yet.
    private var error: Double?
    private var target = 0.0
    /// How fast the target falls, smoothed over a second: no step of the pitch.
    private var pace = 0.0
    private var measured = 0.0

    init(smoothing: Double = 2) { self.smoothing = smoothing }

    /// Smoothed seconds that wait; nil: nothing is known yet.
    var waiting: Double? { error.map { $0 + target } }

    /// Takes what waits in seconds, against what should, measured over so many seconds.
    mutating func add(_ waiting: Double, target: Double, over seconds: Double) {
        guard seconds > 0, waiting.isFinite else { return }
        measured += seconds
        // The mean of what there is, until there is enough.
        let weight = min(1, seconds / min(measured, smoothing))
        let now = waiting - target
        let error = self.error.map { $0 + (now - $0) * weight } ?? now
        // What should wait less and less is let go at that pace, which is no matter of the clocks.
        let falling = self.error == nil ? 0 : min(max((self.target - target) / seconds, 0), Self.limit)
        pace += (falling - pace) * min(1, seconds)
        self.error = error
        self.target = target
        let wanted = Self.proportional * error + drift + pace
        // Nor is it when more is wanted than can be.
        if abs(wanted) < Self.limit {
            let counted = min(max(error, -Self.largestError), Self.largestError)
            drift = min(max(drift + Self.integral * counted * seconds, -Self.limit), Self.limit)
        }
        correction = min(max(wanted, -Self.limit), Self.limit)
    }

    /// What waited is gone; how the clocks differ is not forgotten.
    mutating func restart() {
        error = nil
        measured = 0
        pace = 0
        correction = drift
    }
}
