// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NodeKit

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
}

/// The table of `voicegraph top`, the most expensive nodes first.
public enum TopTable {
    /// One row.
    struct Row {
        var node: String
        /// Of the last second: mean and longest in microseconds, share of a block in percent; then mean, 99 % and longest
        /// since it was added.
        var cells: [String]
        /// Share of a block, 0...1.
        var share: Double
    }

    static let titles = ["now us", "peak us", "of a block", "mean us", "99 % us", "longest us"]
    static let width = 12

    static func rows(_ state: TopState) -> [Row] {
        let period = state.status.rate > 0 ? Double(state.status.block) / state.status.rate : 0
        return state.timings.sorted { ($0.recent, $1.node) > ($1.recent, $0.node) }.map { timing in
            let share = period > 0 ? timing.recent / period : 0
            var cells = [timing.recent, timing.recentMaximum, timing.average, timing.p99, timing.maximum].map {
                fixed($0 * 1e6, 1)
            }
            cells.insert(period > 0 ? fixed(100 * share, 2) + " %" : "", at: 2)
            return Row(node: timing.node, cells: cells, share: share)
        }
    }

    /// Driver, load and dropouts in a line.
    static func facts(_ status: Status) -> [String] {
        var facts = ["load \(fixed(status.load * 100, 1)) %", "xruns \(status.xruns)"]
        let late = status.dropouts.sorted { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) }
        if !late.isEmpty {
            facts.append("late cycles: " + late.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", "))
        }
        if !status.state.isEmpty, status.state != "running" { facts.append("server \(status.state)") }
        return facts
    }

    /// As text, once; for what is no terminal.
    public static func text(_ state: TopState) -> String {
        let rows = rows(state)
        let first = max(4, rows.map { printable($0.node).count }.max() ?? 0)
        func line(_ node: String, _ cells: [String]) -> String {
            let start = node + String(repeating: " ", count: max(0, first - node.count))
            return cells.reduce(start) { $0 + String(repeating: " ", count: max(2, width - $1.count)) + $1 }
        }
        let status = state.status
        let head = [printable(status.client), status.driver, rateText(status.rate), "\(status.block) frames"]
        var lines = [(head + facts(status)).joined(separator: "  "), line("node", titles)]
        lines += rows.map { line(printable($0.node), $0.cells) }
        lines += status.degraded.sorted { $0.key < $1.key }.map { printable("\($0.key) failed: \($0.value)") }
        lines += state.dropouts.prefix(5).map { printable($0.text) }
        return lines.map { $0 + "\n" }.joined()
    }
}
