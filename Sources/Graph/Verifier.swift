// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Checks a plan against the graph without trusting how it was made: plays the steps through with symbols instead of
/// samples and looks at what each node input and each driver port would hold. Finds wrong order, shared or early reused
/// buffers, missing links, wrong gains and misaligned paths. Returns what is wrong, or nil.
func verify(_ plan: Plan, _ graph: ResolvedGraph) -> String? {
    /// What a buffer holds: sources (node, output) with delay and gain, as often as they were added.
    struct Part: Hashable {
        var node: Int
        var output: Int
        var delay: Int
        var gain: Float
    }
    typealias Content = [Part: Int]
    var buffers: [BufferID: Content] = [.silence: [:]]
    for (node, values) in plan.outputs.enumerated() where graph.nodes[node].instance.isExternal {
        for (index, value) in values.enumerated() {
            buffers[plan.values[value]] = [Part(node: node, output: index, delay: 0, gain: 1): 1]
        }
    }
    let incoming = graph.links.reduce(into: Array(repeating: [ResolvedGraph.Link](), count: graph.nodes.count)) {
        $0[$1.toNode].append($1)
    }
    var ran: Set<Int> = []

    func content(_ value: Int) -> Content? { buffers[plan.values[value]] }

    /// What the links say an input should hold, through nodes that are bypassed.
    func expected(_ node: Int, _ input: Int, gain: Float = 1) -> [(Int, Int, Float)] {
        let port = graph.nodes[node].instance.index(ofAudio: input, VG_INPUT)
        var result: [(Int, Int, Float)] = []
        for link in incoming[node] where link.target == .port(port) && link.portKind == VG_AUDIO_PORT {
            let source = graph.nodes[link.fromNode].instance
            let output = source.ports[..<link.fromPort].count { $0.kind == VG_AUDIO_PORT && $0.direction == VG_OUTPUT }
            if source.isExternal || source.runs {
                result.append((link.fromNode, output, gain * link.gain))
            } else if source.count(VG_AUDIO_PORT, VG_INPUT) == source.count(VG_AUDIO_PORT, VG_OUTPUT) {
                result += expected(link.fromNode, output, gain: gain * link.gain)
            }
        }
        return result
    }

    func checkInputs(_ node: Int) -> String? {
        let name = graph.nodes[node].instance.name
        for (index, value) in plan.inputs[node].enumerated() {
            guard let found = content(value) else { return "\(name) reads audio input \(index) before it is written" }
            let wanted = expected(node, index)
            let parts = found.flatMap { part, times in Array(repeating: part, count: times) }
            let key = { (node: Int, output: Int, gain: Float) in "\(node).\(output)*\(gain)" }
            if wanted.map({ key($0.0, $0.1, $0.2) }).sorted()
                != parts.map({ key($0.node, $0.output, $0.gain) }).sorted()
            {
                return "\(name) audio input \(index) holds \(parts) instead of \(wanted)"
            }
            for part in parts where !ran.contains(node) {  // a loop's input comes a block late anyway
                let source = graph.nodes[part.node].instance
                let late = plan.arrival[part.node] + (source.runs ? source.latency : 0) + part.delay
                if late != plan.arrival[node] {
                    return "\(name) audio input \(index) is not aligned with its other inputs"
                }
            }
        }
        return nil
    }

    for step in plan.steps {
        switch step {
        case .absorb(let node):
            if let fault = checkInputs(node) { return fault }
        case .process(let node):
            if graph.nodes[node].instance.type.pointee.absorb == nil, let fault = checkInputs(node) { return fault }
            let targets = plan.outputs[node].map { plan.values[$0] }
            if Set(targets).count != targets.count { return "node \(node) writes two outputs into one buffer" }
            for (index, target) in targets.enumerated() {
                if target == .silence || target == .unassigned { return "node \(node) output \(index) has no buffer" }
                if !graph.nodes[node].instance.worksInPlace,
                    plan.inputs[node].contains(where: { plan.values[$0] == target })
                {
                    return "node \(node) writes over its input"
                }
                buffers[target] = [Part(node: node, output: index, delay: 0, gain: 1): 1]
            }
            ran.insert(node)
        case .mix(let into, let terms):
            var sum: Content = [:]
            for term in terms {
                guard let part = content(term.value) else {
                    return "a mix reads value \(term.value) before it is written"
                }
                for (one, times) in part {
                    var scaled = one
                    scaled.gain *= term.gain
                    sum[scaled, default: 0] += times
                }
            }
            buffers[plan.values[into]] = sum
        case .delay(let into, let from, let frames):
            guard let source = content(from) else { return "a delay reads value \(from) before it is written" }
            buffers[plan.values[into]] = Dictionary(
                uniqueKeysWithValues: source.map { part, times in
                    var late = part
                    late.delay += frames
                    return (late, times)
                })
        case .sum, .drive, .merge: break
        }
    }
    for (node, entry) in graph.nodes.enumerated() {
        if entry.instance.runs, !ran.contains(node) { return "\(entry.instance.name) never runs" }
        if entry.instance.isExternal, let fault = checkInputs(node) { return fault }
    }
    return nil
}

extension NodeInstance {
    /// The layout index of the audio port that is number `rank` of its direction.
    func index(ofAudio rank: Int, _ direction: vg_direction) -> Int {
        var left = rank
        for (index, port) in ports.enumerated() where port.kind == VG_AUDIO_PORT && port.direction == direction {
            if left == 0 { return index }
            left -= 1
        }
        return -1
    }
}
