// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import Host
import NodeKit

/// Calls that only look.
extension HostCall {
    static let queries: [HostCall] = [
        HostCall(
            "status", "what is measured now", change: false, right: .operator,
            results: [Field("status", VG_TABLE, "driver, load, dropouts, counters, nodes that are not well, ...")]
        ) { host, _ in
            guard let status = await host.status else { throw Fault("no graph is playing") }
            let fields = status.fields + [("time", .number(status.time))]
            return [("status", .table(Dictionary(fields.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })))]
        },
        HostCall(
            "nodes", "the graph as it is: nodes with settings, parameters and ports, and links", change: false,
            right: .visitor,
            results: [
                Field("graph", VG_STRING, "its name"),
                Field("nodes", VG_LIST, "its nodes; plugin: what an LV2 plugin calls itself"),
                Field("links", VG_LIST, "its links, as they are written"),
                Field("wires", VG_LIST, "what they come to: from a port of a node to a port or parameter"),
            ],
            toVisitors: { results, _ in
                // What plays, and nothing of how it is set.
                results.map { key, value in
                    (
                        key,
                        key == "nodes"
                            ? value.mapped { $0.without("settings", "parameters", "degraded", "plugin") } : value
                    )
                }
            }
        ) { host, _ in await graph(of: host) },
        HostCall(
            "file", "the graph as it plays, as the text of a file, with the comments of the one that it was read from",
            change: false, right: .owner,
            arguments: [
                Setting(
                    "folder", VG_SET_STRING, "where the file is to lie; without it, where the graph's own file lies",
                    names: .file)
            ],
            results: [
                Field("text", VG_STRING, "the file"), Field("path", VG_STRING, "the file that it was read from"),
            ]
        ) { host, given in
            let text = try await host.text(in: given.string("folder"))
            return [("text", .string(text))] + (await host.path.map { [("path", .string($0))] } ?? [])
        },
        HostCall(
            "timings", "what each node takes of a block", change: false, right: .operator,
            results: [Field("timings", VG_TABLE, "by node, in microseconds")]
        ) { host, _ in
            let timings = await host.timings.map { ($0.node, SettingValue.table($0.fields)) }
            return [("timings", .table(Dictionary(timings, uniquingKeysWith: { $1 })))]
        },
        HostCall(
            "levels", "listen to every node, and say how loud each is", change: false, right: .operator,
            arguments: [
                Setting("seconds", VG_SET_NUMBER, "how long", default: "0.3", range: 0.01...10, unit: "s")
            ],
            results: [
                Field(
                    "levels", VG_TABLE,
                    "by node from which audio comes, the loudest sample, linear")
            ]
        ) { host, given in
            let levels = try await host.levels(seconds: given.number("seconds") ?? 0.3)
            return [("levels", .table(levels.mapValues { SettingValue($0) }))]
        },
        HostCall(
            "dropouts", "the last hundred dropouts, with their causes", change: false, right: .operator,
            results: [Field("dropouts", VG_LIST, "oldest first")]
        ) { host, _ in [("dropouts", .list(await host.dropouts.map { .table($0.fields) }))] },
        HostCall(
            "get", "what a parameter or setting, or every one of a node, was last set to", change: false,
            right: .operator,
            arguments: [
                Setting("node", VG_SET_STRING, "its name", required: true),
                Setting("parameter", VG_SET_STRING, "its key; all without it"),
            ],
            results: [
                Field("value", VG_NUMBER, "of one; of a setting in its own kind, missing where it has none"),
                Field("parameters", VG_LIST, "of all, with their ranges"),
                Field("settings", VG_LIST, "what is declared of each, and its value where it has one"),
            ]
        ) { host, given in
            let node = given.text("node")
            let settings = try await host.settings(of: node)
            guard let name = given.string("parameter") else {
                let parameters = try await host.parameters(of: node)
                return [
                    ("parameters", .list(parameters.map { .table($0.values) })),
                    ("settings", .list(settings.map { .table($0.values) })),
                ]
            }
            if let state = settings.first(where: { $0.setting.key == name }) {
                return state.value.map { [("value", $0)] } ?? []
            }
            return [("value", SettingValue(try await host.value(node, name)))]
        },
        HostCall(
            "judge", "listen to an input, or to every input, and say what comes from it", change: false,
            right: .operator,
            arguments: [
                Setting("node", VG_SET_STRING, "its name; all without it"),
                Setting("seconds", VG_SET_NUMBER, "how long", default: "2.0", range: 0.1...60, unit: "s"),
            ],
            results: [Field("inputs", VG_LIST, "node, verdict, text and peak of each")]
        ) { host, given in
            let names = given.string("node").map { [$0] } ?? []
            let inputs = names.isEmpty ? await host.inputs : names
            let seconds = given.number("seconds") ?? 2
            // All at the same time; whoever gives up the call gives up all of them.
            let judged = try await withThrowingTaskGroup(of: (Int, SettingValue).self) { group in
                for (place, name) in inputs.enumerated() {
                    group.addTask {
                        let judgement = try await host.judge(name, seconds: seconds)
                        return (place, .table(judgement.values.merging(["node": .string(name)]) { $1 }))
                    }
                }
                var judged: [(Int, SettingValue)] = []
                for try await one in group { judged.append(one) }
                return judged.sorted { $0.0 < $1.0 }.map(\.1)
            }
            return [("inputs", .list(judged))]
        },
        HostCall(
            "actions", "what can be done to a node, or to every node", change: false, right: .visitor,
            arguments: [Setting("node", VG_SET_STRING, "its name; all without it")],
            results: [Field("actions", VG_LIST, "node, name, doc, public, arguments and results of each")],
            toVisitors: { results, caller in results.map { ($0.key, $0.value.filtered(caller.mayDo)) } }
        ) { host, given in
            func list(_ node: String) async throws -> [SettingValue] {
                try await host.actions(of: node).map { .table($0.values.merging(["node": .string(node)]) { $1 }) }
            }
            if let node = given.string("node") { return [("actions", .list(try await list(node)))] }
            var actions: [SettingValue] = []
            // One that was left out has none.
            for node in await host.description?.nodes ?? [] { actions += (try? await list(node.name)) ?? [] }
            return [("actions", .list(actions))]
        },
        HostCall(
            "series", "what every node measures, and the host of it", change: false, right: .visitor,
            arguments: [Setting("node", VG_SET_STRING, "its name; all without it")],
            results: [Field("series", VG_LIST, "node, name, doc, unit, rate, width and on_request of each")]
        ) { host, given in
            let series = try await instances(of: host, given.string("node")).flatMap { node in
                (node.declarations.series + [Host.output]).map {
                    SettingValue.table($0.values.merging(["node": .string(node.name)]) { $1 })
                }
            }
            return [("series", .list(series))]
        },
    ]

    private static func graph(of host: Host) async -> CallResults {
        let description = await host.description ?? GraphDescription()
        let parameters = await host.parameters
        let degraded = await host.status?.degraded ?? [:]
        let wiring = await host.wiring ?? ResolvedGraph()
        let made = Dictionary(wiring.nodes.map { ($0.instance.name, $0.instance) }, uniquingKeysWith: { $1 })
        let plugins = description.pluginNames
        let nodes = description.nodes.map { node in
            var fields: [String: SettingValue] = [
                "name": .string(node.name), "type": .string(node.type), "bypass": .bool(node.bypass),
                "mute": .bool(node.mute), "kept": .bool(node.keep && description.archive),
                "settings": .table(node.shownSettings),
                "parameters": .list((parameters[node.name] ?? []).map { .table($0.values) }),
                "ports": .list(made[node.name]?.ports.map(\.fields) ?? []),
                "roles": .list(made[node.name]?.declarations.roles.map { .string($0.rawValue) } ?? []),
            ]
            if let fault = made[node.name]?.bypassFault { fields["no_bypass"] = .string(fault) }
            if let plugin = plugins[node.name] { fields["plugin"] = .string(plugin) }
            if let reason = degraded[node.name] { fields["degraded"] = .string(reason) }
            return SettingValue.table(fields)
        }
        let links = description.links.map {
            SettingValue.table([
                "from": .string($0.from.description), "to": .string($0.to.description), "gain_db": .number($0.gainDB),
            ])
        }
        return [
            ("graph", .string(description.name)), ("nodes", .list(nodes)), ("links", .list(links)),
            ("wires", .list(wiring.links.map { wire($0, wiring.nodes.map(\.instance)) })),
        ]
    }

    private static func wire(_ link: ResolvedGraph.Link, _ nodes: [NodeInstance]) -> SettingValue {
        let (from, to) = (nodes[link.fromNode], nodes[link.toNode])
        let input =
            switch link.target {
            case .port(let index): to.ports[index].symbol
            case .parameter(let index): to.parameters[index].key
            }
        return .table([
            "from": .string(from.name), "output": .string(from.ports[link.fromPort].symbol), "to": .string(to.name),
            "input": .string(input), "kind": .string(link.portKind.name), "gain": SettingValue(link.gain),
        ])
    }
}
