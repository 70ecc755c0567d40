// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// Knows which inputs have lost their source, such as a microphone, and whether blocks come at all, and lets nodes know that
/// hear nothing else and care.
final class SourceWatch: Sendable {
    private struct State {
        /// Inputs to which nothing is connected any more.
        var lost: Set<String> = []
        /// Why no blocks come; nil: they do.
        var silence: String?
    }

    private let context: GraphContext
    private let state = Lock(State())

    init(_ context: GraphContext) { self.context = context }

    /// An input has lost its source, or has it again. [any but audio]
    func follow(_ input: String, isThere: Bool, in graph: ResolvedGraph) {
        let (before, now) = state.withLock { state in
            let before = state.lost
            if isThere { state.lost.remove(input) } else { state.lost.insert(input) }
            return (before, state)
        }
        context.tell(isThere ? HostEvent.sourceBack : HostEvent.sourceLost, node: input)
        tell(graph, now) { $0.contains(input) && $0.isSubset(of: now.lost) != $0.isSubset(of: before) }
    }

    /// No blocks come any more, and why; nil: they do, or are to. [any but audio]
    func follow(server problem: String?, in graph: ResolvedGraph) {
        let (isNews, now) = state.withLock { state in
            let before = state.silence
            state.silence = problem
            return (before != problem, state)
        }
        if isNews { tell(graph, now) { _ in true } }
    }

    /// Lets nodes that care know what they could hear. `concerns` is given the sources of one.
    private func tell(_ graph: ResolvedGraph, _ now: State, _ concerns: (Set<String>) -> Bool) {
        for (index, node) in graph.nodes.enumerated() where node.instance.has(VG_ACTION_SOURCE) {
            let sources = graph.audioSources(of: index)
            guard concerns(sources) else { continue }
            let hears = !sources.isSubset(of: now.lost)
            let inputs = sources.sorted().joined(separator: ", ")
            let reason = hears ? now.silence ?? "" : "nothing is connected to \(inputs) any more"
            let name = node.instance.name
            node.instance.perform(
                VG_ACTION_SOURCE,
                ["there": .bool(hears), "comes": .bool(now.silence == nil), "reason": .string(reason)]
            ) { [context] result in
                guard case .failure(let error) = result else { return }
                context.tell(
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
