// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// What follows when an input's source, such as a microphone, is gone or back.
extension RunningGraph {
    /// Tells it, and has those nodes know that hear nothing else and care. [any but audio]
    func followSource(of input: String, isThere: Bool) {
        let before = state.withLock { state in
            let before = state.lostInputs
            if isThere { state.lostInputs.remove(input) } else { state.lostInputs.insert(input) }
            return before
        }
        tell(isThere ? HostEvent.sourceBack : HostEvent.sourceLost, node: input)
        tellListeners { sources, lost in
            sources.contains(input) && sources.isSubset(of: lost) != sources.isSubset(of: before)
        }
    }

    /// No blocks come any more, and why; nil: they do, or are to. [any but audio]
    func followServer(_ problem: String?) {
        let isNews = state.withLock { state in
            defer { state.silence = problem }
            return state.silence != problem
        }
        if isNews { tellListeners { _, _ in true } }
    }

    /// Lets nodes that care know what they could hear. `concerns` is given their sources, and those that are lost.
    private func tellListeners(_ concerns: (Set<String>, Set<String>) -> Bool) {
        let (graph, lost, silence) = state.withLock { ($0.graph, $0.lostInputs, $0.silence) }
        for (index, node) in graph.nodes.enumerated() where node.instance.has(VG_ACTION_SOURCE) {
            let sources = graph.audioSources(of: index)
            guard concerns(sources, lost) else { continue }
            let hears = !sources.isSubset(of: lost)
            let inputs = sources.sorted().joined(separator: ", ")
            let reason = hears ? silence ?? "" : "nothing is connected to \(inputs) any more"
            let name = node.instance.name
            node.instance.perform(
                VG_ACTION_SOURCE,
                ["there": .bool(hears), "comes": .bool(silence == nil), "reason": .string(reason)]
            ) { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.tell(
                    HostEvent.log, node: name,
                    ["text": .string("does not know of its source: \(error.message)"), "level": .string("warning")])
            }
        }
    }
}

extension ResolvedGraph {
    /// The nodes from which the audio of a node comes in the end: those before it into which none goes.
    fileprivate func audioSources(of index: Int) -> Set<String> {
        var (sources, seen, next): (Set<String>, Set<Int>, [Int]) = ([], [index], [index])
        while let node = next.popLast() {
            let before = Set(links.filter { $0.toNode == node && $0.portKind == VG_AUDIO_PORT }.map(\.fromNode))
            if before.isEmpty { sources.insert(nodes[node].instance.name) }
            next += before.subtracting(seen)
            seen.formUnion(before)
        }
        return sources
    }
}
