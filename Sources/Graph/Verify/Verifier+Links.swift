// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the links ask for, and when.
extension Verifier {
    /// What the links say an input should hold, through nodes that are bypassed.
    func expected(_ node: Int, _ input: Int) -> [Part] {
        let port = instance(node).index(ofAudio: input, VG_INPUT)
        var result: [Part] = []
        for link in incoming[node] where link.target == .port(port) && link.portKind == VG_AUDIO_PORT {
            guard let fade = graph.fade(of: link) else { continue }
            if !graph.nodes[link.fromNode].guarded.isEmpty, !guarded.contains(link.fromNode) {
                result.append(Part(source: PlanSource(node: -1, output: 0), delay: 0, gain: 1))
            }
            let source = instance(link.fromNode)
            let output = source.rank(ofOutput: link.fromPort)
            let wait = link.wait ?? departure(link.fromNode).map { plan.arrival[node] - $0 } ?? 0
            if source.isExternal || source.runs || gated.contains(link.fromNode) {
                let source = PlanSource(node: link.fromNode, output: output)
                result.append(Part(source: source, delay: wait, gain: link.gain).fading(fade))
            } else if passes(link.fromNode) {
                result += expected(link.fromNode, output).map {
                    var part = $0.fading(fade)
                    part.delay += wait
                    part.gain *= link.gain
                    return part
                }
            }
        }
        return result
    }

    /// Whether a node that does not run lets its audio through. One that should close a loop cannot.
    func passes(_ node: Int) -> Bool {
        let one = instance(node)
        return one.count(VG_AUDIO_PORT, VG_INPUT) == one.count(VG_AUDIO_PORT, VG_OUTPUT)
            && !(looping[node] && splits(node))
    }

    func checkInputs(_ node: Int) throws(PlanFault) {
        let name = name(node)
        if plan.inputs[node].count != instance(node).count(VG_AUDIO_PORT, VG_INPUT) {
            throw PlanFault("\(name) has \(plan.inputs[node].count) audio inputs")
        }
        for (index, value) in plan.inputs[node].enumerated() {
            let found = try content(value, "\(name) audio input \(index)")
            let have = found.flatMap { part, times in Array(repeating: part, count: times) }.sorted()
            let want = expected(node, index).sorted()
            // Gains of chained links may be multiplied in another order: compared with some leeway.
            if !Self.same(have, want) {
                throw PlanFault("\(name) audio input \(index) holds \(have) instead of \(want)")
            }
        }
        try checkEvents(node)
    }

    static func same(_ have: [Part], _ want: [Part]) -> Bool {
        have.count == want.count
            && zip(have, want).allSatisfy {
                $0.source == $1.source && $0.delay == $1.delay && $0.fades == $1.fades
                    && abs($0.gain - $1.gain) <= 1e-5 * abs($1.gain)
            }
    }

    /// Frames by which a node's output lags behind; nil: what closes a loop, for which nobody waits.
    private func departure(_ node: Int) -> Int? {
        if looping[node] && splits(node) { return nil }
        return plan.arrival[node] + (instance(node).runs ? instance(node).latency : 0)
    }

    /// Each node is as late as the latest of what it takes.
    func checkArrivals() throws(PlanFault) {
        guard plan.arrival.count == graph.nodes.count else { throw PlanFault("the times do not fit the graph") }
        for node in graph.nodes.indices where instance(node).runs || !(looping[node] && splits(node)) {
            let links = incoming[node].filter { $0.portKind == VG_AUDIO_PORT }
            // A transition keeps the times of two graphs.
            if links.contains(where: { $0.wait != nil }) { continue }
            let latest = links.compactMap { departure($0.fromNode) }.max() ?? 0
            if plan.arrival[node] != latest {
                throw PlanFault("\(name(node)) is \(plan.arrival[node]) frames late instead of \(latest)")
            }
        }
    }
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

    /// The rank among the outputs of its kind of the port at `index` in the layout.
    func rank(ofOutput index: Int) -> Int {
        ports[..<index].count { $0.kind == ports[index].kind && $0.direction == VG_OUTPUT }
    }
}
