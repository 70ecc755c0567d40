// SPDX-License-Identifier: Apache-2.0

/// What the graph has given and a client was not sent yet. It grows all the time and falls when something is sent, so a
/// report of the client between the two finds more or less in its buffer by as much; here is how much that is.
struct Backlog {
    /// Seconds over which it is averaged.
    private static let smoothing = 4.0
    /// Where it jumps by more than this, in seconds, it begins anew.
    private static let most = 0.25

    private var sent = 0.0
    /// Just after the last look, and when that was.
    private var before = 0.0
    private var time: Double?
    private var mean: Double?
    private var measured = 0.0
    private var delays = ArrivalJitter()

    /// Something was sent at `now`: so many seconds in all, of which `given` had come.
    mutating func send(_ sent: Double, given: Double, at now: Double) {
        // It has grown evenly since the last time.
        if let time, now > time, abs(given - self.sent - before) < Self.most {
            let middle = (before + given - self.sent) / 2
            measured += now - time
            delays.add(given - self.sent, over: now - time)
            mean = mean.map { $0 + (middle - $0) * min(1, (now - time) / min(measured, Self.smoothing)) } ?? middle
        } else if time != nil, abs(given - self.sent - before) >= Self.most {
            (mean, measured) = (nil, 0)
        }
        self.sent = sent
        before = given - sent
        time = now
    }

    /// How much later than on average something was sent, at worst, in seconds.
    var worst: Double { delays.worst }

    /// By how much a client has less in its buffer than on average, since something more than usual waits to be sent, or
    /// more, in seconds; `given` has come by now.
    func excess(given: Double) -> Double {
        guard let mean else { return 0 }
        return min(max(given - sent - mean, -Self.most), Self.most)
    }
}
