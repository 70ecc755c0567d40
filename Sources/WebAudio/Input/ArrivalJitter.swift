// SPDX-License-Identifier: Apache-2.0

/// How much later than on average audio arrives, at worst, within the last 15 to 30 seconds.
struct ArrivalJitter {
    /// In seconds.
    private static let window = 15.0
    /// Seconds over which arrivals are averaged.
    private static let smoothing = 4.0

    private var mean: Double?
    /// Seconds of what the mean is of, and of the window.
    private var known = 0.0
    private var measured = 0.0
    private var latest = 0.0
    private var latestBefore = 0.0

    /// Takes when a piece of so many seconds arrived, less when it was recorded by the clock of the client.
    mutating func add(_ lateness: Double, over seconds: Double) {
        known += seconds
        measured += seconds
        // The mean of what there is, until there is enough.
        let before = mean ?? lateness
        let mean = before + (lateness - before) * min(1, seconds / min(known, Self.smoothing))
        self.mean = mean
        early = max(0, mean - lateness)
        latest = max(latest, lateness - mean)
        if measured >= Self.window { (measured, latestBefore, latest) = (0, latest, 0) }
    }

    /// How much earlier than on average the last piece came, in seconds; never negative.
    private(set) var early = 0.0
    /// In seconds; never negative.
    var worst: Double { max(latest, latestBefore) }

    /// The client's clock jumped; what was seen of it is not forgotten.
    mutating func restart() { (mean, known, early) = (nil, 0, 0) }
}
