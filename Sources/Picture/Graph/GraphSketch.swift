// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import GraphFile
import NodeKit

/// A graph as it is drawn: boxes with ports, and wires between them.
public struct GraphSketch: Sendable, Equatable {
    /// What a wire carries.
    public enum Kind: String, Sendable, CaseIterable {
        case audio, control, midi, message
    }

    /// A dot at the side of a box.
    public struct Port: Sendable, Equatable {
        /// Its symbol.
        public var name: String
        /// What it carries.
        public var kind: Kind

        /// Describes a port.
        public init(_ name: String, _ kind: Kind) {
            self.name = name
            self.kind = kind
        }
    }

    /// A box.
    public struct Node: Sendable, Equatable {
        /// The node's name.
        public var name: String
        /// Its type.
        public var type: String
        /// At its left side, from the top.
        public var inputs: [Port]
        /// At its right side, from the top.
        public var outputs: [Port]
        /// Why it does not run; nil if it does.
        public var failure: String?
        /// What an LV2 plugin calls itself.
        public var plugin: String?
        /// Its output is cut off.
        public var isMuted = false
        /// Its input goes past it.
        public var isBypassed = false
        /// What it does now; nil: the drawing is of a file.
        public var live: Live?

        /// Describes a box.
        public init(
            _ name: String, _ type: String, inputs: [Port] = [], outputs: [Port] = [], failure: String? = nil
        ) {
            self.name = name
            self.type = type
            self.inputs = inputs
            self.outputs = outputs
            self.failure = failure
        }
    }

    /// What a node that runs does.
    public struct Live: Sendable, Equatable {
        /// The loudest sample that came out a moment ago, in dBFS; nil: nobody listens to it.
        public var level: Double?
        /// Its share of a block, 0...1; nil: it has no blocks.
        public var load: Double?

        /// Describes a node that runs.
        public init(level: Double? = nil, load: Double? = nil) {
            self.level = level
            self.load = load
        }
    }

    /// A wire. Ports are indices into the outputs and the inputs; a wire to something that does not exist is not drawn.
    public struct Link: Sendable, Equatable {
        /// Index of the node it comes from.
        public var from: Int
        /// Index among its outputs.
        public var output: Int
        /// Index of the node it goes to.
        public var to: Int
        /// Index among its inputs.
        public var input: Int
        /// What it carries.
        public var kind: Kind
        /// Linear.
        public var gain: Double

        /// Describes a wire.
        public init(_ from: Int, _ output: Int, to: Int, _ input: Int, _ kind: Kind = .audio, gain: Double = 1) {
            self.from = from
            self.output = output
            self.to = to
            self.input = input
            self.kind = kind
            self.gain = gain
        }
    }

    /// The graph's name.
    public var name: String
    /// In the order of the file.
    public var nodes: [Node]
    /// In the order of the file.
    public var links: [Link]

    /// Describes a drawing.
    public init(name: String = "voicegraph", nodes: [Node] = [], links: [Link] = []) {
        self.name = name
        self.nodes = nodes
        self.links = links
    }

    /// The drawing of a checked graph. Nodes of the description that the graph had to leave out are shown apart, with
    /// the reason given in `degraded`. `plugins`: what the plugins of LV2 nodes call themselves, by node.
    public init(
        resolved: ResolvedGraph, description: GraphDescription, degraded: [String: String] = [:],
        plugins: [String: String] = [:]
    ) {
        self.init(name: description.name)
        // Where each port of a layout went among the inputs or outputs of the drawing.
        var places: [[Int]] = []
        var parameters: [[Int: Int]] = []
        for node in resolved.nodes {
            var drawn = Node(node.instance.name, node.instance.typeName, failure: degraded[node.instance.name])
            var place: [Int] = []
            for port in node.instance.ports {
                let shown = Port(port.symbol, Kind(port.kind))
                if port.direction == VG_INPUT {
                    place.append(drawn.inputs.count)
                    drawn.inputs.append(shown)
                } else {
                    place.append(drawn.outputs.count)
                    drawn.outputs.append(shown)
                }
            }
            nodes.append(drawn)
            places.append(place)
            parameters.append([:])
        }
        for link in resolved.links {
            let input: Int
            switch link.target {
            case .port(let index): input = places[link.toNode][index]
            case .parameter(let index):
                // A parameter becomes a port of the drawing once something turns it.
                input = parameters[link.toNode][index] ?? nodes[link.toNode].inputs.count
                if input == nodes[link.toNode].inputs.count {
                    parameters[link.toNode][index] = input
                    let key = resolved.nodes[link.toNode].instance.parameters[index].key
                    nodes[link.toNode].inputs.append(Port(key, .control))
                }
            }
            links.append(
                Link(
                    link.fromNode, places[link.fromNode][link.fromPort], to: link.toNode, input, Kind(link.portKind),
                    gain: Double(link.gain)))
        }
        let present = Set(nodes.map(\.name))
        for node in description.nodes where !present.contains(node.name) {
            nodes.append(Node(node.name, node.type, failure: degraded[node.name] ?? "left out"))
        }
        let described = Dictionary(description.nodes.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        for index in nodes.indices {
            let name = nodes[index].name
            nodes[index].plugin = plugins[name]
            nodes[index].isMuted = described[name]?.mute == true
            nodes[index].isBypassed = described[name]?.bypass == true
        }
    }

    /// The kinds that occur, as wires or as ports.
    var kinds: [Kind] {
        let all = nodes.flatMap { $0.inputs + $0.outputs }.map(\.kind)
        return Kind.allCases.filter(all.contains)
    }

    /// Wires that have both ends.
    var soundLinks: [Link] {
        links.filter {
            nodes.indices.contains($0.from) && nodes.indices.contains($0.to)
                && nodes[$0.from].outputs.indices.contains($0.output) && nodes[$0.to].inputs.indices.contains($0.input)
        }
    }
}

extension GraphSketch.Node {
    /// What stands below its name: its type, and an LV2 plugin's own name.
    var kindText: String { plugin.map { "\(type): \($0)" } ?? type }

    /// What is done to it.
    var done: [String] { (isMuted ? ["muted"] : []) + (isBypassed ? ["bypassed"] : []) }
}

extension GraphSketch.Kind {
    init(_ kind: vg_port_kind) {
        switch kind {
        case VG_CONTROL_PORT: self = .control
        case VG_MIDI_PORT: self = .midi
        case VG_MESSAGE_PORT: self = .message
        default: self = .audio
        }
    }
}

/// A gain as a label: "-20 dB"; nil for no change.
func gainLabel(_ gain: Double) -> String? {
    guard gain > 0 else { return "muted" }
    let level = 20 * log10(gain)
    let tenths = (level * 10).rounded()
    guard tenths != 0, level.isFinite else { return nil }
    let whole = tenths.truncatingRemainder(dividingBy: 10) == 0
    let sign = tenths > 0 ? "+" : ""
    return sign + (whole ? String(Int(tenths / 10)) : String(tenths / 10)) + " dB"
}
