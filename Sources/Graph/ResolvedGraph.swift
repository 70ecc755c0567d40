// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A checked graph: every node exists, every link joins one output port to one input port or parameter of its kind.
/// What the compiler takes.
public struct ResolvedGraph: Sendable {
    /// One node; its index here is its identity in links.
    public struct Node: Sendable {
        /// The node itself.
        public var instance: NodeInstance
        /// What the file says of it.
        public var description: NodeDescription

        /// Pairs the two.
        public init(instance: NodeInstance, description: NodeDescription) {
            self.instance = instance
            self.description = description
        }
    }

    /// What a link ends in.
    public enum Target: Sendable, Hashable {
        /// The input port at this index of the node's layout.
        case port(Int)
        /// The parameter at this index of the node's layout, driven by a control output.
        case parameter(Int)
    }

    /// One wire.
    public struct Link: Sendable, Hashable {
        /// Index of the source node.
        public var fromNode: Int
        /// Index of the output port in the source's layout.
        public var fromPort: Int
        /// Index of the destination node.
        public var toNode: Int
        /// Where it ends there.
        public var target: Target
        /// Linear gain, of audio links.
        public var gain: Float
        /// What it carries.
        public var kind: UInt32
        /// Where it stands in the file.
        public var location: SourceLocation

        /// Describes a wire.
        public init(
            fromNode: Int, fromPort: Int, toNode: Int, target: Target, gain: Float = 1, kind: vg_port_kind,
            location: SourceLocation = SourceLocation()
        ) {
            self.fromNode = fromNode
            self.fromPort = fromPort
            self.toNode = toNode
            self.target = target
            self.gain = gain
            self.kind = kind.rawValue
            self.location = location
        }

        /// What it carries.
        public var portKind: vg_port_kind { vg_port_kind(rawValue: kind) }
    }

    /// In the order of the file.
    public var nodes: [Node]
    /// In the order of the file.
    public var links: [Link]

    /// Describes a resolved graph.
    public init(nodes: [Node] = [], links: [Link] = []) {
        self.nodes = nodes
        self.links = links
    }
}
