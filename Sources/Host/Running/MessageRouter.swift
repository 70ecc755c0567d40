// SPDX-License-Identifier: Apache-2.0
import DequeModule
import Graph
import NodeKit
import System

/// Carries messages over links: in order, bounded, off the audio thread.
final class MessageRouter: Sendable {
    /// Messages that wait at most, for all nodes together; more are refused and counted.
    static let limit = 1024

    private struct State {
        /// By "node" and index among its message outputs.
        var routes: [Source: [Target]] = [:]
        var waiting: Deque<(Target, Message)> = []
        var refused = 0
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

    /// Queues a message for everything linked to a port; false when the queue was full for one or more. [any]
    func send(from node: String, port: Int, _ message: Message) -> Bool {
        state.withLock { state in
            let targets = state.routes[Source(node: node, port: port)] ?? []
            let fitting = targets.prefix(Self.limit - state.waiting.count)
            for target in fitting { state.waiting.append((target, message)) }
            state.refused += targets.count - fitting.count
            return fitting.count == targets.count
        }
    }

    /// Queues a message for one node. [any]
    func send(to node: NodeInstance, port: Int, _ message: Message) -> Bool {
        state.withLock { state in
            guard state.waiting.count < Self.limit else {
                state.refused += 1
                return false
            }
            state.waiting.append((Target(node: node, port: port), message))
            return true
        }
    }

    /// Delivers what waits, including what the receivers send meanwhile, up to a bound. [control]
    func deliver() {
        for _ in 0..<Self.limit {
            guard let (target, message) = state.withLock({ $0.waiting.popFirst() }) else { return }
            target.node.receive(message, port: target.port)
        }
    }

    /// Whether nothing waits. [any]
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
    /// Messages refused because a queue was full. [any]
    var refused: Int { state.withLock(\.refused) }
    /// Forgets all links, and with them the nodes. [control]
    func disconnect() { state.withLock { $0 = State() } }
}
