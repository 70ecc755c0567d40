// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A graph cannot be compiled.
public enum CompileError: Error, Sendable, Equatable {
    /// Nodes that feed each other without a node that may close a loop; in order, the first also closes it.
    case cycle([String])
    /// The verifier found the compiled plan to be wrong: a fault of the compiler, not of the graph.
    case wrongPlan(String)
}

/// A node's turn in the cycle.
enum Turn: Equatable {
    case process(Int)
    case absorb(Int)
}

/// What `order` found.
struct Ordering {
    /// In the order of execution.
    var turns: [Turn]
    /// Per node: whether it closes a loop, and so gives its output before it takes its input.
    var closesLoop: [Bool]
}

/// Puts nodes into an order in which each runs after everything it reads from. Producers come shortly before their
/// consumers (depth first), so that buffers are free again soon. Linear in nodes and links.
///
/// A node with an `absorb` half that is part of a loop gives its output first and takes its input at the end; outside a
/// loop it takes its input first. If it could not be prepared it has no turn in a loop: the loop is open there, silent.
func order(_ graph: ResolvedGraph) throws(CompileError) -> Ordering {
    let count = graph.nodes.count
    let sources = sourcesOfNodes(graph)
    let splits = graph.nodes.map { $0.instance.absorb != nil }
    let runs = graph.nodes.map(\.instance.runs)
    let closesLoop = zip(splits, loopMembers(sources)).map { $0 && $1 }

    var turns: [Turn] = []
    turns.reserveCapacity(count)
    var state = [UInt8](repeating: 0, count: count)  // 0 unseen, 1 on the path, 2 done
    var late: [Int] = []

    /// Emits `root` after everything it needs, without recursion: graphs may be thousands of nodes deep.
    func visit(_ root: Int) throws(CompileError) {
        guard state[root] == 0 else { return }
        var path: [(node: Int, next: Int)] = [(root, 0)]
        state[root] = 1
        while let (node, next) = path.last {
            if !closesLoop[node], next < sources[node].count {
                path[path.count - 1].next += 1
                let source = sources[node][next]
                if state[source] == 1 {
                    let start = path.firstIndex { $0.node == source }!
                    throw .cycle(path[start...].reversed().map { graph.nodes[$0.node].instance.name })
                }
                if state[source] == 0 {
                    state[source] = 1
                    path.append((source, 0))
                }
            } else {
                if closesLoop[node] {
                    if runs[node] { late.append(node) }
                } else if splits[node], runs[node] {
                    turns.append(.absorb(node))
                }
                if runs[node] || !closesLoop[node] { turns.append(.process(node)) }
                state[node] = 2
                path.removeLast()
            }
        }
    }

    for node in 0..<count {
        try visit(node)
    }
    return Ordering(turns: turns + late.map { .absorb($0) }, closesLoop: closesLoop)
}

/// Per node: the nodes that it reads from in the block.
func sourcesOfNodes(_ graph: ResolvedGraph) -> [[Int]] {
    var sources: [[Int]] = Array(repeating: [], count: graph.nodes.count)
    for link in graph.links where link.portKind != VG_MESSAGE_PORT { sources[link.toNode].append(link.fromNode) }
    return sources
}

/// Which nodes are part of a loop: those in a strongly connected component of more than one node, or linked to
/// themselves. (Tarjan, "Depth-first search and linear graph algorithms", 1972; here without recursion.)
func loopMembers(_ sources: [[Int]]) -> [Bool] {
    let count = sources.count
    var index = [Int](repeating: -1, count: count)
    var low = [Int](repeating: 0, count: count)
    var onStack = [Bool](repeating: false, count: count)
    var member = [Bool](repeating: false, count: count)
    var stack: [Int] = []
    var counter = 0
    for root in 0..<count where index[root] < 0 {
        var path: [(node: Int, next: Int)] = [(root, 0)]
        while let (node, next) = path.last {
            if next == 0, index[node] < 0 {
                index[node] = counter
                low[node] = counter
                counter += 1
                stack.append(node)
                onStack[node] = true
            }
            if next < sources[node].count {
                path[path.count - 1].next += 1
                let source = sources[node][next]
                if source == node { member[node] = true }
                if index[source] < 0 {
                    path.append((source, 0))
                } else if onStack[source] {
                    low[node] = min(low[node], index[source])
                }
                continue
            }
            path.removeLast()
            if let parent = path.last?.node { low[parent] = min(low[parent], low[node]) }
            if low[node] == index[node] {
                let start = stack.lastIndex(of: node)!
                let component = stack[start...]
                for one in component {
                    onStack[one] = false
                    if component.count > 1 { member[one] = true }
                }
                stack.removeSubrange(start...)
            }
        }
    }
    return member
}
