// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host

/// Instructions of the host per LV2 plugin and block, counted by callgrind: what does not depend on what else the
/// machine does. The plugin's own are left out.
func instructionBenchmark(_ effort: Effort) throws -> [Row] {
    guard let valgrind = program("valgrind") else { return [.missing("eg-amp", "valgrind")] }
    guard let strip = program("strip") else { return [.missing("eg-amp", "strip")] }
    let scratch = try Scratch()
    // Valgrind gives up on debug information that is newer than itself.
    let own = scratch.place("benchmarks")
    let stripped = try Child([strip, "--strip-debug", "-o", own, CommandLine.arguments[0]])
    guard stripped.waitForEnd(seconds: 60) == 0 else { throw BenchmarkError("strip: \(stripped.lastLines)") }

    func count(_ nodes: Int, blocks: Int) throws -> Double {
        let file = scratch.place("\(nodes)-\(blocks).callgrind")
        progress("\(nodes) amps, \(blocks) blocks")
        let child = try Child(
            [
                valgrind, "--tool=callgrind", "--callgrind-out-file=\(file)", own, "--amps", "\(nodes)", "--blocks",
                "\(blocks)",
            ], environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
        guard child.waitForEnd(seconds: 300) == 0, let text = readFile(file) else {
            throw BenchmarkError("callgrind: \(child.lastLines)")
        }
        return Double(instructions(text, without: "/eg-amp.lv2/"))
    }
    var perBlock: [(nodes: Int, value: Double)] = []
    for nodes in [0, 1, 10, 100] {
        let value = (try count(nodes, blocks: 2200) - count(nodes, blocks: 200)) / 2000
        perBlock.append((nodes, value))
    }
    return perBlock.map { nodes, value in
        guard nodes > 0 else { return Row("no plugin", "voicegraph", [value], "instructions/block") }
        let each = (value - perBlock[0].value) / Double(nodes)
        return Row("\(nodes) eg-amp", "voicegraph, per plugin", [each], "instructions/block")
            .aiming("<= 60", each <= 60)
    }
}

/// What callgrind counted in all objects but those whose path contains `excluded`, and but what these called.
private func instructions(_ text: String, without excluded: String) -> Int {
    var objects: [Substring: Bool] = [:]
    var counts = true
    var isCall = false
    // Whether the callee is in another object, which is said only then.
    var leaves = false
    var total = 0
    for line in text.split(separator: "\n") {
        if line.hasPrefix("ob=") {
            // "ob=(3) /path" the first time, then "ob=(3)".
            let parts = line.dropFirst(3).split(separator: " ", maxSplits: 1)
            if parts.count == 2 { objects[parts[0]] = !parts[1].contains(excluded) }
            counts = objects[parts[0]] ?? true
        } else if line.hasPrefix("cob=") {
            let parts = line.dropFirst(4).split(separator: " ", maxSplits: 1)
            if parts.count == 2 { objects[parts[0]] = !parts[1].contains(excluded) }
            leaves = objects[parts[0]] ?? true
        } else if line.hasPrefix("calls=") {
            isCall = true
        } else if let first = line.utf8.first,
            first == 0x2B || first == 0x2D || first == 0x2A || (48...57).contains(first)
        {
            // A position and a cost; after "calls=" it is the cost of what was called, which is counted there too.
            let cost = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
            if counts, !isCall { total += cost }
            if !counts, isCall, leaves { total -= cost }
            (isCall, leaves) = (false, false)
        }
    }
    return total
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
