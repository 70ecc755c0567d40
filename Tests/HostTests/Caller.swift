// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Calls actions of other nodes, and tells what came of it.
final class Caller: Node {
    static let descriptor = NodeDescriptor(
        "caller", "for tests", settings: [Setting("allow", VG_SET_STRINGS, "what it may call")],
        actions: [
            Action(
                "ask", "call an action of another node",
                arguments: [
                    Setting("node", VG_SET_STRING, "whose", required: true),
                    Setting("action", VG_SET_STRING, "which", required: true),
                    Setting("text", VG_SET_STRING, "its argument"),
                    Setting("seconds", VG_SET_NUMBER, "how long it may take"),
                ], results: [Field("results", VG_TABLE, "its results")]),
            Action(
                "look", "tell what can be done to another node",
                arguments: [Setting("node", VG_SET_STRING, "which", required: true)],
                results: [Field("actions", VG_LIST, "their names")]),
        ])

    private let host: NodeHost
    init(settings: Settings, host: NodeHost) throws(NodeError) { self.host = host }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        let node = arguments.string("node") ?? ""
        if action == "look" {
            guard let actions = host.actions(of: node) else { throw NodeError("nothing is known of it") }
            return call.put("actions", .list(actions.map { .string($0.name) }))
        }
        let later = call.later()
        let given = arguments.string("text").map { ["text": SettingValue.string($0)] } ?? [:]
        host.call(
            node, arguments.string("action") ?? "", given, seconds: arguments.number("seconds") ?? 10
        ) { result in
            switch result {
            case .success(let results):
                later.put("results", .table(results))
                later.finish()
            case .failure(let error): later.fail(error)
            }
        }
    }
}
