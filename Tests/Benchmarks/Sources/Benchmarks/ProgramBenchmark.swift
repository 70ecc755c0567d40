// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import Graph
import VoiceGraph

/// Lets sound through: what a closure that does nothing is beside.
private final class Through: AudioNode {
    static let descriptor = NodeDescriptor(
        "through", "lets sound through", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: { Through.process($0, $1, $2) })

    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }

    @_noLocks
    static func process(_ state: inout NoProcessor, _ block: borrowing Block) { block.pass() }
}

/// What the closures, sources and taps of a Swift program cost, and how late they are; many starts and stops.
func programBenchmark(_ effort: Effort) throws -> [Row] {
    try closureRows(effort) + latencyRows(effort) + startRows(effort)
}

/// Nodes in a row on an engine that nobody else calls: what each adds to an empty block.
private func closureRows(_ effort: Effort) throws -> [Row] {
    let (count, frames, blocks) = (100, 128, effort.isQuick ? 2000 : 10_000)
    func chain(_ node: (Int) -> some GraphNode) -> Graph {
        var nodes = node(0).chain
        for index in 1..<count { nodes = nodes => node(index) }
        return Graph { nodes }
    }
    let graphs: [(name: String, graph: Graph)] = [
        ("a type that does nothing", chain { OwnNode(Through.self, "n\($0)") }),
        ("a closure that does nothing", chain { TapNode("n\($0)") { _ in } }),
        ("gain, built in", chain { Gain("n\($0)", gainDB: -0.01) }),
        (
            "gain, a closure",
            chain {
                EffectNode("n\($0)") { block in
                    let input = block.input(0)
                    let output = block.output(0)
                    for frame in 0..<block.frames { output[frame] = 0.9988493 * input[frame] }
                }
            }
        ),
    ]
    let racks = try graphs.map { try rack($0.graph, frames: frames) }
    let samples = try interleaved(
        effort.repetitions,
        racks.map { engine, _ in
            {
                var time = 0.0
                for first in stride(from: 0, to: blocks, by: 100) {
                    engine.collect()
                    time += processorTime { play(engine, blocks: first..<first + 100, frames: frames) }
                }
                return time / Double(blocks * count)
            }
        })
    withExtendedLifetime(racks) {}
    func beside(_ place: Int, _ other: Int) -> [Double] { zip(samples[place], samples[other]).map { $0 - $1 } }
    let more = beside(1, 0)
    return graphs.indices.map { Row("\(count) nodes", graphs[$0].name, samples[$0], "ns/block") } + [
        Row("a closure that does nothing", "more than the type", more, "ns/block")
            .aiming("<= 3", Spread(more).median <= 3),
        Row("gain", "a closure, more than built in", beside(3, 2), "ns/block"),
    ]
}

/// A graph of this program on an engine.
private func rack(_ graph: Graph, frames: Int) throws -> (Engine, [NodeInstance]) {
    let host = Host()
    _ = try finish { try await host.load(graph) }
    let result = GraphBuilder.build(graph.description, catalog: host.nodeTypes)
    guard let built = result.graph else { throw BenchmarkError("the graph of closures: \(result.diagnostics)") }
    for node in built.nodes { try node.instance.prepare(Preparation(rate: 48000, maxBlock: frames)) }
    let engine = Engine()
    engine.publish(try Compiler.compile(built, rate: 48000, maxBlock: frames))
    for node in built.nodes { node.instance.activate() }
    return (engine, built.nodes.map(\.instance))
}

/// From a program's `write` to another JACK client, and from such a client to a program's `for await`.
private func latencyRows(_ effort: Effort) throws -> [Row] {
    let rows = try withServer(effort) { server, probe in
        try finish { try await latencyRows(effort, server, probe) }
    }
    return rows ?? [.missing("latency", "jackd")]
}

