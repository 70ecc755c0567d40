// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// A node of the graph whose sound clients may stream.
public struct StreamDescription: Sendable, Equatable {
    /// Its name.
    public var node: String
    /// `VG_INPUT`: clients send to it; else they hear it.
    public var direction: vg_direction
    /// How its streams are.
    public var state: StreamState
}

extension Host {
    /// Nodes whose sound can be streamed now; first those that take it.
    public var streams: [StreamDescription] {
        guard let graph = try? graph() else { return [] }
        let all = graph.nodes.compactMap { node -> StreamDescription? in
            guard let direction = node.streamDirection, let state = node.streamState, state.rate > 0 else { return nil }
            return StreamDescription(node: node.name, direction: direction, state: state)
        }
        return all.filter { $0.direction == VG_INPUT } + all.filter { $0.direction != VG_INPUT }
    }

    /// Which way the sound of a node's streams goes.
    public func streamDirection(of node: String) throws(Fault) -> vg_direction {
        if let direction = try graph().instance(node).streamDirection { return direction }
        let others = streams.map(\.node)
        throw Fault(
            "clients cannot stream the sound of the node '\(node)'",
            hint: others.isEmpty ? "no node of the graph can" : "those that can: \(others.joined(separator: ", "))")
    }

    /// Opens a stream of a node for a client that has so many channels at `rate` in Hz, and by whose name others are told of
    /// it. It ends when nobody has it any more, and gives nothing once the node is gone.
    public func openStream(
        _ node: String, rate: Double = 48_000, channels: Int, client: String
    ) throws(Fault) -> NodeStream {
        _ = try streamDirection(of: node)
        guard StreamLimits.rates.contains(rate) else {
            throw Fault("\(rate) Hz is no rate of a stream", hint: "use 8000 to 192000 Hz")
        }
        guard StreamLimits.channels.contains(channels) else {
            throw Fault("a stream cannot have \(channels) channels", hint: "use 1 to 8")
        }
        return try graph().instance(node).openStream(rate: rate, channels: channels, client: client)
    }
}
