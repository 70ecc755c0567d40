// SPDX-License-Identifier: Apache-2.0
import GraphFile
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
        /// What readers of its outputs hear.
        public var outputMode: OutputMode
        /// What they heard before: a transition goes over from that to `outputMode`.
        public var previousMode: OutputMode

        /// Pairs node and description.
        public init(
            instance: NodeInstance, description: NodeDescription, outputMode: OutputMode? = nil,
            previousMode: OutputMode? = nil
        ) {
            self.instance = instance
            self.description = description
            self.outputMode = outputMode ?? description.outputMode
            self.previousMode = previousMode ?? self.outputMode
        }
    }

    /// How loud a link is during a transition from one graph to another. See `Transition`.
    public enum Fade: UInt8, Sendable, Hashable, BitwiseCopyable {
        /// As loud as ever.
        case steady
        /// From silence to its gain, at the start: what goes into a new node.
        case entering
        /// From silence to its gain, when new nodes have something to give.
        case rising
        /// From its gain to silence, while others rise.
        case falling
    }

    /// What a link ends in.
    public enum Target: Sendable, Hashable {
        /// The input port at this index of the node's layout.
        case port(Int)
        /// The parameter at this index of the node's layout, driven by a control output.
        case parameter(Int)
    }

    /// When fades begin, in frames from the start of a transition: when delay lines and new nodes have something to give.
    public struct Fades: Sendable, Hashable {
        /// Of links that enter.
        public var entering = 0
        /// Of links that rise or fall, and of output modes.
        public var rising = 0
    }

    /// One link between two ports.
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
        /// How loud it is during a transition.
        public var fade = Fade.steady
        /// Frames that an audio link waits so that parallel paths arrive together; nil: as many as that takes. A
        /// transition keeps the old ones beside the new ones.
        public var wait: Int?

        /// Describes a link between two ports.
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
    /// In a transition: when links fade and output modes change; nil: none does.
    public var fades: Fades?

    /// Describes a resolved graph.
    public init(nodes: [Node] = [], links: [Link] = []) {
        self.nodes = nodes
        self.links = links
    }
}

extension ResolvedGraph.Node {
    /// Whether readers hear, or have just heard, something else than the node.
    var hasOutputMode: Bool { outputMode != .open || previousMode != .open }
}

extension ResolvedGraph {
    /// Whether `other` sounds the same, and can go on as this one: the same nodes and links, in the same order.
    public func isPlayed(as other: ResolvedGraph) -> Bool {
        func isSame(_ node: Node, _ other: Node) -> Bool {
            node.instance === other.instance && node.outputMode == other.outputMode
        }
        func isSame(_ link: Link, _ other: Link) -> Bool {
            var moved = other
            moved.location = link.location
            return link == moved
        }
        return nodes.elementsEqual(other.nodes, by: isSame) && links.elementsEqual(other.links, by: isSame)
    }

    /// How loud an audio link is, with the output mode of a node that has only inputs; nil: silent.
    func fade(of link: Link) -> Fade? {
        let node = nodes[link.toNode]
        guard node.hasOutputMode, node.instance.count(VG_AUDIO_PORT, VG_OUTPUT) == 0 else { return link.fade }
        switch (node.previousMode == .muted, node.outputMode == .muted, link.fade) {
        case (false, false, _): return link.fade
        case (false, true, .steady), (false, true, .falling): return .falling
        case (true, false, .steady), (true, false, .rising), (true, false, .entering): return .rising
        default: return nil
        }
    }
}
