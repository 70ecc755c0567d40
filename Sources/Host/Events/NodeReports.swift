// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What nodes say of themselves: how they are, and what they count. A change of a node's health is published as the
/// retained event "health".
final class NodeReports: Sendable {
    private struct Report {
        /// What the node or the host says.
        var said = Health.ok
        /// Why a guard silences it; nil: none does.
        var silenced: String?
        var counters: [String: UInt64] = [:]

        /// What counts of the two.
        var health: Health { if case .ok = said, let silenced { .degraded("silenced: " + silenced) } else { said } }
    }

    private let reports = Lock<[String: Report]>([:])
    private let bus: EventBus
    private let time: GraphTime

    init(_ bus: EventBus, _ time: GraphTime) {
        self.bus = bus
        self.time = time
    }

    /// A node says how it is. [any]
    func set(_ node: String, _ health: Health) { change(node) { $0.said = health } }

    /// Why a guard silences a node; nil: none does. [any]
    func set(_ node: String, silenced reason: String?) { change(node) { $0.silenced = reason } }

    private func change(_ node: String, _ change: (inout Report) -> Void) {
        let news = reports.withLock { reports -> Health? in
            var report = reports[node] ?? Report()
            let before = report.health
            change(&report)
            reports[node] = report
            return report.health == before ? nil : report.health
        }
        guard let news else { return }
        var fields: [String: SettingValue] = ["state": .string(news.name)]
        if let reason = news.reason { fields["reason"] = .string(reason) }
        bus.publish(.event(time.event(HostEvent.health, node: node, fields: fields)))
    }

    /// A node counts. A node that makes up names without end is counted under one. [any]
    func count(_ node: String, _ counter: String, _ number: UInt64) {
        reports.withLock { reports in
            let known = reports[node]?.counters ?? [:]
            let name = known[counter] != nil || known.count < 64 ? String(counter.prefix(64)) : "others"
            reports[node, default: Report()].counters[name, default: 0] &+= number
        }
    }

    /// The node is gone; what is retained of it is forgotten. [control]
    func forget(_ node: String) {
        reports.withLock { $0[node] = nil }
        bus.forget(node)
    }

    /// How a node is. [any]
    func health(_ node: String) -> Health { reports.withLock { $0[node]?.health ?? .ok } }

    /// Nodes that are not well, with the reason. [any]
    var degraded: [String: String] { reports.withLock { $0.compactMapValues { $0.silenced ?? $0.said.reason } } }

    /// What nodes have counted, by node. [any]
    var counters: [String: [String: UInt64]] {
        reports.withLock { $0.mapValues(\.counters).filter { !$0.value.isEmpty } }
    }
}