private func latencyRows(_ effort: Effort, _ server: Server, _ probe: Probe) async throws -> [Row] {
    let host = Host()
    let source = AudioSource("synth")
    try await host.load(
        Graph("vg-program") {
            source => Output("out", channels: 1)
            Input("in", channels: 1) => Tap("tap")
        })
    try await host.run(DriverRequest(kind: .jack, client: "vg-program", server: server.name))
    probe.play(0.25)
    guard probe.connect("\(probe.name):out", "vg-program:in_1", seconds: 5),
        probe.connect("vg-program:out_1", "\(probe.name):in", seconds: 5)
    else { throw BenchmarkError("the graph has no ports") }
    var (written, heard): ([Double], [Double]) = ([], [])
    for turn in 0..<(effort.isQuick ? 10 : 50) {
        progress("write \(turn)")
        guard probe.waitForSilence(of: 0.02, seconds: 5) else { throw BenchmarkError("what was written does not end") }
        probe.listen()
        let before = vg_nanoseconds()
        try await source.write(interleaved: [Float](repeating: 0.5, count: 480))
        guard let sound = probe.firstSound(seconds: 5) else { throw BenchmarkError("what was written is not heard") }
        written.append(Double(sound - before) / 1e6)
    }
    for await audio in host.audio(of: "tap") {
        guard let time = audio.hostTime, audio.channels[0].last == 0.25 else { continue }
        // Since the beginning of the block that its last frame came in.
        let last = time + Double(audio.channels[0].count - 128) / audio.rate
        heard.append((Double(vg_nanoseconds()) / 1e9 - last) * 1e3)
        if heard.count == (effort.isQuick ? 50 : 500) { break }
    }
    await host.stop()
    await host.close()
    return [
        Row("blocks of 128, jackd", "from write(_:) until it is heard", written, "ms"),
        Row("blocks of 128, jackd", "from the block in which a frame comes until audio(of:) has it", heard, "ms"),
    ]
}

/// A graph that is loaded, started on a server and stopped again and again in one process.
private func startRows(_ effort: Effort) throws -> [Row] {
    let rows = try withServer(effort) { server, _ in try finish { try await startRows(effort, server) } }
    return rows ?? [.missing("starts", "jackd")]
}

private func startRows(_ effort: Effort, _ server: Server) async throws -> [Row] {
    let rounds = effort.isQuick ? 200 : 2000
    let host = Host()
    func once() async throws {
        // A new graph each time, as a program makes it.
        try await host.load(
            Graph("vg-program") {
                let mic = Input("mic")
                mic => EffectNode("same") { block in block.pass() } => Meter("level") => Output("out", channels: 1)
                mic => Tap("tap")
            })
        try await host.run(DriverRequest(kind: .jack, client: "vg-program", server: server.name))
        await host.stop()
    }
    // Until the caches are full.
    for _ in 0..<rounds / 2 { try await once() }
    let before = Holdings()
    var times: [Double] = []
    for round in 0..<rounds {
        if round.isMultiple(of: 50) { progress("start \(round)") }
        let began = vg_nanoseconds()
        try await once()
        times.append(Double(vg_nanoseconds() - began) / 1e6)
    }
    let after = Holdings()
    await host.close()
    let item = "\(rounds) starts and stops"
    return [
        Row(item, "load, run and stop", times, "ms"),
        Row(item, "memory more", [Double(after.memory - before.memory)], "KiB")
            .aiming("< 4096", after.memory - before.memory < 4096),
        Row(item, "threads and descriptors more", [Double(after.others - before.others)], "")
            .aiming("0", after.others == before.others),
    ]
}

/// What this process has.
private struct Holdings {
    /// KiB that it alone holds.
    let memory: Int
    /// Threads and descriptors.
    let others: Int

    init() {
        let status = readFile("/proc/self/status") ?? ""
        func field(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        memory = field("RssAnon")
        var descriptors = 0
        if let folder = opendir("/proc/self/fd") {
            while readdir(folder) != nil { descriptors += 1 }
            closedir(folder)
        }
        others = field("Threads") + descriptors
    }
}
