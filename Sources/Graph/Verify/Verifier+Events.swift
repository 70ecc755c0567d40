// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Control cells and MIDI buffers. None is ever reused: each has one writer, and is read after it within the cycle.
extension Verifier {
    /// What is there before the first step: what the driver brings, and what nodes that do not run leave as it is.
    mutating func openEvents() throws(PlanFault) {
        guard plan.midiOutputs.count == graph.nodes.count, plan.midiCount > 0 else {
            throw PlanFault("the MIDI buffers do not fit the graph")
        }
        midi[0] = []
        var owners: Set<Int> = []
        for node in graph.nodes.indices {
            let one = instance(node)
            for (output, cell) in plan.controlOutputs[node].enumerated() {
                guard cells.indices.contains(cell), owners.insert(cell).inserted else {
                    throw PlanFault("\(name(node)) shares the cell of control output \(output)")
                }
                if !one.runs { cells[cell] = [PlanSource(node: node, output: output)] }
            }
            if one.isExternal {
                for (index, buffer) in plan.midiOutputs[node].enumerated() {
                    try checkMIDIPort(buffer, node, index, isCapture: true)
                    midi[buffer] = [PlanSource(node: node, output: index)]
                }
            }
        }
        // A cell that nothing writes holds what it held at the start.
        var written = owners
        for case .sum(let into, _) in plan.steps { written.insert(into) }
        for cell in cells.indices where !written.contains(cell) { cells[cell] = [] }
    }

    mutating func writeEvents(_ node: Int) throws(PlanFault) {
        for (output, cell) in plan.controlOutputs[node].enumerated() {
            try set(&cells, cell, [PlanSource(node: node, output: output)], name(node))
        }
        for (output, buffer) in plan.midiOutputs[node].enumerated() {
            if plan.midiExternals[buffer] != nil { throw PlanFault("\(name(node)) writes the driver's MIDI buffer") }
            try set(&midi, buffer, [PlanSource(node: node, output: output)], name(node))
        }
    }

    mutating func sum(_ into: Int, _ sources: [Int]) throws(PlanFault) {
        try set(&cells, into, try all(cells, sources, "a sum of controls").sorted(), "a sum of controls")
    }

    mutating func merge(_ into: Int, _ sources: [Int]) throws(PlanFault) {
        try set(&midi, into, try all(midi, sources, "a merge of MIDI"), "a merge of MIDI")
    }

    /// What is remembered of a link must be what comes through it, and the input must get all of it.
    func follow(_ inlet: Int) throws(PlanFault) {
        guard plan.inlets.indices.contains(inlet) else { throw PlanFault("there is no MIDI input \(inlet) to follow") }
        let (live, buffer) = (plan.inlets[inlet].live, plan.inlets[inlet].buffer)
        let parts = try all(midi, live.map(\.buffer), "what follows a MIDI input")
        if try all(midi, [buffer], "what follows a MIDI input") != parts {
            throw PlanFault("what is followed is not what a MIDI input gets")
        }
    }

    mutating func drive(_ node: Int, _ parameter: Int, _ cell: Int) throws(PlanFault) {
        guard instance(node).parameters.indices.contains(parameter), driven[node]?[parameter] == nil else {
            throw PlanFault("\(name(node)) parameter \(parameter) cannot be driven")
        }
        driven[node, default: [:]][parameter] = try all(cells, [cell], "a parameter").sorted()
    }

    /// Looks at a node's controls, parameters and MIDI inputs at the moment when it reads them.
    func checkEvents(_ node: Int) throws(PlanFault) {
        var controls: [Int: [PlanSource]] = [:]
        var parameters: [Int: [PlanSource]] = [:]
        var events: [Int: [PlanSource]] = [:]
        for link in incoming[node] {
            let from = instance(link.fromNode)
            let source = PlanSource(node: link.fromNode, output: from.rank(ofOutput: link.fromPort))
            switch link.target {
            case .parameter(let index): parameters[index, default: []].append(source)
            case .port(let port) where link.portKind == VG_CONTROL_PORT: controls[port, default: []].append(source)
            case .port(let port) where link.portKind == VG_MIDI_PORT:
                guard graph.carries(link), from.isExternal || from.runs else { break }
                if graph.nodes[link.fromNode].outputMode != .bypassed || from.isExternal {
                    events[port, default: []].append(source)
                } else if plan.midiInputs[link.fromNode].count == plan.midiOutputs[link.fromNode].count {
                    // As it was when that node was looked at.
                    let buffer = plan.midiInputs[link.fromNode][source.output]
                    events[port, default: []] += try all(midi, [buffer], "a bypass")
                }
            case .port: break
            }
        }
        for (rank, port) in inputs(node, VG_CONTROL_PORT).enumerated() {
            let cell = rank < plan.controlInputs[node].count ? plan.controlInputs[node][rank] : -1
            let found = try all(cells, [cell], "\(name(node)) control input \(rank)").sorted()
            if found != (controls[port] ?? []).sorted() {
                throw PlanFault("\(name(node)) control input \(rank) is wrong")
            }
            if found.isEmpty, plan.cells[cell].bitPattern != instance(node).ports[port].defaultValue.bitPattern {
                throw PlanFault("\(name(node)) control input \(rank) has not its default")
            }
        }
        if driven[node] ?? [:] != parameters.mapValues({ $0.sorted() }) {
            throw PlanFault("\(name(node)) has parameters that follow the wrong controls")
        }
        for (rank, port) in inputs(node, VG_MIDI_PORT).enumerated() {
            let buffer = rank < plan.midiInputs[node].count ? plan.midiInputs[node][rank] : -1
            let found = try all(midi, [buffer], "\(name(node)) MIDI input \(rank)")
            if found != events[port] ?? [] { throw PlanFault("\(name(node)) MIDI input \(rank) is wrong") }
        }
    }

    func checkMIDIPlayback(_ node: Int) throws(PlanFault) {
        for (index, buffer) in plan.midiInputs[node].enumerated() {
            try checkMIDIPort(buffer, node, index, isCapture: false)
        }
    }

    private func checkMIDIPort(_ buffer: Int, _ node: Int, _ index: Int, isCapture: Bool) throws(PlanFault) {
        let port = graph.nodes[node].external(index + 1, isMIDI: true, isCapture: isCapture)
        guard midi.indices.contains(buffer), let external = plan.midiExternals[buffer],
            plan.externals.indices.contains(external), plan.externals[external] == port
        else {
            throw PlanFault("\(name(node)) MIDI port \(index) is not the driver's")
        }
    }

    /// Layout indices of the inputs of a kind.
    private func inputs(_ node: Int, _ kind: vg_port_kind) -> [Int] {
        instance(node).ports.indices.filter {
            instance(node).ports[$0].kind == kind && instance(node).ports[$0].direction == VG_INPUT
        }
    }

    private func all(_ places: [[PlanSource]?], _ read: [Int], _ reader: String) throws(PlanFault) -> [PlanSource] {
        var result: [PlanSource] = []
        for place in read {
            guard places.indices.contains(place), let found = places[place] else {
                throw PlanFault("\(reader) reads \(place) before it is written")
            }
            result += found
        }
        return result
    }

    private func set(
        _ places: inout [[PlanSource]?], _ place: Int, _ content: [PlanSource], _ writer: String
    ) throws(PlanFault) {
        guard places.indices.contains(place), places[place] == nil else {
            throw PlanFault("\(writer) writes \(place), which is not its own")
        }
        places[place] = content
    }
}
