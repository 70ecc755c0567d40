// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Turns ordered nodes and links into steps over values: what is read directly, what must be summed, what must be
/// delayed so that parallel paths arrive together.
///
/// The output of a node that closes a loop takes no part in latency compensation: no other path waits for it and it
/// waits for none, so that a loop lasts as long as its delay says.
struct Planner {
    private let graph: ResolvedGraph
    private let closesLoop: [Bool]
    private var plan = Plan()
    /// Per node and audio input: the links that end there.
    private var audioLinks: [[[ResolvedGraph.Link]]]
    /// Per node: the other links that end there.
    private var otherLinks: [[ResolvedGraph.Link]]
    /// Port index in the layout -> index among the ports of its kind and direction.
    private let rank: [[Int]]
    /// Delayed values made so far: one for all readers that need the same delay.
    private var delayed: [Plan.Line: Int] = [:]
    /// What values are, for the names of delay lines.
    private var origins: [Int: Origin] = [:]
    /// MIDI links of the graph before that end.
    private let ended: [NoteLink]

    private struct Origin {
        var node: Int
        var isInput = false
        var port: Int
    }

    /// The plan for `graph`, nodes running in the order of `ordering`.
    static func plan(_ graph: ResolvedGraph, _ ordering: Ordering, ended: [NoteLink] = []) -> Plan {
        var planner = Planner(graph, ordering.closesLoop, ended)
        planner.declareOutputs()
        for turn in ordering.turns { planner.take(turn) }
        if graph.fades != nil { planner.plan.steps.append(.tick) }
        planner.plan.waits = graph.links.map { planner.wait(of: $0) }
        return planner.plan
    }

    private init(_ graph: ResolvedGraph, _ closesLoop: [Bool], _ ended: [NoteLink]) {
        self.graph = graph
        self.closesLoop = closesLoop
        self.ended = ended
        rank = graph.nodes.map { node in
            var counts: [UInt32: Int] = [:]
            return node.instance.ports.map { port in
                let key = port.kind.rawValue * 2 + port.direction.rawValue
                defer { counts[key, default: 0] += 1 }
                return counts[key, default: 0]
            }
        }
        audioLinks = graph.nodes.map { Array(repeating: [], count: $0.instance.count(VG_AUDIO_PORT, VG_INPUT)) }
        otherLinks = Array(repeating: [], count: graph.nodes.count)
        for link in graph.links {
            if link.portKind == VG_AUDIO_PORT, case .port(let port) = link.target {
                audioLinks[link.toNode][rank[link.toNode][port]].append(link)
            } else {
                otherLinks[link.toNode].append(link)
            }
        }
        plan.arrival = Array(repeating: 0, count: graph.nodes.count)
    }

