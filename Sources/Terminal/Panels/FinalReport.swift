// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NodeKit

/// What a run says when it ends.
public enum FinalReport {
    /// How long it ran, what went wrong, and a table of what each node took of a block, the most expensive first.
    public static func text(
        _ status: Status, _ timings: [NodeTiming], _ dropouts: [Dropout] = [], dropped: Int = 0
    ) -> String {
        var head =
            "\(duration(status.time)) played by \(driverText(status)), \(count(Int(status.blocks), "block")), \(count(status.xruns, "xrun"))"
        if dropped > 0 { head += ", \(count(dropped, "event")) not shown because the output was too slow" }
        var lines = [head] + causes(status, dropouts)
        let budget = status.rate > 0 ? Double(status.block) / status.rate : 0
        let rows = timings.sorted { ($0.average, $1.node) > ($1.average, $0.node) }.prefix(longest)
        let width = max(4, rows.map { printable($0.node).count }.max() ?? 0)
        func row(_ cells: [String]) -> String {
            let first = "  " + cells[0] + String(repeating: " ", count: max(0, width - cells[0].count))
            return cells.dropFirst().reduce(first) { $0 + String(repeating: " ", count: max(2, 12 - $1.count)) + $1 }
        }
        if !rows.isEmpty { lines.append(row(["node", "mean us", "99 % us", "longest us", "of a block"])) }
        for timing in rows {
            lines.append(
                row([
                    printable(timing.node), fixed(timing.average * 1e6, 1), fixed(timing.p99 * 1e6, 1),
                    fixed(timing.maximum * 1e6, 1),
                    budget > 0 ? fixed(100 * timing.average / budget, 2) + " %" : "",
                ]))
        }
        if timings.count > rows.count { lines.append("  and \(timings.count - rows.count) more") }
        if !status.notice.isEmpty { lines.append("  " + printable(status.notice)) }
        if status.lostMIDI > 0 { lines.append("  \(count(Int(clamping: status.lostMIDI), "MIDI event")) lost") }
        for (node, reason) in status.degraded.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(printable(node)) failed: \(printable(reason))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// For every cause of dropouts how many there were, the worst of them, and what to do.
    private static func causes(_ status: Status, _ dropouts: [Dropout]) -> [String] {
        var lines: [String] = []
        for (cause, number) in status.dropouts.sorted(by: { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) })
        {
            let worst = dropouts.filter { $0.cause == cause }.max { $0.took < $1.took }
            lines.append("  \(count(number, "late cycle")): " + printable(worst?.text ?? cause.rawValue))
            if let advice = worst?.advice { lines.append("    " + advice) }
        }
        if status.unrecorded > 0 { lines.append("  \(count(Int(status.unrecorded), "cycle")) not recorded") }
        let advice = status.scheduling.advice
        if !advice.isEmpty, !lines.isEmpty { lines.append("    " + advice) }
        return lines
    }

    private static func duration(_ seconds: Double) -> String {
        seconds < 60 ? "\(fixed(seconds, 1)) s" : clock(seconds)
    }

    /// Rows of the table at most.
    static let longest = 20

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
