// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A way through a graph from one of the driver's ports to another.
public struct LatencyRoute: Sendable, Hashable {
    /// Name of the port that the driver fills.
    public var from: String
    /// Name of the port that the driver takes.
    public var to: String
    /// Frames between what comes in and what it causes, after alignment.
    public var frames: Int

    /// Describes a way.
    public init(from: String, to: String, frames: Int) {
        self.from = from
        self.to = to
        self.frames = frames
    }
}

extension Schedule {
    /// Every way from a port of the driver to another, in the order of the graph. [control]
    public var routes: [LatencyRoute] {
        var readers: [[Int]] = Array(repeating: [], count: graph.nodes.count)
        for link in graph.links where link.portKind == VG_AUDIO_PORT || link.portKind == VG_MIDI_PORT {
            readers[link.fromNode].append(link.toNode)
        }
        var routes: [LatencyRoute] = []
        for (source, node) in graph.nodes.enumerated() where node.externals.contains(where: \.isCapture) {
            var reached = [Bool](repeating: false, count: graph.nodes.count)
            var next = [source]
            while let node = next.popLast() {
                for reader in readers[node] where !reached[reader] {
                    reached[reader] = true
                    next.append(reader)
                }
            }
            for (sink, other) in graph.nodes.enumerated() where reached[sink] && other.instance.isExternal {
                for to in other.externals where !to.isCapture {
                    // Events are not delayed.
                    let frames = to.isMIDI ? 0 : arrival[sink]
                    routes += node.externals.map { LatencyRoute(from: $0.name, to: to.name, frames: frames) }
                }
            }
        }
        return routes
    }

    /// Frames by which what comes to a node is later than the graph's inputs; nil: there is no such node. [control]
    public func arrival(at node: String) -> Int? {
        graph.nodes.firstIndex { $0.instance.name == node }.map { arrival[$0] }
    }

    /// Frames from the output of every node until what it gives leaves the graph, at the latest, by the nodes' names.
    /// [control]
    public var outputLatencies: [String: Int] {
        var readers: [[Int]] = Array(repeating: [], count: graph.nodes.count)
        for link in graph.links where link.portKind == VG_AUDIO_PORT { readers[link.fromNode].append(link.toNode) }
        let order = sinksFirst(readers)
        var last = [Int?](repeating: nil, count: graph.nodes.count)
        // What a node feeds is known before it, but in a loop: as many rounds as change something.
        for _ in 0..<max(1, graph.nodes.count) {
            var hasChanged = false
            for node in order {
                let sinks = readers[node].compactMap { reader in
                    graph.nodes[reader].instance.isExternal ? arrival[reader] : last[reader]
                }
                guard let most = sinks.max(), last[node] != most else { continue }
                last[node] = most
                hasChanged = true
            }
            if !hasChanged { break }
        }
        var result: [String: Int] = [:]
        for (node, most) in last.enumerated() {
            guard let most else { continue }
            let instance = graph.nodes[node].instance
            result[instance.name] = max(0, most - arrival[node] - (instance.runs ? instance.latency : 0))
        }
        return result
    }
}

/// The nodes, each behind all that it feeds but in loops: the post-order of a search in depth, without recursion.
private func sinksFirst(_ readers: [[Int]]) -> [Int] {
    var order: [Int] = []
    var isSeen = [Bool](repeating: false, count: readers.count)
    for start in readers.indices where !isSeen[start] {
        isSeen[start] = true
        var path = [(node: start, next: 0)]
        while let (node, next) = path.last {
            if next == readers[node].count {
                order.append(node)
                path.removeLast()
                continue
            }
            path[path.count - 1].next += 1
            let reader = readers[node][next]
            if isSeen[reader] { continue }
            isSeen[reader] = true
            path.append((reader, 0))
        }
    }
    return order
}