    /// Every output has its value before anything runs: a loop reads values of nodes that come later.
    private mutating func declareOutputs() {
        for node in graph.nodes {
            let instance = node.instance
            let audio = instance.count(VG_AUDIO_PORT, VG_OUTPUT)
            let midi = instance.count(VG_MIDI_PORT, VG_OUTPUT)
            if instance.isExternal {
                plan.outputs.append((0..<audio).map { declareCapture(node, $0 + 1, isMIDI: false) })
                plan.midiOutputs.append((0..<midi).map { declareCapture(node, $0 + 1, isMIDI: true) })
            } else if instance.runs {
                plan.outputs.append((0..<audio).map { _ in plan.newValue() })
                plan.midiOutputs.append((0..<midi).map { _ in plan.newMIDI() })
            } else {
                plan.outputs.append(Array(repeating: 0, count: audio))
                plan.midiOutputs.append(Array(repeating: 0, count: midi))
            }
            // The value that is heard is made in the node's turn; a reader that runs earlier reads silence, as from a
            // loop that is left open.
            plan.heard.append(
                instance.isExternal || instance.runs ? plan.outputs.last! : Array(repeating: 0, count: audio))
            plan.dry.append([])
            for (port, value) in plan.outputs.last!.enumerated() where value != 0 {
                origins[value] = Origin(node: plan.outputs.count - 1, port: port)
            }
            // What they hold until the node runs, and for good if it never does.
            plan.controlOutputs.append(
                instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_OUTPUT }.map {
                    plan.newCell($0.defaultValue)
                })
            plan.inputs.append([])
            plan.controlInputs.append([])
            plan.midiInputs.append([])
        }
    }

    private mutating func declareCapture(_ node: ResolvedGraph.Node, _ number: Int, isMIDI: Bool) -> Int {
        plan.externals.append(node.external(number, isMIDI: isMIDI, isCapture: true))
        let external = plan.externals.count - 1
        guard isMIDI else { return plan.newValue(.external(external)) }
        let buffer = plan.newMIDI()
        plan.midiExternals[buffer] = external
        return buffer
    }

    private mutating func take(_ turn: Turn) {
        switch turn {
        case .absorb(let node):
            connectInputs(node)
            plan.steps.append(.absorb(node: node))
        case .process(let node):
            let instance = graph.nodes[node].instance
            if instance.isExternal {
                connectPlayback(node)
            } else {
                if instance.absorb == nil || !instance.runs { connectInputs(node) }
                if instance.runs { plan.steps.append(.process(node: node)) } else { bypass(node) }
            }
            if !graph.nodes[node].guarded.isEmpty { plan.steps.append(.guard(node: node)) }
            addOutputMode(node)
        }
    }

    /// Adds the step that bypasses or mutes a node, or did until now.
    private mutating func addOutputMode(_ node: Int) {
        guard graph.nodes[node].hasOutputMode, !plan.outputs[node].isEmpty else { return }
        let inputs = plan.inputs[node]
        let outputs = plan.outputs[node]
        let instance = graph.nodes[node].instance
        plan.dry[node] = outputs.indices.map { output in
            let input = inputs.count == outputs.count ? output : 0
            guard inputs.count == outputs.count || inputs.count == 1 else { return 0 }
            // Also where silence is delayed: the samples that are in the line are still to come out.
            let late = instance.runs ? instance.latency : 0
            return late > 0
                ? delay(inputs[input], late, Origin(node: node, isInput: true, port: input)) : inputs[input]
        }
        plan.heard[node] = outputs.indices.map { port in
            let value = plan.newValue()
            origins[value] = Origin(node: node, port: port)
            return value
        }
        plan.steps.append(.outputMode(node: node))
    }

    /// A node that could not be prepared passes its audio on if it has as many inputs as outputs; otherwise it is
    /// silent.
    private mutating func bypass(_ node: Int) {
        guard plan.inputs[node].count == plan.outputs[node].count else { return }
        plan.outputs[node] = plan.inputs[node]
        plan.heard[node] = plan.inputs[node]
    }

    private mutating func connectInputs(_ node: Int) {
        let arrival = arrivalTime(node)
        plan.arrival[node] = arrival
        plan.inputs[node] = audioLinks[node].map { value(of: $0, arrivingAt: arrival) }
        connectControlsAndMIDI(node)
    }

    /// The latest of the node's inputs: earlier ones wait for it.
    private func arrivalTime(_ node: Int) -> Int {
        audioLinks[node].joined().compactMap { departure($0.fromNode) }.max() ?? 0
    }

    /// How late a node's output is; nil: nobody waits for it.
    private func departure(_ node: Int) -> Int? {
        if closesLoop[node] { return nil }
        let instance = graph.nodes[node].instance
        return plan.arrival[node] + (instance.runs ? instance.latency : 0)
    }

    /// One value for everything that is linked to an input.
    private mutating func value(of links: [ResolvedGraph.Link], arrivingAt arrival: Int) -> Int {
        let terms = terms(links, arrivingAt: arrival)
        if terms.isEmpty { return 0 }
        if terms.count == 1, terms[0].isPlain { return terms[0].value }
        let sum = plan.newValue()
        plan.steps.append(.mix(into: sum, terms: terms))
        return sum
    }

    private mutating func terms(_ links: [ResolvedGraph.Link], arrivingAt arrival: Int) -> [Plan.Term] {
        links.compactMap { link in
            let port = rank[link.fromNode][link.fromPort]
            let source = plan.heard[link.fromNode][port]
            guard source != 0 else { return nil }
            let wait = link.wait ?? departure(link.fromNode).map { arrival - $0 } ?? 0
            let origin = origins[source] ?? Origin(node: link.fromNode, port: port)
            let value = wait > 0 ? delay(source, wait, origin) : source
            // A muted signal still goes through its delay line, so that it is there when it is heard again.
            return graph.fade(of: link).map { Plan.Term(value: value, gain: link.gain, fade: $0) }
        }
    }

    /// Frames that a link waits, once every node has its time.
    private func wait(of link: ResolvedGraph.Link) -> Int {
        guard link.portKind == VG_AUDIO_PORT else { return 0 }
        return link.wait ?? departure(link.fromNode).map { plan.arrival[link.toNode] - $0 } ?? 0
    }

    private mutating func delay(_ value: Int, _ frames: Int, _ origin: Origin) -> Int {
        let line = Plan.Line(
            node: ObjectIdentifier(graph.nodes[origin.node].instance), isInput: origin.isInput, port: origin.port,
            frames: frames)
        if let known = delayed[line] { return known }
        let late = plan.newValue()
        plan.steps.append(.delay(into: late, from: value, frames: frames))
        delayed[line] = late
        plan.lines[late] = line
        return late
    }

    /// The driver's buffer is written directly where the value is made, if nobody else has claimed that value; else by
    /// a copy or a sum.
    private mutating func connectPlayback(_ node: Int) {
        let arrival = arrivalTime(node)
        plan.arrival[node] = arrival
        for (index, links) in audioLinks[node].enumerated() {
            plan.externals.append(graph.nodes[node].external(index + 1, isMIDI: false, isCapture: false))
            let buffer = BufferID.external(plan.externals.count - 1)
            let terms = terms(links, arrivingAt: arrival)
            if terms.count == 1, terms[0].isPlain, plan.values[terms[0].value] == .unassigned {
                plan.values[terms[0].value] = buffer
                plan.inputs[node].append(terms[0].value)
            } else {
                let sum = plan.newValue(buffer)
                plan.steps.append(.mix(into: sum, terms: terms))
                plan.inputs[node].append(sum)
            }
        }
        connectControlsAndMIDI(node)
        for (index, buffer) in plan.midiInputs[node].enumerated() {
            plan.externals.append(graph.nodes[node].external(index + 1, isMIDI: true, isCapture: false))
            let own = plan.newMIDI()
            plan.midiExternals[own] = plan.externals.count - 1
            plan.steps.append(.merge(into: own, from: buffer == 0 ? [] : [buffer]))
            plan.midiInputs[node][index] = own
        }
    }

    private mutating func connectControlsAndMIDI(_ node: Int) {
        let instance = graph.nodes[node].instance
        var cells: [[Int]] = Array(repeating: [], count: instance.count(VG_CONTROL_PORT, VG_INPUT))
        var events: [[(link: NoteLink, buffer: Int)]] = Array(
            repeating: [], count: instance.count(VG_MIDI_PORT, VG_INPUT))
        var driven: [Int: [Int]] = [:]
        for link in otherLinks[node] where link.portKind != VG_MESSAGE_PORT {
            let source = rank[link.fromNode][link.fromPort]
            switch link.target {
            case .parameter(let index): driven[index, default: []].append(plan.controlOutputs[link.fromNode][source])
            case .port(let port) where link.portKind == VG_MIDI_PORT:
                let buffer = graph.carries(link) ? heardMIDI(link.fromNode, source) : 0
                if buffer != 0, let name = graph.noteLink(link) {
                    events[rank[node][port]].append((name, buffer))
                }
            case .port(let port): cells[rank[node][port]].append(plan.controlOutputs[link.fromNode][source])
            }
        }
        let defaults = instance.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_INPUT }
        plan.controlInputs[node] = zip(cells, defaults).map { cells, port in
            cells.isEmpty ? plan.newCell(port.defaultValue) : sum(cells)
        }
        for (parameter, cells) in driven.sorted(by: { $0.key < $1.key }) {
            plan.steps.append(.drive(node: node, parameter: parameter, cell: sum(cells)))
        }
        plan.midiInputs[node] = events.enumerated().map { input, sources in
            let gone = ended.filter { $0.to == instance.number && $0.input == input }
            if sources.isEmpty, gone.isEmpty { return 0 }
            var inlet = Plan.Inlet(live: sources, ended: gone, buffer: sources.first?.buffer ?? 0)
            if sources.count > 1 || !gone.isEmpty {
                inlet.buffer = plan.newMIDI()
                plan.steps.append(.merge(into: inlet.buffer, from: sources.map(\.buffer)))
            }
            plan.inlets.append(inlet)
            // After the merge, which ends the notes that no link holds any more.
            if !sources.isEmpty { plan.steps.append(.follow(inlet: plan.inlets.count - 1)) }
            return inlet.buffer
        }
    }

    /// The events that readers of a MIDI output get: those of a bypassed node are what goes into it.
    private func heardMIDI(_ node: Int, _ output: Int) -> Int {
        switch graph.nodes[node].outputMode {
        case .open: return plan.midiOutputs[node][output]
        case .muted: return 0
        case .bypassed:
            guard !graph.nodes[node].instance.isExternal else { return plan.midiOutputs[node][output] }
            let inputs = plan.midiInputs[node]
            return inputs.count == plan.midiOutputs[node].count ? inputs[output] : 0
        }
    }

    private mutating func sum(_ cells: [Int]) -> Int {
        if cells.count == 1 { return cells[0] }
        let total = plan.newCell(0)
        plan.steps.append(.sum(into: total, cells: cells))
        return total
    }
}

extension Plan.Term {
    /// Whether the value can be read as it is.
    fileprivate var isPlain: Bool { gain == 1 && fade == .steady }
}

extension NodeInstance {
    /// Ports of one kind and direction.
    func count(_ kind: vg_port_kind, _ direction: vg_direction) -> Int {
        ports.count { $0.kind == kind && $0.direction == direction }
    }

    /// Whether the audio thread has anything to call.
    var runs: Bool { processor != nil && type.pointee.process != nil }
}
