// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit

@_noLocks
private func nothing(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {}

/// A node whose ports are what its settings say, for tests of links.
final class PortNode: Node {
    static let descriptor = NodeDescriptor(
        "ports", "ports as asked for",
        parameters: [
            Parameter("level", "a level", -60...0, default: -6, unit: "dB"),
            Parameter("step", "whole", 0...10, default: 0, flags: VG_PARAM_STEPPED),
            Parameter("on", "a switch", 0...1, default: 0, flags: VG_PARAM_TOGGLE),
        ],
        settings: [
            Setting("ins", VG_SET_INTEGER, "audio inputs", range: 0...100),
            Setting("outs", VG_SET_INTEGER, "audio outputs", range: 0...100),
            Setting("sidechain", VG_SET_INTEGER, "channels of a side bus", range: 0...100),
            Setting("others", VG_SET_STRINGS, "other ports: kind, direction and symbol"),
            Setting("wave", VG_SET_STRING, "a choice", choices: ["sine", "square"]),
            Setting("ratio", VG_SET_NUMBER, "a number", range: 0...1, unit: "x"),
            Setting("path", VG_SET_PATH, "a file"), Setting("loop", VG_SET_BOOL, "a switch"),
            Setting("params", VG_SET_TABLE, "a table"),
        ],
        flags: VG_IN_PLACE, process: nothing)

    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        var ports = Port.audio(VG_INPUT, channels: settings.integer("ins") ?? 0)
        ports += Port.audio(VG_OUTPUT, channels: settings.integer("outs") ?? 0)
        for number in 0..<(settings.integer("sidechain") ?? 0) {
            ports.append(Port(VG_AUDIO_PORT, VG_INPUT, "key_\(number + 1)", bus: "sidechain"))
        }
        for text in settings.strings("others") {
            let words = text.split(separator: " ")
            let kind = ["midi": VG_MIDI_PORT, "message": VG_MESSAGE_PORT][words[0]] ?? VG_CONTROL_PORT
            ports.append(Port(kind, words[1] == "in" ? VG_INPUT : VG_OUTPUT, String(words[2])))
        }
        layout = Layout(ports: ports, parameters: Self.descriptor.layout.parameters)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// May close a feedback loop.
final class LoopNode: Node {
    static let descriptor = NodeDescriptor(
        "loop", "breaks cycles", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: nothing, absorb: nothing)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// Cannot be created: blames a setting if it is told to, else the world.
final class FailingNode: Node {
    static let descriptor = NodeDescriptor(
        "failing", "never works", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        settings: [
            Setting("blame", VG_SET_STRING, "the key at fault"), Setting("must", VG_SET_STRING, "needed"),
            Setting("params", VG_SET_TABLE, "a table"),
        ], process: nothing)
    init(settings: Settings, host: NodeHost) throws(NodeError) {
        throw NodeError("the device is on fire", hint: "put it out", key: settings.string("blame") ?? "")
    }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// Has a setting that must be given.
final class NeedyNode: Node {
    static let descriptor = NodeDescriptor(
        "needy", "wants a text", ports: Port.audio(VG_OUTPUT, channels: 1),
        settings: [Setting("text", VG_SET_STRING, "what to say", required: true)], process: nothing)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

let builderCatalog: NodeCatalog = {
    var catalog = NodeCatalog([
        makeNodeType(PortNode.self), makeNodeType(LoopNode.self), makeNodeType(FailingNode.self),
        makeNodeType(NeedyNode.self),
    ])
    catalog.addUnavailable("tts", reason: "libespeak-ng.so.1 is missing", package: "libespeak-ng1")
    return catalog
}()

/// A `ports` node.
func ports(_ name: String, ins: Int = 0, outs: Int = 0, _ more: [String: SettingValue] = [:]) -> NodeDescription {
    node(name, "ports", more.merging(["ins": .integer(Int64(ins)), "outs": .integer(Int64(outs))]) { own, _ in own })
}

/// Any node; entries stand at line 100 and following, in the order of their names.
func node(
    _ name: String, _ type: String, _ entries: [String: SettingValue] = [:], required: Bool? = nil
) -> NodeDescription {
    let keys = entries.keys.sorted()
    var places: [String: Entry] = [:]
    for (index, key) in keys.enumerated() {
        let place = SourceLocation(file: "f", line: 100 + index, column: 1)
        places[key] = Entry(entries[key]!, keyLocation: place, valueLocation: place)
    }
    var description = NodeDescription(
        name: name, type: type, entries: places, keys: keys, required: required,
        location: SourceLocation(file: "f", line: 10, column: 1),
        typeLocation: SourceLocation(file: "f", line: 11, column: 1))
    // What the nodes of these tests give are numbers more than sound.
    description.isGuarded = false
    return description
}

/// Builds a graph from links "a -> b" and nodes.
func build(_ links: [String], _ nodes: NodeDescription...) -> BuildResult { build(links, nodes) }

func build(
    _ links: [String], _ nodes: [NodeDescription], _ catalog: NodeCatalog = builderCatalog
) -> BuildResult {
    func end(_ text: Substring) -> Endpoint {
        let parts = text.split(separator: ".").map(String.init)
        return Endpoint(parts[0], parts.count > 1 ? parts[1] : nil)
    }
    let described = links.enumerated().map { index, text in
        let words = text.split(separator: " ")
        return LinkDescription(
            from: end(words[0]), to: end(words[2]), gainDB: words.count > 3 ? Double(words[3])! : 0,
            location: SourceLocation(file: "f", line: index + 1, column: 1))
    }
    return GraphBuilder.build(GraphDescription(nodes: nodes, links: described), catalog: catalog)
}

extension BuildResult {
    /// The wires as "a.out -> b.in", with the gain if it is not 1.
    var wires: [String] {
        guard let graph else { return ["no graph"] }
        return graph.links.map { link in
            let (from, to) = (graph.nodes[link.fromNode].instance, graph.nodes[link.toNode].instance)
            let target =
                switch link.target {
                case .port(let index): to.ports[index].symbol
                case .parameter(let index): "parameter " + to.parameters[index].key
                }
            let gain = link.gain == 1 ? "" : " x\(link.gain)"
            return "\(from.name).\(from.ports[link.fromPort].symbol) -> \(to.name).\(target)\(gain)"
        }
    }

    /// "error: ..." and "warning: ...".
    var messages: [String] { diagnostics.map { "\($0.severity): \($0.message)" } }
}
