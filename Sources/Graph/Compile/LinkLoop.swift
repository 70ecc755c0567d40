// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// A loop of links without a node that may close one.
struct LinkLoop {
    /// A shortest loop, in the direction of the links.
    var path: [Int]
    /// Every node of the knot that it is part of.
    var nodes: Set<Int>
    /// The link of the loop that stands last in the file.
    var location: SourceLocation
}

/// One loop for each knot of nodes that reach one another. Message links are left out: they do not run in the block.
/// A link into a node with `absorb` closes no loop.
func findLoops(nodes: [NodeInstance], links: [ResolvedGraph.Link]) -> [LinkLoop] {
    let breaks = nodes.map { $0.absorb != nil }
    var next = [[Int]](repeating: [], count: nodes.count)
    for (index, link) in links.enumerated() where link.portKind != VG_MESSAGE_PORT && !breaks[link.toNode] {
        next[link.fromNode].append(index)
    }
    return components(next, links).compactMap { knot in
        guard let path = shortestLoop(in: knot, next, links) else { return nil }
        let closing = path.max { links[$0].location.isBefore(links[$1].location) } ?? path[0]
        return LinkLoop(path: path.map { links[$0].fromNode }, nodes: Set(knot), location: links[closing].location)
    }
}

/// Strongly connected components by Tarjan's method, without recursion: a chain of 100 000 nodes must not end the
/// stack. Only those that can hold a loop are returned, in the order of their smallest node.
private func components(_ next: [[Int]], _ links: [ResolvedGraph.Link]) -> [[Int]] {
    let count = next.count
    var order = [Int](repeating: -1, count: count)
    var low = order
    var onStack = [Bool](repeating: false, count: count)
    var stack: [Int] = []
    var visits: [(node: Int, edge: Int)] = []
    var found: [[Int]] = []
    var counter = 0

    func enter(_ node: Int) {
        order[node] = counter
        low[node] = counter
        counter += 1
        stack.append(node)
        onStack[node] = true
        visits.append((node, 0))
    }

    for root in 0..<count where order[root] < 0 {
        enter(root)
        while let (node, edge) = visits.last {
            if edge < next[node].count {
                visits[visits.count - 1].edge += 1
                let target = links[next[node][edge]].toNode
                if order[target] < 0 {
                    enter(target)
                } else if onStack[target] {
                    low[node] = min(low[node], order[target])
                }
                continue
            }
            visits.removeLast()
            if let parent = visits.last?.node { low[parent] = min(low[parent], low[node]) }
            guard low[node] == order[node], let start = stack.lastIndex(of: node) else { continue }
            let knot = Array(stack[start...])
            stack.removeSubrange(start...)
            for member in knot { onStack[member] = false }
            if knot.count > 1 || next[node].contains(where: { links[$0].toNode == node }) {
                found.append(knot.sorted())
            }
        }
    }
    return found.sorted { $0[0] < $1[0] }
}

/// The links of a shortest loop through the first node of a component, by breadth-first search.
private func shortestLoop(in knot: [Int], _ next: [[Int]], _ links: [ResolvedGraph.Link]) -> [Int]? {
    let members = Set(knot)
    let start = knot[0]
    var cameBy: [Int: Int] = [:]
    var queue = [start]
    var head = 0
    while head < queue.count {
        let node = queue[head]
        head += 1
        for index in next[node] where members.contains(links[index].toNode) {
            let target = links[index].toNode
            if target == start {
                var path = [index]
                while let step = cameBy[links[path.last!].fromNode] { path.append(step) }
                return path.reversed()
            }
            if cameBy[target] == nil {
                cameBy[target] = index
                queue.append(target)
            }
        }
    }
    return nil
}
