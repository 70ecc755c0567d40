// SPDX-License-Identifier: Apache-2.0
import Graph
import Host

/// What `voicegraph top` shows of a host at one time.
public struct TopState: Sendable, Equatable {
    /// What the host measures.
    public var status: Status
    /// What each node takes.
    public var timings: [NodeTiming]
    /// What happened last in plain words, and what to do about it; newest first.
    public var dropouts: [(text: String, advice: String)]
    /// Why there is nothing to show.
    public var lost: String?

    /// Describes a host.
    public init(
        _ status: Status = Status(), _ timings: [NodeTiming] = [], dropouts: [(text: String, advice: String)] = [],
        lost: String? = nil
    ) {
        self.status = status
        self.timings = timings
        self.dropouts = dropouts
        self.lost = lost
    }

    /// Whether two look the same.
    public static func == (a: TopState, b: TopState) -> Bool {
        a.status == b.status && a.timings == b.timings && a.lost == b.lost
            && a.dropouts.elementsEqual(b.dropouts, by: ==)
    }

    /// Seconds in which a block must be done; 0: not known.
    var period: Double { status.rate > 0 ? Double(status.block) / status.rate : 0 }
}

/// What nodes, and all of them together, took of a block lately: a sample for each look at the host.
struct TopHistory: Sendable {
    /// By node, the newest last.
    private(set) var nodes: [String: [Double]] = [:]
    /// Of the whole graph.
    private(set) var load: [Double] = []

    /// As many samples as any screen shows.
    private static let limit = 500

    /// Takes what a host says; nodes that are gone are forgotten.
    mutating func take(_ state: TopState) {
        guard state.lost == nil, state.period > 0 else { return }
        func grown(_ samples: [Double], _ next: Double) -> [Double] { (samples + [next]).suffix(Self.limit) }
        load = grown(load, state.status.load)
        var next: [String: [Double]] = [:]
        for timing in state.timings {
            next[timing.node] = grown(nodes[timing.node] ?? [], timing.recent / state.period)
        }
        nodes = next
    }
}
