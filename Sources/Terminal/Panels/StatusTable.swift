// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

/// What `voicegraph status` prints.
public enum StatusTable {
    /// A line for each fact.
    public static func text(_ status: Status, clients: Int) -> String {
        var rows = [
            ("graph", printable(status.client)),
            ("driver", ([status.driver] + [serverText(status)].compactMap { $0 }).joined(separator: " ")),
            ("rate", rateText(status.rate)),
        ]
        if status.rate > 0 {
            let milliseconds = fixed(Double(status.block) / status.rate * 1000, 2)
            rows.append(("block", "\(status.block) frames, \(milliseconds) ms"))
        }
        rows += [
            ("playing", clock(status.time)), ("load", fixed(status.load * 100, 1) + " %"),
            ("xruns", String(status.xruns)), ("blocks", String(status.blocks)), ("clients", String(clients)),
        ]
        if !status.notice.isEmpty { rows.insert(("notice", status.notice), at: 2) }
        if let change = status.lastChange { rows.append(("change", change.text)) }
        if !status.state.isEmpty, status.state != "running" { rows.insert(("server", status.state), at: 2) }
        for (cause, number) in status.dropouts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            rows.append(("late", "\(number) cycle\(number == 1 ? "" : "s"), cause: \(cause.rawValue)"))
        }
        let scheduling = status.scheduling
        if scheduling.policy != .unknown {
            let priority = scheduling.isRealtime ? ", priority \(scheduling.priority)" : ""
            let (locked, shared) = (scheduling.lockedMemory >> 20, scheduling.sharedMemory >> 20)
            let beside = shared > 0 ? ", \(shared) MB of the server's" : ""
            rows.append(("thread", "\(scheduling.policy.rawValue)\(priority), \(locked) MB locked in memory\(beside)"))
            if !scheduling.advice.isEmpty { rows.append(("advice", scheduling.advice)) }
        }
        if status.threads > 1 {
            rows.append(("threads", "up to \(status.threads) run the graph"))
        }
        if status.lostMIDI > 0 {
            rows.append(("midi", "\(status.lostMIDI) events lost: more came than a block can hold"))
        }
        rows += status.unconnected.sorted { $0.key < $1.key }.map {
            ("silent", "\(printable($0.key)): \(printable($0.value))")
        }
        rows += status.degraded.sorted { $0.key < $1.key }.map {
            ("failed", "\(printable($0.key)): \(printable($0.value))")
        }
        return rows.map { "\($0.0)" + String(repeating: " ", count: 9 - $0.0.count) + printable($0.1) + "\n" }.joined()
    }
}
