// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import TestSupport

/// A graph of test nodes, before it is made.
struct Specification {
    struct Node {
        enum Kind { case unit, inPlace, echo, capture, playback, midiCapture, midiPlayback }
        var kind: Kind
        var ins = 0
        var outs = 0
        var controls = 0
        var controlOuts = 0
        var midis = 0
        var midiOuts = 0
        /// Of an echo: how long it lasts.
        var latency = 0
        var seed = 1
        var fails = false

        func count(_ kind: vg_port_kind, _ direction: vg_direction) -> Int {
            switch (kind, direction) {
            case (VG_AUDIO_PORT, VG_INPUT): ins
            case (VG_AUDIO_PORT, VG_OUTPUT): outs
            case (VG_CONTROL_PORT, VG_INPUT): controls
            case (VG_CONTROL_PORT, VG_OUTPUT): controlOuts
            case (VG_MIDI_PORT, VG_INPUT): midis
            default: midiOuts
            }
        }

        var hasParameter: Bool { kind == .unit || kind == .inPlace }
        var isExternal: Bool { [.capture, .playback, .midiCapture, .midiPlayback].contains(kind) }
        var runs: Bool { !isExternal && !fails }
    }

    /// A link between ranks of ports of one kind.
    struct Link {
        var from: Int
        var output: Int
        var to: Int
        /// nil: the parameter.
        var input: Int?
        var kind: vg_port_kind
        var gain: Float = 1
    }

    var nodes: [Node] = []
    var links: [Link] = []

    mutating func add(_ node: Node) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    /// An audio link.
    mutating func link(_ from: Int, _ output: Int = 0, to: Int, _ input: Int = 0, gain: Float = 1) {
        links.append(Link(from: from, output: output, to: to, input: input, kind: VG_AUDIO_PORT, gain: gain))
    }

    /// Makes and prepares the nodes; node i is called "n<i>".
    func graph(rate: Double = 48000, maxBlock: Int, settings more: [String: SettingValue] = [:]) throws -> ResolvedGraph
    {
        var result = ResolvedGraph()
        for (index, node) in nodes.enumerated() {
            let settings = node.settings.merging(more) { own, _ in own }
            let instance = try node.make("n\(index)", Settings(settings))
            try node.prepare(instance, Preparation(rate: rate, maxBlock: maxBlock))
            var description = NodeDescription(name: instance.name, type: instance.typeName)
            // What random nodes give may be as loud as it likes.
            description.isGuarded = false
            result.nodes.append(ResolvedGraph.Node(instance: instance, description: description))
        }
        result.links = links.map { link in
            let (from, to) = (result.nodes[link.from].instance, result.nodes[link.to].instance)
            return ResolvedGraph.Link(
                fromNode: link.from, fromPort: from.port(link.kind, VG_OUTPUT, link.output), toNode: link.to,
                target: link.input.map { .port(to.port(link.kind, VG_INPUT, $0)) } ?? .parameter(0), gain: link.gain,
                kind: link.kind)
        }
        return result
    }
}

extension Specification.Node {
    fileprivate func make(_ name: String, _ settings: Settings) throws(NodeError) -> NodeInstance {
        try NodeInstance(type: type, name: name, settings: settings)
    }

    fileprivate func prepare(_ instance: NodeInstance, _ preparation: Preparation) throws(NodeError) {
        do {
            try instance.prepare(preparation)
        } catch {
            if !fails { throw error }
        }
    }

    fileprivate var type: UnsafePointer<vg_node_type> {
        switch kind {
        case .unit: TestTypes.unit
        case .inPlace: TestTypes.inPlace
        case .echo: TestTypes.echo
        case .capture: TestTypes.capture
        case .playback: TestTypes.playback
        case .midiCapture: TestTypes.midiCapture
        case .midiPlayback: TestTypes.midiPlayback
        }
    }

    fileprivate var settings: [String: SettingValue] {
        let numbers =
            switch kind {
            case .unit, .inPlace:
                [
                    "in": ins, "out": outs, "control": controls, "control_out": controlOuts, "midi": midis,
                    "midi_out": midiOuts, "latency": latency, "seed": seed,
                ]
            case .echo: ["channels": ins, "frames": latency]
            case .capture: ["channels": outs]
            case .playback: ["channels": ins]
            default: [String: Int]()
            }
        var result = numbers.mapValues { SettingValue.integer(Int64($0)) }
        if fails { result["fail"] = .bool(true) }
        return result
    }
}

extension NodeInstance {
    /// The layout index of the port that is number `rank` of its kind and direction.
    func port(_ kind: vg_port_kind, _ direction: vg_direction, _ rank: Int) -> Int {
        ports.indices.filter { ports[$0].kind == kind && ports[$0].direction == direction }[rank]
    }
}

extension Specification {
    /// A graph of up to `most` nodes with every kind of link and, now and then, loops and nodes that fail.
    static func random(seed: UInt64, most: Int = 16, maxBlock: Int, failing: Bool = true) -> Specification {
        var random = TestRandom(seed: seed)
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var made: [Node] = [Node(kind: .capture, outs: number(1...3)), Node(kind: .midiCapture, midiOuts: 1)]
        for _ in 0..<number(1...most) {
            if chance(15) {
                let channels = number(1...2)
                made.append(
                    Node(
                        kind: .echo, ins: channels, outs: channels, latency: maxBlock + number(0...5),
                        fails: chance(15) && failing
                    ))
                continue
            }
            let inPlace = chance(40)
            let ins = number(0...3)
            made.append(
                Node(
                    kind: inPlace ? .inPlace : .unit, ins: ins, outs: chance(60) ? ins : number(0...3),
                    controls: number(0...2), controlOuts: number(0...2), midis: number(0...2), midiOuts: number(0...2),
                    latency: chance(25) ? number(1...70) : 0, seed: number(1...999), fails: chance(10) && failing))
        }
        made.append(Node(kind: .playback, ins: number(1...3)))
        made.append(Node(kind: .playback, ins: 1))
        made.append(Node(kind: .midiPlayback, midis: 1))

        // The file may name the nodes in any order.
        let places = made.indices.shuffled(using: &random)
        var result = Specification(nodes: Array(repeating: Node(kind: .unit), count: made.count))
        for (index, place) in places.enumerated() { result.nodes[place] = made[index] }
        let kinds = [
            VG_AUDIO_PORT, VG_AUDIO_PORT, VG_AUDIO_PORT, VG_CONTROL_PORT, VG_CONTROL_PORT, VG_MIDI_PORT, VG_MIDI_PORT,
        ]
        for _ in 0..<made.count * 3 {
            let kind = kinds[number(0...kinds.count - 1)]
            let (from, to) = (number(0...made.count - 1), number(0...made.count - 1))
            let outputs = made[from].count(kind, VG_OUTPUT)
            let inputs = made[to].count(kind, VG_INPUT)
            let turns = kind == VG_CONTROL_PORT && made[to].hasParameter && chance(50)
            // Backwards only into what may close a loop.
            guard from < to || made[to].kind == .echo, outputs > 0, inputs > 0 || turns else { continue }
            let gain: Float = from < to ? [1, 1, 0.5, -0.75][number(0...3)] : 0.125
            result.links.append(
                Link(
                    from: places[from], output: number(0...outputs - 1), to: places[to],
                    input: turns ? nil : number(0...inputs - 1), kind: kind, gain: kind == VG_AUDIO_PORT ? gain : 1))
        }
        return result
    }
}
