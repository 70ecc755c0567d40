// SPDX-License-Identifier: Apache-2.0
import CPeers
import CRealtime
import Graph
import NodeKit

/// Counts its blocks: the least that a node can do and be seen to have run.
private final class Trivial: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "trivial", "counts blocks", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        flags: VG_IN_PLACE, process: trivialProcess)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> UInt64 { 0 }
}

@_noLocks
private func trivialProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    memory.assumingMemoryBound(to: UInt64.self).pointee &+= 1
}

/// What the host adds to a node's own work, per node and block: graphs of trivial nodes, run as a driver runs them.
func scheduleBenchmark(_ effort: Effort) throws -> [Row] {
    let counts = [1, 10, 100, 1000, 10_000]
    let steps = effort.isQuick ? 200_000 : 1_000_000
    let graphs = try ([0] + counts).map(TrivialGraph.init)
    let empty = graphs[0]
    let bodies: [() -> Double] =
        [{ empty.run(blocks: 20_000) / 20_000 }]
        + graphs.dropFirst().map { graph in
            return {
                let blocks = max(3, steps / graph.count)
                return graph.run(blocks: blocks) / Double(blocks * graph.count)
            }
        } + counts.map { count in { peer_calls(count, max(3, steps / count)) / Double(max(3, steps / count) * count) } }
    let samples = try interleaved(effort.repetitions, bodies)

    var rows = [Row("no nodes", "voicegraph", samples[0], "ns/block")]
    for (index, count) in counts.enumerated() {
        let (own, plain) = (samples[1 + index], samples[1 + counts.count + index])
        let beyond = zip(own, samples[0]).map { $0 - $1 / Double(count) }
        let item = count == 1 ? "1 node" : "\(count) nodes"
        rows.append(
            Row(item, "voicegraph, whole block", own, "ns/step").compared(own, with: plain, "C calls"))
        rows.append(
            Row(item, "beyond an empty block", beyond, "ns/step")
                .aiming("<= 10", Spread(beyond).median <= 10))
        rows.append(Row(item, "C calls through a table", plain, "ns/step"))
    }
    return rows
}

/// A chain of trivial nodes on an engine that nobody else calls.
private final class TrivialGraph {
    let count: Int
    private let engine = Engine()
    private var nodes: [NodeInstance] = []

    init(count: Int) throws {
        self.count = count
        let described = (0..<count).map { NodeDescription(name: "n\($0)", type: "trivial") }
        let links = (0..<max(0, count - 1)).map {
            LinkDescription(from: Endpoint("n\($0)"), to: Endpoint("n\($0 + 1)"))
        }
        var description = GraphDescription(nodes: described, links: links)
        description.isPartial = count == 0
        let result = GraphBuilder.build(description, catalog: NodeCatalog([makeNodeType(Trivial.self)]))
        guard let graph = result.graph else {
            throw BenchmarkError("the graph of trivial nodes: \(result.diagnostics)")
        }
        nodes = graph.nodes.map(\.instance)
        for node in nodes { try node.prepare(Preparation(rate: 48000, maxBlock: 128)) }
        engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: 128))
        for node in nodes { node.activate() }
    }

    /// Nanoseconds for so many blocks of 128 frames.
    func run(blocks: Int) -> Double {
        processorTime {
            for block in 0..<blocks {
                let schedule = engine.audio.begin()
                engine.audio.run(
                    schedule, frames: 128, clock: UInt64(block) * 128, flags: 0, transport: vg_transport())
            }
        }
    }
}
