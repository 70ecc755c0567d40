// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Sound of clients of the host.
extension NodeInstance {
    /// Which way it goes; nil: the node has no streams. [any]
    public var streamDirection: vg_direction? {
        extensions.streams.map { $0.pointee.gives ? VG_OUTPUT : VG_INPUT }
    }

    /// How its streams are; nil: it has none. [any]
    public var streamState: StreamState? {
        guard let ask = extensions.streams?.pointee.state else { return nil }
        return StreamState(asking: { ask(node, $0) })
    }

    /// Opens a stream for a client that has so many channels at `rate` in Hz. [any]
    public func openStream(rate: Double, channels: Int, client: String) throws(NodeError) -> NodeStream {
        guard let streams = extensions.streams else { throw NodeError("it has no streams") }
        return try NodeStream(streams.pointee, node, rate: rate, channels: channels, client: client)
    }
}
