// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NodeKit

/// A column of the table of `voicegraph top`.
enum TopColumn: Int, CaseIterable, Sendable {
    case node, recent, recentPeak, share, mean, p99, longest

    var title: String {
        switch self {
        case .node: "node"
        case .recent: "now us"
        case .recentPeak: "peak us"
        case .share: "of a block"
        case .mean: "mean us"
        case .p99: "99 % us"
        case .longest: "longest us"
        }
    }

    /// Columns of a screen that it takes, with the gap before it.
    var width: Int { title.count <= 7 ? 10 : 12 }

    /// Numbers, those without which a screen can do best first.
    static let dispensable: [TopColumn] = [.mean, .p99, .recentPeak, .longest, .recent]

    /// Seconds, by which it is sorted; nil: by name.
    func seconds(_ timing: NodeTiming) -> Double? {
        switch self {
        case .node: nil
        case .recent, .share: timing.recent
        case .recentPeak: timing.recentMaximum
        case .mean: timing.average
        case .p99: timing.p99
        case .longest: timing.maximum
        }
    }

    /// What stands in it; `period`: that of a block, in seconds.
    func text(_ timing: NodeTiming, period: Double) -> String {
        guard let seconds = seconds(timing) else { return printable(timing.node) }
        guard self == .share else { return fixed(seconds * 1e6, 1) }
        return period > 0 ? fixed(100 * seconds / period, 2) + " %" : ""
    }
}

/// The table of `voicegraph top`, the most expensive nodes first.
public enum TopTable {
    /// The largest numbers first, or names from the first letter on.
    static func sorted(_ timings: [NodeTiming], by column: TopColumn = .share) -> [NodeTiming] {
        timings.sorted { a, b in
            guard let first = column.seconds(a), let second = column.seconds(b) else { return a.node < b.node }
            return (first, b.node) > (second, a.node)
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
        let first = max(4, state.timings.map { printable($0.node).count }.max() ?? 0)
        func line(_ cell: (TopColumn) -> String) -> String {
            TopColumn.allCases.dropFirst().reduce(
                cell(.node) + String(repeating: " ", count: first - cell(.node).count)
            ) { $0 + String(repeating: " ", count: max(2, 12 - cell($1).count)) + cell($1) }
        }
        let status = state.status
        let head = [printable(status.client), status.driver, rateText(status.rate), "\(status.block) frames"]
        var lines = [(head + facts(status)).joined(separator: "  "), line(\.title)]
        lines += sorted(state.timings).map { timing in line { $0.text(timing, period: state.period) } }
        lines += status.degraded.sorted { $0.key < $1.key }.map { printable("\($0.key) failed: \($0.value)") }
        lines += state.dropouts.prefix(5).map { printable($0.text) }
        return lines.map { $0 + "\n" }.joined()
    }
}
