// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

private let node = Setting("node", VG_SET_STRING, "its name", required: true)

/// Calls that turn or do something, and leave the graph as it is.
extension HostCall {
    static let changes: [HostCall] = [
        HostCall(
            "set", "turn a parameter, or change a setting that is live", change: true, right: .operator,
            arguments: [
                node,
                Setting("parameter", VG_SET_STRING, "its key or label, or the key of a live setting", required: true),
                Setting(
                    "value", VG_SET_VALUE,
                    "a number in the parameter's range, with its unit or without, true or false of a switch, or the label of "
                        + "one of its points; what the setting takes", required: true),
                Setting(
                    "at", VG_SET_NUMBER, "when a parameter begins to move: graph time", range: 0...1e12, unit: "s"),
            ],
            results: [Field("value", VG_NUMBER, "what it was set to")],
            handing: { host, given in
                let settings = try await instances(of: host, given.text("node")).first?.declarations.settings ?? []
                return Handed([given.text("parameter"): given.values["value"] ?? .number(0)], to: settings)
            }
        ) { host, given in
            let value = try await host.turn(
                given.text("node"), given.text("parameter"), to: given.values["value"] ?? .number(0),
                at: given.number("at"))
            return [("value", value)]
        },
        HostCall(
            "do", "do an action of a node; see actions", change: true, right: .visitor,
            arguments: [
                node, Setting("action", VG_SET_STRING, "its name", required: true),
                Setting("arguments", VG_SET_TABLE, "by name"),
                Setting(
                    "patience", VG_SET_NUMBER, "how long to wait for the end", default: "10", range: 0.001...3600,
                    unit: "s"),
            ],
            results: [Field("results", VG_TABLE, "what it returns")],
            handing: { host, given in
                try await handed(host, given.text("action"), of: given.text("node"), given.table("arguments") ?? [:])
            }
        ) { host, given in
            let results = try await host.perform(
                given.text("action"), on: given.text("node"), given.table("arguments") ?? [:],
                patience: given.number("patience") ?? 10)
            return [("results", .table(results))]
        },
        HostCall(
            "say", "speak: the action speak of a node", change: true, right: .operator,
            arguments: [
                Setting("text", VG_SET_STRING, "what to say", required: true),
                Setting("node", VG_SET_STRING, "its name; without it, the one node that speaks"),
            ],
            handing: { host, given in
                let speaker = if let node = given.string("node") { node } else { try await host.speaker() }
                return try await handed(host, VG_ACTION_SPEAK, of: speaker, ["text": .string(given.text("text"))])
            }
        ) { host, given in
            try await host.say(given.text("text"), on: given.string("node"))
            return []
        },
        HostCall(
            "send", "send a message to a message input", change: true, right: .operator,
            arguments: [
                node, Setting("port", VG_SET_STRING, "the input's symbol", required: true),
                Setting("text", VG_SET_STRING, "the message"), Setting("number", VG_SET_NUMBER, "the message"),
            ]
        ) { host, given in
            let message: Message
            switch (given.string("text"), given.number("number")) {
            case (let text?, nil): message = .text(text)
            case (nil, let number?): message = .number(number)
            default: throw Fault("a message is a text or a number", hint: "give one of 'text' and 'number'")
            }
            try await host.send(message, to: given.text("node"), port: given.text("port"))
            return []
        },
        HostCall(
            "save", "save every node that says where, with state = \"FOLDER\"", change: true, right: .owner,
            results: [Field("saved", VG_LIST, "their names")]
        ) { host, _ in [("saved", .list(try await host.saveStates().map(SettingValue.string)))] },
    ]

    /// An action of a node with its arguments; nil: there is none of that name.
    private static func handed(
        _ host: Host, _ name: String, of node: String, _ arguments: [String: SettingValue]
    ) async throws -> Handed? {
        guard let action = try await host.actions(of: node).first(where: { $0.name == name }) else { return nil }
        return Handed(arguments, to: action.arguments, action: (node, action))
    }
}
