// SPDX-License-Identifier: Apache-2.0
import CPeers
import Glibc
import Host

private let counts = [1, 10, 100]

/// Instructions of the host around LV2 plugins, counted by callgrind: what does not depend on what else the machine
/// does. The plugins' own are left out, and those of what they call.
func instructionBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    guard let callgrind = try Callgrind(scratch) else { return [.missing("eg-amp", "valgrind, strip")] }
    guard let library = ampLibrary() else { return [.missing("eg-amp", "lv2-examples")] }
    return try perPlugin(callgrind, library) + perCallback(effort, scratch, callgrind, library)
}

/// A loop over plugins, without a driver: what each adds.
private func perPlugin(_ callgrind: Callgrind, _ library: String) throws -> [Row] {
    func count(_ nodes: Int, _ more: [String]) throws -> Double {
        func total(_ blocks: Int) throws -> Double {
            progress("\(nodes) amps, \(blocks) blocks")
            return Double(try callgrind.run([callgrind.own, "--amps", "\(nodes)", "--blocks", "\(blocks)"] + more).all)
        }
        return (try total(2200) - total(200)) / 2000
    }
    let empty = try count(0, [])
    var rows = [Row("no plugin", "voicegraph", [empty], "instructions/block")]
    for nodes in counts {
        let each = (try count(nodes, []) - empty) / Double(nodes)
        let floor = try count(nodes, ["--floor", library]) / Double(nodes)
        rows.append(
            Row("\(nodes) eg-amp", "voicegraph, per plugin", [each], "instructions/block").aiming("<= 60", each <= 60))
        rows.append(Row("\(nodes) eg-amp", "C loop, per plugin", [floor], "instructions/block"))
    }
    return rows
}

/// The audio threads of JACK clients, from one wait for the server to the next.
private func perCallback(
    _ effort: Effort, _ scratch: Scratch, _ callgrind: Callgrind, _ library: String
) throws -> [Row] {
    // Under callgrind, beside other work, it may take half of that to begin.
    let seconds: UInt32 = 10
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
        for nodes in counts {
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

/// Plays so many amplifiers in a row for so many blocks of 128 frames: what callgrind looks at.
func playAmps(_ nodes: Int, blocks: Int) throws {
    let described = (0..<nodes).map {
        NodeDescription(name: "n\($0)", type: "lv2", entries: ["plugin": Entry(.string(amp))], keys: ["plugin"])
    }
    let links = (0..<max(0, nodes - 1)).map { LinkDescription(from: Endpoint("n\($0)"), to: Endpoint("n\($0 + 1)")) }
    var description = GraphDescription(nodes: described, links: links)
    description.isPartial = nodes == 0
    let result = GraphBuilder.build(description, catalog: NodeRegistry().catalog(for: description))
    guard let graph = result.graph else { throw BenchmarkError("the graph of amplifiers: \(result.diagnostics)") }
    let engine = Engine()
    for node in graph.nodes { try node.instance.prepare(Preparation(rate: 48000, maxBlock: 128)) }
    engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: 128))
    for node in graph.nodes { node.instance.activate() }
    for block in 0..<blocks {
        engine.audio.run(
            engine.audio.begin(), frames: 128, clock: UInt64(block) * 128, flags: 0, transport: vg_transport())
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
    } else if !peer_rack_play(rack, "vg-floor", server, seconds) {
        throw BenchmarkError("the JACK server '\(server)' does not answer")
    }
}
