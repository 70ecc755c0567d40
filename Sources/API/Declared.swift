// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NodeKit

/// Calls that tell what node types declare: a face knows nothing else of them.
extension HostCall {
    static let declared: [HostCall] = [
        HostCall(
            "declared", "what the nodes of the graph declare: the events that they tell, and their live settings",
            change: false, right: .visitor,
            arguments: [Setting("node", VG_SET_STRING, "its name; all without it")],
            results: [
                Field("events", VG_LIST, "node, name, doc, retained, role, stage, kind and fields of each"),
                Field(
                    "settings", VG_LIST, "node, what is declared of the live setting, and its value where it has one"),
            ],
            toVisitors: { results, _ in
                results.map { ($0.key, $0.key == "events" ? $0.value.filtered(\.isPublic) : .list([])) }
            }
        ) { host, given in
            let nodes = try await instances(of: host, given.string("node"))
            let events = nodes.flatMap { node in
                node.declarations.events.map { tagged($0.values, node.name) }
            }
            var settings: [SettingValue] = []
            for node in nodes {
                settings += try await host.settings(of: node.name).filter(\.setting.isLive).map {
                    tagged($0.values, node.name)
                }
            }
            return [("events", .list(events)), ("settings", .list(settings))]
        },
        HostCall(
            "types", "the types of nodes that can be added", change: false, right: .owner,
            results: [Field("types", VG_LIST, "of each all that `describe --json` tells, and its name")]
        ) { host, _ in
            let catalog = host.nodeTypes
            let types = catalog.names.compactMap { name in
                catalog.descriptor(name).map { SettingValue.table($0.values.merging(["name": .string(name)]) { $1 }) }
            }
            return [("types", .list(types))]
        },
    ]

    /// The nodes that play, or one of them.
    static func instances(of host: Host, _ wanted: String?) async throws -> [NodeInstance] {
        let nodes = await host.wiring?.nodes.map(\.instance) ?? []
        guard let wanted else { return nodes }
        guard let node = nodes.first(where: { $0.name == wanted }) else {
            throw Fault("there is no node '\(wanted)'", hint: "nodes: \(nodes.map(\.name).joined(separator: ", "))")
        }
        return [node]
    }

    private static func tagged(_ values: [String: SettingValue], _ node: String) -> SettingValue {
        .table(values.merging(["node": .string(node)]) { $1 })
    }
}
