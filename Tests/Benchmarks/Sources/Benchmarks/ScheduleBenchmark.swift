// SPDX-License-Identifier: Apache-2.0
import CPeers
import CRealtime
import Graph
import GraphFile
import NodeKit

/// Counts its blocks: the least that a node can do and be seen to have run.
private final class Trivial: Node {
    static let calls: NodeCalls = []
    static let descriptor = trivialDescriptor("trivial", flags: VG_IN_PLACE | VG_LIGHT)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> UInt64 { 0 }
}

/// The same, but timed on its own in every block, as all nodes are that may take long.
private final class Timed: Node {
    static let calls: NodeCalls = []
    static let descriptor = trivialDescriptor("timed", flags: VG_IN_PLACE)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> UInt64 { 0 }
}

private func trivialDescriptor(_ name: String, flags: Int) -> NodeDescriptor {
    NodeDescriptor(
        name, "counts blocks", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        flags: flags, process: trivialProcess)
}

@_noLocks
private func trivialProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    memory.assumingMemoryBound(to: UInt64.self).pointee &+= 1
}

/// What the host adds to a node's own work, per node and block: graphs of trivial nodes, run as a driver runs them.
func scheduleBenchmark(_ effort: Effort) throws -> [Row] {
    let counts = [1, 10, 100, 1000, 10_000]
    let steps = effort.isQuick ? 200_000 : 1_000_000
    let graphs = try ([0] + counts).map { try TrivialGraph(count: $0) }
    let (empty, timed) = (graphs[0], try TrivialGraph(count: 100, type: "timed"))
    func costPerStep(_ graph: TrivialGraph) -> () -> Double {
        return {
            let blocks = max(3, steps / graph.count)
            return graph.run(blocks: blocks) / Double(blocks * graph.count)
        }
    }
    let bodies: [() -> Double] =
        [{ empty.run(blocks: 20_000) / 20_000 }] + graphs.dropFirst().map(costPerStep)
        + counts.map { count in { peer_calls(count, max(3, steps / count)) / Double(max(3, steps / count) * count) } }
        + [costPerStep(timed), { clockCost(reads: steps) / Double(steps) }]
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
    let (each, clock) = (samples[samples.count - 2], samples[samples.count - 1])
    rows.append(Row("100 nodes", "each timed in every block", each, "ns/step"))
    rows.append(Row("the clock", "one look at it", clock, "ns"))
    let share = clock.map { 100 * 101 * $0 / (128 / 48000 * 1e9) }
    rows.append(
        Row("the clock", "100 nodes, of a block of 128", share, "%").aiming("< 1", Spread(share).median < 1))
    return try rows + guardRows(effort)
}

/// A hundred plugins in a row with all that watches over them, without the guards, and called by nothing but a loop.
private func guardRows(_ effort: Effort) throws -> [Row] {
    guard let library = ampLibrary() else { return [.missing("100 eg-amp", "lv2-examples")] }
    let (count, frames) = (100, 128)
    guard let rack = peer_rack_new(library, count) else { throw BenchmarkError("\(library) does not load") }
    let blocks = effort.isQuick ? 500 : 2000
    func cost(_ engine: Engine) -> () -> Double {
        return {
            var time = 0.0
            for first in stride(from: 0, to: blocks, by: 100) {
                engine.collect()
                time += processorTime { play(engine, blocks: first..<first + 100, frames: frames) }
            }
            return time / Double(blocks * count)
        }
    }
    let (all, allNodes) = try ampEngine(count, frames: frames)
    let (bare, bareNodes) = try ampEngine(count, frames: frames, guarded: false)
    let samples = try interleaved(
        effort.repetitions,
        [
            cost(all), cost(bare), { processorTime { peer_rack_run(rack, blocks) } / Double(blocks * count) },
        ])
    withExtendedLifetime((allNodes, bareNodes)) {}
    func against(_ other: Int) -> Double { 100 * (Spread(zip(samples[0], samples[other]).map { $0 / $1 }).median - 1) }
    return [
        Row("100 eg-amp", "guards, timing, gates", samples[0], "ns/node")
            .compared(samples[0], with: samples[1], "guard = false").aiming("+ <= 10 %", against(1) <= 10),
        Row("100 eg-amp", "guard = false", samples[1], "ns/node"),
        Row("100 eg-amp", "C loop over the same plugins", samples[2], "ns/node"),
    ]
}

/// Nanoseconds for looking at the clock so often, and keeping what is seen, as a schedule does.
private func clockCost(reads: Int) -> Double {
    let kept = UnsafeMutablePointer<UInt32>.allocate(capacity: 128)
    defer { kept.deallocate() }
    let time = processorTime {
        var before = vg_ticks()
        for index in 0..<reads {
            let now = vg_ticks()
            kept[index & 127] = UInt32(clamping: now &- before)
            before = now
        }
    }
    precondition(kept[0] < .max, "the clock stood still")
    return time
}

/// A chain of trivial nodes on an engine that nobody else calls.
private final class TrivialGraph {
    let count: Int
    private let engine = Engine()
    private var nodes: [NodeInstance] = []

    init(count: Int, type: String = "trivial") throws {
        self.count = count
        let described = (0..<count).map { NodeDescription(name: "n\($0)", type: type) }
        let links = (0..<max(0, count - 1)).map {
            LinkDescription(from: Endpoint("n\($0)"), to: Endpoint("n\($0 + 1)"))
        }
        var description = GraphDescription(nodes: described, links: links)
        description.isPartial = count == 0
        let catalog = NodeCatalog([makeNodeType(Trivial.self), makeNodeType(Timed.self)])
        let result = GraphBuilder.build(description, catalog: catalog)
        guard let graph = result.graph else {
            throw BenchmarkError("the graph of trivial nodes: \(result.diagnostics)")
        }
        nodes = graph.nodes.map(\.instance)
        for node in nodes { try node.prepare(Preparation(rate: 48000, maxBlock: 128)) }
        engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: 128))
        for node in nodes { node.activate() }
    }

    /// Nanoseconds for so many blocks of 128 frames. What the control side does with their records meanwhile, as it
    /// does beside a driver, does not count.
    func run(blocks: Int) -> Double {
        var time = 0.0
        for first in stride(from: 0, to: blocks, by: 512) {
            engine.collect()
            time += processorTime {
                for block in first..<min(first + 512, blocks) {
                    let schedule = engine.audio.begin()
                    engine.audio.run(
                        schedule, frames: 128, clock: UInt64(block) * 128, flags: 0, transport: vg_transport())
                }
            }
        }
        return time
    }
}
