// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// Carries calls of actions from one node of a graph to another, as far as the file allows them.
final class ActionRouter: Sendable {
    private struct State {
        var nodes: [String: NodeInstance] = [:]
        /// What each node may call, as "NODE.ACTION".
        var allowed: [String: Set<String>] = [:]
        /// Calls under way, by who calls.
        var open: [String: Int] = [:]
    }

    private let state = Lock(State())

    /// Takes over the nodes of a graph. [control]
    func connect(_ graph: ResolvedGraph) {
        state.withLock { state in
            state.nodes = [:]
            state.allowed = [:]
            for node in graph.nodes {
                state.nodes[node.instance.name] = node.instance
                let key = AllowedActions.setting
                let given = node.description.entries[key].map { Settings([key: $0.value]) }
                state.allowed[node.instance.name] = given.map { Set($0.strings(key)) }
            }
        }
    }

    /// Forgets all nodes. [control]
    func disconnect() { state.withLock { $0 = State() } }

    /// What a node declares that can be done to it. [any]
    func actions(of node: String) -> UnsafePointer<vg_list>? {
        state.withLock { $0.nodes[node] }?.extensions.actions?.pointer(to: \.actions)
    }

    /// Does an action of a node for another; see `vg_host_actions.call`. [any]
    func call(
        from caller: String, to node: String, _ action: String, _ arguments: [String: SettingValue], seconds: Double,
        done: @escaping @Sendable (ActionResult) -> Void
    ) {
        let name = "\(node).\(action)"
        let found: Result<NodeInstance, NodeError> = state.withLock { state in
            let allowed = state.allowed[caller, default: []]
            guard allowed.contains(name) else {
                return .failure(
                    NodeError(
                        "the file does not allow '\(caller)' to call \(name)",
                        hint: "\(AllowedActions.written(allowed.sorted() + [name])) allows it"))
            }
            guard node != caller, let instance = state.nodes[node] else {
                return .failure(NodeError("there is no other node '\(node)'"))
            }
            guard state.open[caller, default: 0] < Int(VG_MOST_CALLS) else {
                return .failure(NodeError("'\(caller)' waits for \(VG_MOST_CALLS) actions already"))
            }
            state.open[caller, default: 0] += 1
            return .success(instance)
        }
        let instance: NodeInstance
        do throws(NodeError) { instance = try found.get() } catch { return done(.failure(error)) }
        let patience = seconds.isFinite ? max(0, min(seconds, 3600)) : 3600
        // Offline nobody does what waits until the caller has its answer.
        instance.perform(action, arguments, patience: patience, here: instance.isDriven) { [self] result in
            state.withLock { if let open = $0.open[caller] { $0.open[caller] = max(0, open - 1) } }
            done(result)
        }
    }
}
