// SPDX-License-Identifier: Apache-2.0
import Host
import JSON
import NodeKit
import Synchronization
import System

/// Reads what a host elsewhere tells, on a thread of its own, and publishes it here with what its nodes declare of it.
final class RemoteEvents: Sendable {
    private let wire: any Wire
    private let bus: EventBus
    private let connected = Atomic(true)
    /// By node and name.
    private let types = Lock<[String: [String: EventType]]>([:])

    init(_ wire: any Wire, _ bus: EventBus) { (self.wire, self.bus) = (wire, bus) }

    var isConnected: Bool { connected.load(ordering: .relaxed) }

    /// Begins; what the host answers to that.
    func begin() throws(Fault) -> JSON {
        try learn()
        let answer = try accepted(wire.listen())
        do throws(SystemError) { _ = try SystemThread(name: "vg-remote") { self.read() } } catch { throw Fault(error) }
        return answer
    }

    func end() { wire.end() }

    private func read() {
        while let line = wire.nextLine() {
            if let told = try? JSON(line) { take(told) }
        }
        connected.store(false, ordering: .relaxed)
        bus.finish()
    }

    private func take(_ told: JSON) {
        guard case .object(let fields) = told, let name = told["event"]?.string else { return }
        let (node, time) = (told["node"]?.string, told["time"]?.double ?? 0)
        if name == Self.series, let node {
            let rows = fields.compactMap { key, value in
                if case .list(let items) = value {
                    SeriesFrame.Row(Self.own(key), items.map { Float($0.double ?? .nan) })
                } else {
                    nil as SeriesFrame.Row?
                }
            }
            return bus.publish(.frame(SeriesFrame(node: node, time: time, rows: rows)))
        }
        var type = type(of: name, node)
        if type == nil, node != nil {
            // A node that is new. Whoever does not answer has ended, which is noticed soon.
            try? learn()
            type = self.type(of: name, node)
        }
        let values = fields.filter { !Self.common.contains($0.key) }.compactMap { key, value in
            value.setting.map { (Self.own(key), $0) }
        }
        let carried = Dictionary(values, uniquingKeysWith: { $1 })
        bus.publish(
            .event(
                type.map { Event($0, node: node, time: time, fields: carried) }
                    ?? Event(name, node: node, time: time, fields: carried)))
    }

    private func type(of name: String, _ node: String?) -> EventType? {
        // What the host tells of a node has types of the host.
        node.flatMap { node in types.withLock { $0[node]?[name] } } ?? HostEvent.all.first { $0.name == name }
    }

    /// Asks what the nodes declare.
    private func learn() throws(Fault) {
        var learnt: [String: [String: EventType]] = [:]
        for event in try wire.ask("declared")["events"]?.items ?? [] {
            guard let node = event["node"]?.string else { continue }
            let type = EventType(event.settings)
            learnt[node, default: [:]][type.name] = type
        }
        let all = learnt
        types.withLock { $0 = all }
    }

    private static let series = "series"
    /// What every event has, and what the connection adds.
    private static let common = EventJSON.reserved.union(["number"])

    /// The name of a field that gave way to one of those.
    private static func own(_ key: String) -> String {
        key.hasSuffix("_") && EventJSON.reserved.contains(String(key.dropLast())) ? String(key.dropLast()) : key
    }
}
