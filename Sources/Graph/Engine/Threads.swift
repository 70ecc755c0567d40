// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Realtime

extension Threads {
    /// So many, on this machine. [any]
    public var limit: Int {
        switch self {
        case .count(let count): min(max(1, count), Self.most)
        case .automatic: min(Int(vg_processor_count()), Self.most)
        }
    }
}

/// What the compiler knows when it divides a graph among threads.
public struct Sharers: Sendable {
    /// Threads at most, with the audio thread.
    public var limit: Int
    /// What nodes were found to take per block, in seconds, by their numbers.
    public var costs: [UInt32: Double]
    /// Divided and shared however little there is to gain; for tests.
    var isForced = false

    /// Describes what there is to share with.
    public init(limit: Int = 1, costs: [UInt32: Double] = [:]) {
        self.limit = limit
        self.costs = costs
    }
}
