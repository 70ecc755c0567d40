// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// Carries messages over links, from a node into the inboxes of others, on the sender's thread, which waits for nobody. An
/// inbox that is full refuses, for that receiver alone.
final class MessageRouter: Sendable {
    private struct State {
        /// By the sender's name and the index among its message outputs.
        var routes: [Source: [Target]] = [:]
        /// Messages refused since the last look, by the receiver's name.
        var refused: [String: Int] = [:]
    }

    private struct Source: Hashable {
        var node: String
        var port: Int
    }

    private struct Target {
        var node: NodeInstance
        var port: Int
    }

    private let state = Lock(State())

    /// Takes over the message links of a graph. [control]
    func connect(_ graph: ResolvedGraph) {
        func rank(_ instance: NodeInstance, _ port: Int) -> Int {
            instance.ports[..<port].count {
                $0.kind == VG_MESSAGE_PORT && $0.direction == instance.ports[port].direction
            }
        }
        var routes: [Source: [Target]] = [:]
        for link in graph.links where link.portKind == VG_MESSAGE_PORT {
            guard case .port(let port) = link.target else { continue }
            let (from, to) = (graph.nodes[link.fromNode].instance, graph.nodes[link.toNode].instance)
            routes[Source(node: from.name, port: rank(from, link.fromPort)), default: []].append(
                Target(node: to, port: rank(to, port)))
        }
        state.withLock { $0.routes = routes }
    }

    /// Gives a message to everything linked to a port; false when one or more refused it. [any]
    func send(from node: String, port: Int, _ message: Message) -> Bool {
        let targets = state.withLock { $0.routes[Source(node: node, port: port)] ?? [] }
        var isTaken = true
        for target in targets { isTaken = send(to: target.node, port: target.port, message) && isTaken }
        return isTaken
    }

    /// Gives a message to one node. [any]
    func send(to node: NodeInstance, port: Int, _ message: Message) -> Bool {
        if node.post(message, port: port) { return true }
        state.withLock { $0.refused[node.name, default: 0] += 1 }
        return false
    }

    /// Messages refused since the last call, by the receiver's name. [any]
    func takeRefused() -> [String: Int] {
        state.withLock { state in
            defer { if !state.refused.isEmpty { state.refused = [:] } }
            return state.refused
        }
    }

    /// Forgets all links, and with them the nodes. [control]
    func disconnect() { state.withLock { $0 = State() } }
}
