// SPDX-License-Identifier: Apache-2.0
import CPeers
import Drivers
import Glibc
import Graph
import GraphFile
import Host
import NodeKit

private let counts = [1, 10, 100]

/// Instructions of the host around LV2 plugins, counted by callgrind: what does not depend on what else the machine
/// does. The plugins' own are left out, and those of what they call.
func instructionBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    guard let callgrind = try Callgrind(scratch) else { return [.missing("eg-amp", "valgrind, strip")] }
    guard let library = ampLibrary() else { return [.missing("eg-amp", "lv2-examples")] }
    return try perPlugin(callgrind, library) + perCallback(effort, scratch, callgrind, library)
}

/// A loop over plugins, without a driver: what each adds. What the host does with samples, zeroing a plugin's output and
/// looking at it, is told apart by blocks that are twice as long.
private func perPlugin(_ callgrind: Callgrind, _ library: String) throws -> [Row] {
    func count(_ nodes: Int, _ more: [String]) throws -> Double {
        func total(_ blocks: Int) throws -> Double {
            progress("\(nodes) amps, \(blocks) blocks \(more.joined(separator: " "))")
            return Double(try callgrind.run([callgrind.own, "--amps", "\(nodes)", "--blocks", "\(blocks)"] + more).all)
        }
        return (try total(700) - total(200)) / 500
    }
    let empty = try count(0, [])
    var rows = [Row("no plugin", "voicegraph", [empty], "instructions/block")]
    for nodes in counts {
        let item = "\(nodes) eg-amp"
        func each(_ more: [String]) throws -> Double { (try count(nodes, more) - empty) / Double(nodes) }
        let (all, long) = (try each([]), try each(["--frames", "256"]))
        let onSamples = long - all
        let (unguarded, floor) = (try each(["--unguarded"]), try count(nodes, ["--floor", library]) / Double(nodes))
        func row(_ what: String, _ value: Double) -> Row { Row(item, what, [value], "instructions/block") }
        rows += [
            row("voicegraph, per plugin", all),
            row("of that on samples: zeroing, guard", onSamples),
            row("all other work of the host", all - onSamples).aiming("<= 60", all - onSamples <= 60),
            row("voicegraph, per plugin, guard = false", unguarded),
            row("C loop, per plugin", floor),
        ]
    }
    return rows
}

/// The audio threads of JACK clients, from one wait for the server to the next.
private func perCallback(
    _ effort: Effort, _ scratch: Scratch, _ callgrind: Callgrind, _ library: String
) throws -> [Row] {
    // Under callgrind, beside other work, it may take half of that to begin.
    let seconds: UInt32 = effort.isQuick ? 6 : 10
    let input = try scratch.pipe("input")
    let rows = try withServer(effort) { server, _ -> [Row] in
        func figures(_ item: String, _ subject: String, _ profile: Profile, plugins: Int, clients: Int = 1) -> [Row] {
            let callbacks = Double(profile.calls) / Double(plugins) / Double(clients)
            return [
                Row(item, "\(subject), own", [Double(profile.own) / callbacks], "instructions/callback"),
                Row(
                    item, "\(subject), with libjack and libc", [Double(profile.all) / callbacks],
                    "instructions/callback"),
            ]
        }
        // Every client has one plugin: so many clients do so many times as much.
        var jalv: Profile?
        if let path = program("jalv") {
            progress("jalv under callgrind")
            jalv = try callgrind.audioThread(
                [path, "-n", "vg-jalv", amp], server: server, input: input, seconds: seconds + 6)
        }
        var rows: [Row] = []
        for nodes in effort.isQuick ? [10] : counts {
            let item = "\(nodes) eg-amp, live"
            for (subject, more) in [("voicegraph", []), ("C client", ["--floor", library])] {
                progress("\(item): \(subject) under callgrind")
                let profile = try callgrind.audioThread(
                    [callgrind.own, "--amps", "\(nodes)", "--live", "\(seconds)", "--server", server.name] + more,
                    server: server, seconds: seconds)
                rows += figures(item, subject, profile, plugins: nodes)
            }
            if let jalv {
                rows += figures(item, "\(nodes) x jalv", jalv, plugins: 1, clients: nodes)
            } else {
                rows.append(.missing(item, "jalv"))
            }
        }
        return rows
    }
    return rows ?? [.missing("live", "jackd")]
}

/// So many amplifiers in a row on an engine that nobody else calls.
func ampEngine(_ nodes: Int, frames: Int, guarded: Bool = true) throws -> (Engine, [NodeInstance]) {
    let described = (0..<nodes).map { index in
        var node = NodeDescription(
            name: "n\(index)", type: "lv2", entries: ["plugin": Entry(.string(amp))], keys: ["plugin"])
        node.isGuarded = guarded
        return node
    }
    let links = (0..<max(0, nodes - 1)).map { LinkDescription(from: Endpoint("n\($0)"), to: Endpoint("n\($0 + 1)")) }
    var description = GraphDescription(nodes: described, links: links)
    description.isPartial = nodes == 0
    let result = GraphBuilder.build(description, catalog: NodeRegistry().catalog(for: description))
    guard let graph = result.graph else { throw BenchmarkError("the graph of amplifiers: \(result.diagnostics)") }
    let engine = Engine()
    for node in graph.nodes { try node.instance.prepare(Preparation(rate: 48000, maxBlock: frames)) }
    engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: frames))
    for node in graph.nodes { node.instance.activate() }
    return (engine, graph.nodes.map(\.instance))
}

/// Plays them for so many blocks: what callgrind looks at.
func playAmps(_ nodes: Int, blocks: Int, frames: Int, guarded: Bool) throws {
    let (engine, instances) = try ampEngine(nodes, frames: frames, guarded: guarded)
    play(engine, blocks: 0..<blocks, frames: frames)
    withExtendedLifetime(instances) {}
}

/// Runs blocks as a driver does.
func play(_ engine: Engine, blocks: Range<Int>, frames: Int) {
    for block in blocks {
        engine.audio.run(
            engine.audio.begin(), frames: frames, clock: UInt64(block * frames), flags: 0, transport: vg_transport())
    }
}

/// The same as a JACK client, for so many seconds.
func playAmps(_ nodes: Int, server: String, seconds: UInt32) throws {
    let scratch = try Scratch()
    let file = try scratch.file(
        "amps.conf", chainText(name: "vg-amps", count: nodes, "type = \"lv2\"\nplugin = \"\(amp)\""))
    let (prepared, diagnostics) = try PreparedGraph.load(path: file, overrides: [], registry: NodeRegistry())
    guard let prepared else { throw BenchmarkError("\(diagnostics)") }
    let driver = try DriverChooser.open(DriverRequest(kind: .jack, client: "vg-amps", server: server))
    let running = try RunningGraph.start(prepared, on: driver)
    sleep(seconds)
    running.stop()
}

/// The same by the least that can do it: in a loop, or as a JACK client.
func playFloor(_ library: String, _ nodes: Int, blocks: Int, server: String, seconds: UInt32) throws {
    guard nodes > 0, let rack = peer_rack_new(library, nodes) else { throw BenchmarkError("\(library) does not load") }
    if seconds == 0 {
        peer_rack_run(rack, blocks)
        return
    }
    try loadJack()
    if !peer_rack_play(rack, "vg-floor", server, seconds) {
        throw BenchmarkError("the JACK server '\(server)' does not answer")
    }
}
