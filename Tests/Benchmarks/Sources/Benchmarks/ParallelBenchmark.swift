// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Graph
import GraphFile
import NodeKit
import System

/// Computes one sample after the other, each from the one before, as often as its parameter says.
private final class Work: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "work", "computes", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [Parameter("steps", "of the computation", 0...1e6, default: 0, flags: VG_PARAM_ABRUPT)],
        process: workProcess)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> Float { 0 }
}

@_noLocks
private func workProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Float.self)
    var value = state.pointee
    let input = io.input(0)[0]
    for _ in 0..<Int(io.parameter(0).target) { value = value * 0.999 + input }
    state.pointee = value
    for frame in 0..<cycle.frames { io.output(0)[frame] = value }
}

/// What a second thread gains and costs: the same blocks of 128 frames with one thread and with two.
func parallelBenchmark(_ effort: Effort) throws -> [Row] {
    let steps = stepsPerMicrosecond()
    func pair(_ branches: Int, length: Int = 1, microseconds: Double) throws -> [WorkGraph] {
        try [1, 2].map {
            try WorkGraph(branches: branches, length: length, steps: Float(microseconds * steps), threads: $0)
        }
    }
    let cases: [(String, [WorkGraph])] = try [
        ("8 branches of 100 us", pair(8, microseconds: 100)), ("8 branches of 20 us", pair(8, microseconds: 20)),
        ("8 branches of 0.5 us", pair(8, microseconds: 0.5)),
        ("a chain of 20 nodes of 5 us", pair(1, length: 20, microseconds: 5)),
    ]
    defer { for (_, graphs) in cases { graphs.forEach { $0.end() } } }
    let blocks = effort.isQuick ? 100 : 400
    let samples = try interleaved(effort.repetitions, cases.flatMap(\.1).map { graph in { graph.best(of: blocks) } })
    var rows: [Row] = []
    for (index, (item, graphs)) in cases.enumerated() {
        let (one, two) = (samples[2 * index], samples[2 * index + 1])
        rows.append(Row(item, "threads = 1", one, "us/block"))
        var row = Row(item, "threads = 2, \(graphs[1].threads) in use", two, "us/block").compared(
            two, with: one, "1 thread")
        let ratio = row.ratio!.median
        if index == 0 { row = row.aiming(">= 1.8", ratio >= 1.8) }
        if index == 3 { row = row.aiming(">= 0.98", ratio >= 0.98) }
        rows.append(row)
        if index < 2 {
            // Of eight equal branches each of two threads has four.
            rows.append(Row(item, "beyond half the time", zip(two, one).map { $0 - $1 / 2 }, "us/block"))
        }
    }
    return rows
}

/// How much of the computation fits into a microsecond.
private func stepsPerMicrosecond() -> Double {
    var value: Float = 0
    var best = Double.infinity
    for round in 0..<20 {
        best = min(best, nanoseconds { for _ in 0..<100_000 { value = value * 0.999 + Float(round) } })
    }
    precondition(value.isFinite)
    return 100_000 / best * 1000
}

/// As many chains of nodes side by side, added up.
private final class WorkGraph {
    let threads: Int
    private let engine = Engine()
    private var nodes: [NodeInstance] = []
    private var helpers: [SystemThread] = []
    private var block: UInt64 = 0

    init(branches: Int, length: Int, steps: Float, threads limit: Int) throws {
        var described = [NodeDescription(name: "sum", type: "work")]
        var links: [LinkDescription] = []
        for branch in 0..<branches {
            for place in 0..<length { described.append(NodeDescription(name: "n\(branch)-\(place)", type: "work")) }
            for place in 1..<max(1, length) {
                links.append(
                    LinkDescription(from: Endpoint("n\(branch)-\(place - 1)"), to: Endpoint("n\(branch)-\(place)")))
            }
            links.append(LinkDescription(from: Endpoint("n\(branch)-\(length - 1)"), to: Endpoint("sum")))
        }
        let result = GraphBuilder.build(
            GraphDescription(nodes: described, links: links), catalog: NodeCatalog([makeNodeType(Work.self)]))
        guard let graph = result.graph else { throw BenchmarkError("the graph of work: \(result.diagnostics)") }
        nodes = graph.nodes.map(\.instance)
        for node in nodes { try node.prepare(Preparation(rate: 48000, maxBlock: 128)) }
        let schedule = try Compiler.compile(
            graph, rate: 48000, maxBlock: 128, sharers: Sharers(limit: limit))
        threads = schedule.threads
        engine.publish(schedule)
        for node in nodes { node.activate() }
        for node in nodes where node.name != "sum" { _ = engine.set(node, parameter: 0, to: steps) }
        let audio = engine.audio
        audio.want(helpers: threads - 1)
        helpers = try (0..<threads - 1).map { index in try SystemThread(name: "helper") { audio.help(index) } }
    }

    func end() {
        engine.audio.want(helpers: 0)
        for helper in helpers { helper.join() }
        helpers = []
    }

    /// Microseconds for a block, by the clock: the shortest of so many, since others use the machine too.
    func best(of count: Int) -> Double {
        var best = Double.infinity
        for _ in 0..<count {
            engine.collect()
            let time = nanoseconds {
                let schedule = engine.audio.begin()
                engine.audio.run(schedule, frames: 128, clock: block * 128, flags: 0, transport: vg_transport())
            }
            block += 1
            best = min(best, time)
        }
        return best / 1000
    }
}
