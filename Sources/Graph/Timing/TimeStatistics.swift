// SPDX-License-Identifier: Apache-2.0

/// Times of one thing, in ticks: how many, how long at least, on average and at most, and which share of them was below
/// what. Control side only.
final class TimeStatistics {
    private(set) var count: UInt64 = 0
    private(set) var total: UInt64 = 0
    private(set) var minimum: UInt64 = .max
    private(set) var maximum: UInt64 = 0
    /// Those since the last `turn`, and those before that until the one before.
    private var window = Window()
    private var windowBefore = Window()
    /// How often each length came; four of them an octave.
    private var buckets: [UInt32] = []
    /// What was computed last, and for how many: it hardly changes with one more of many.
    private var known: (share: Double, count: UInt64, value: Double) = (0, 0, 0)

    private struct Window {
        var count: UInt64 = 0
        var total: UInt64 = 0
        var maximum: UInt32 = 0
    }

    /// Counts one.
    func add(_ ticks: UInt32) {
        if buckets.isEmpty { buckets = Array(repeating: 0, count: 4 * 32) }
        count += 1
        total += UInt64(ticks)
        minimum = min(minimum, UInt64(ticks))
        maximum = max(maximum, UInt64(ticks))
        buckets[Self.bucket(ticks)] &+= 1
        window.count += 1
        window.total += UInt64(ticks)
        window.maximum = max(window.maximum, ticks)
    }

    /// A new window of time begins. One in which nothing was counted goes on.
    func roll() {
        guard window.count > 0 else { return }
        windowBefore = window
        window = Window()
    }

    /// Mean and longest of the last two windows.
    var recent: (average: Double, maximum: Double) {
        let count = window.count + windowBefore.count
        guard count > 0 else { return (0, 0) }
        return (
            Double(window.total + windowBefore.total) / Double(count),
            Double(max(window.maximum, windowBefore.maximum))
        )
    }

    /// Mean; 0 without any.
    var average: Double { count == 0 ? 0 : Double(total) / Double(count) }

    /// What `share` of them did not exceed, to about a tenth.
    func quantile(_ share: Double) -> Double {
        if known.share != share || count - known.count > known.count / 64 { known = (share, count, computed(share)) }
        return known.value
    }

    private func computed(_ share: Double) -> Double {
        let counted = buckets.reduce(0.0) { $0 + Double($1) }
        guard counted > 0 else { return 0 }
        var below = 0.0
        for (index, number) in buckets.enumerated() where number > 0 {
            let wanted = share * counted - below
            if wanted <= Double(number) {
                let (low, high) = (Self.start(of: index), Self.start(of: index + 1))
                let value = low + (high - low) * max(0, wanted) / Double(number)
                return min(max(value, Double(minimum)), Double(maximum))
            }
            below += Double(number)
        }
        return Double(maximum)
    }

    private static func bucket(_ ticks: UInt32) -> Int {
        guard ticks >= 4 else { return Int(ticks) }
        let octave = 31 - ticks.leadingZeroBitCount
        return (octave - 1) * 4 + Int(ticks >> UInt32(octave - 2) & 3)
    }

    /// The least length that falls into a bucket.
    private static func start(of bucket: Int) -> Double {
        guard bucket >= 4 else { return Double(bucket) }
        return Double(UInt64(4 + bucket % 4) << UInt64(bucket / 4 - 1))
    }
}

/// How long a node took per block, in seconds. Of a node that works in two steps, because it closes a loop, the sums of
/// both.
public struct NodeTiming: Sendable, Equatable {
    /// The node's name.
    public var node: String
    /// Blocks that were counted: all, or of nodes that take next to no time one in 31.
    public var count: UInt64
    /// The shortest.
    public var minimum: Double
    /// Mean.
    public var average: Double
    /// What 99 of 100 blocks did not exceed.
    public var p99: Double
    /// The longest.
    public var maximum: Double
    /// Mean of the last second, or half of it.
    public var recent: Double
    /// The longest of that time.
    public var recentMaximum: Double

    /// Describes what was counted; where nothing is said of the last second, it was as ever.
    public init(
        node: String, count: UInt64, minimum: Double, average: Double, p99: Double, maximum: Double,
        recent: Double? = nil, recentMaximum: Double? = nil
    ) {
        self.node = node
        self.count = count
        self.minimum = minimum
        self.average = average
        self.p99 = p99
        self.maximum = maximum
        self.recent = recent ?? average
        self.recentMaximum = recentMaximum ?? maximum
    }
}
