// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit

private let difference = [
    Field("changed", VG_TABLE, "what the change did, and how long it took"),
    Field("warnings", VG_LIST, "what was found on the way"),
]
private let which = Setting("node", VG_SET_STRING, "its name", required: true)
private let link = Setting("link", VG_SET_STRING, "as in a file: \"a -> b.in_2\"", required: true)
private let on = Setting("on", VG_SET_BOOL, "false: no more", default: "true")

/// Calls that change the graph while it plays. Each answers when its change is heard.
extension HostCall {
    static let edits: [HostCall] = [
        HostCall(
            "add", "add a node, unlinked or into a link", change: true, right: .owner,
            arguments: [
                Setting("node", VG_SET_TABLE, "name, type and settings", required: true),
                Setting("into", VG_SET_STRING, "a link that then goes through it, as in a file: \"a -> b\""),
            ], results: difference,
            handing: { host, given in
                let values = given.table("node") ?? [:]
                let type =
                    if case .string(let name)? = values["type"] { host.nodeTypes.descriptor(name) } else {
                        nil as NodeDescriptor?
                    }
                return Handed(values, to: type?.settings ?? [])
            }
        ) { host, given in
            let node = try description(of: given.table("node") ?? [:])
            return answer(try await host.add(node, into: given.string("into")))
        },
        HostCall(
            "remove", "remove a node and its links", change: true, right: .owner, arguments: [which],
            results: difference
        ) {
            host, given in answer(try await host.remove(given.text("node")))
        },
        HostCall(
            "link", "link nodes, or give a link another gain", change: true, right: .owner,
            arguments: [link, LinkDescription.gain.setting],
            results: difference
        ) { host, given in answer(try await host.link(given.text("link"), gainDB: given.number("gain_db"))) },
        HostCall("unlink", "remove links", change: true, right: .owner, arguments: [link], results: difference) {
            host, given in
            answer(try await host.unlink(given.text("link")))
        },
        HostCall(
            "bypass", "let what goes into a node through in place of what comes out", change: true, right: .operator,
            arguments: [which, on], results: difference
        ) { host, given in answer(try await host.bypass(given.text("node"), given.bool("on") ?? true)) },
        HostCall("mute", "silence a node", change: true, right: .operator, arguments: [which, on], results: difference)
        { host, given in
            answer(try await host.mute(given.text("node"), given.bool("on") ?? true))
        },
        HostCall(
            "reload", "become what the file says now", change: true, right: .owner,
            arguments: [Setting("path", VG_SET_STRING, "another file", names: .program)], results: difference
        ) { host, given in answer(try await host.reload(given.string("path"))) },
        HostCall(
            "undo", "take back the last change of the graph or of a parameter", change: true, right: .owner,
            results: [Field("step", VG_STRING, "what was taken back")] + difference
        ) { host, _ in
            let (step, done) = try await host.undo()
            return [("step", .string(step))] + answer(done)
        },
        HostCall(
            "redo", "do again what was taken back last", change: true, right: .owner,
            results: [Field("step", VG_STRING, "what was done again")] + difference
        ) { host, _ in
            let (step, done) = try await host.redo()
            return [("step", .string(step))] + answer(done)
        },
    ]

    private static func answer(_ done: GraphDifference) -> CallResults {
        [("changed", .table(done.fields)), ("warnings", .list(done.warnings.map(\.fields)))]
    }

    /// A node as `add` takes it: name, type and settings, as in a file.
    private static func description(of given: [String: SettingValue]) throws(Fault) -> NodeDescription {
        var fields = given
        func text(_ key: String) throws(Fault) -> String {
            guard let value = fields.removeValue(forKey: key) else {
                throw Fault(
                    "the node has no '\(key)'",
                    hint: "for example {\"name\":\"quiet\",\"type\":\"gain\",\"gain_db\":-6}")
            }
            guard case .string(let text) = value, !text.isEmpty else {
                throw Fault("the node's '\(key)' must be a text")
            }
            return text
        }
        let name = try text("name")
        guard NodeDescription.isName(name) else {
            throw Fault(
                "'\(name.prefix(60))' cannot be a node's name",
                hint: "names are made of letters, digits, '_' and '-'")
        }
        var node = NodeDescription(name: name, type: try text("type"))
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            if let fault = node.set(key, Entry(value, inner: inner(value))) { throw fault }
        }
        return node
    }

    private static func inner(_ value: SettingValue) -> [String: Entry] {
        switch value {
        case .table(let table): table.mapValues { Entry($0, inner: inner($0)) }
        case .list(let items):
            Dictionary(
                uniqueKeysWithValues: items.enumerated().map {
                    (String($0.offset), Entry($0.element, inner: inner($0.element)))
                })
        default: [:]
        }
    }
}
