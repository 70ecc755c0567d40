// SPDX-License-Identifier: Apache-2.0
import CPeers
import CRealtime

/// The middle of repeated measurements, and how far they spread: the 10th and the 90th of a hundred.
struct Spread {
    var median: Double
    var low: Double
    var high: Double

    init(_ samples: [Double]) {
        let sorted = samples.sorted()
        func at(_ share: Double) -> Double {
            sorted.isEmpty ? .nan : sorted[Int((Double(sorted.count - 1) * share).rounded())]
        }
        (median, low, high) = (at(0.5), at(0.1), at(0.9))
    }

    init(median: Double, low: Double, high: Double) { (self.median, self.low, self.high) = (median, low, high) }
}

/// One line of the report.
struct Row {
    /// What was measured.
    var item: String
    /// On whom.
    var subject: String
    var value: Spread
    var unit: String
    /// How this subject compares, above 1 in its favour, and with whom.
    var ratio: Spread?
    var against = ""
    /// What it should be; empty: nothing is asked of it.
    var aim = ""
    var met: Bool?

    init(_ item: String, _ subject: String, _ samples: [Double], _ unit: String) {
        (self.item, self.subject, self.unit) = (item, subject, unit)
        value = Spread(samples)
    }

    /// Compares costs, repetition by repetition: what disturbs the machine disturbs both.
    func compared(_ own: [Double], with other: [Double], _ name: String) -> Row {
        var row = self
        row.ratio = Spread(zip(other, own).map { $0 / $1 })
        row.against = name
        return row
    }

    func aiming(_ aim: String, _ met: Bool) -> Row {
        var row = self
        (row.aim, row.met) = (aim, met)
        return row
    }

    /// A peer that this machine has not.
    static func missing(_ item: String, _ subject: String) -> Row { Row(item, subject, [], "not installed") }
}

/// Runs each body `repetitions` times after one that does not count, in turn and each time in another order. Returns
/// what they returned.
func interleaved(_ repetitions: Int, _ bodies: [() throws -> Double]) throws -> [[Double]] {
    try interleaved(repetitions) { _ in bodies }
}

/// The same with other bodies, equally many, for each repetition; 0 is the one that does not count.
func interleaved(_ repetitions: Int, _ bodies: (_ repetition: Int) -> [() throws -> Double]) throws -> [[Double]] {
    var samples: [[Double]] = []
    for repetition in 0...repetitions {
        let bodies = bodies(repetition)
        if samples.isEmpty { samples = Array(repeating: [], count: bodies.count) }
        for turn in bodies.indices {
            let index = (turn + repetition) % bodies.count
            let sample = try bodies[index]()
            if repetition > 0 { samples[index].append(sample) }
        }
    }
    return samples
}

/// Nanoseconds that `body` takes.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = vg_nanoseconds()
    try body()
    return Double(vg_nanoseconds() - start)
}

/// Nanoseconds of processor time that `body` takes on this thread: what others do with the processor meanwhile does
/// not count.
func processorTime(_ body: () throws -> Void) rethrows -> Double {
    let start = peer_thread_time()
    try body()
    return peer_thread_time() - start
}

/// A figure with three significant digits.
func short(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((abs(value) * scale).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    if digits == 0 { return sign + String(scaled) }
    let fraction = String(scaled % Int(scale))
    return sign + "\(scaled / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
}
