// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// Amplifiers in a row between the probe's output and its input.
private struct Rack {
    /// Names of the ports at both ends.
    var input: String
    var output: String
    /// Connections inside.
    var inner: [(String, String)]
    /// One process, or one for each amplifier.
    var commands: [[String]]
}

/// eg-amp 1, 10, 30 and 100 times in a row at 128 frames and 48 kHz: how long until the first sample comes out at the
/// end, and what share of the period the server then reports as used.
func chainBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let input = try scratch.pipe("input")
    guard program("jackd") != nil else { return [.missing("amps", "jackd")] }
    let idle = try withServer(effort) { _, probe in
        sleep(1)
        return probe.load(count: effort.isQuick ? 5 : 10)
    }
    var rows = [Row("no amp, load", "the server and the probe", idle ?? [], "%")]
    for count in effort.isQuick ? [1, 10] : [1, 10, 30, 100] {
        let item = "\(count) amp\(count == 1 ? "" : "s")"
        let graph = try scratch.file(
            "amps-\(count).conf", chainText(name: "vg-amps", count: count, "type = \"lv2\"\nplugin = \"\(amp)\""))
        let peers: [(String, String, (String) -> Rack)] = [
            ("voicegraph", effort.command, { voicegraphRack($0, graph, effort) }),
            ("ecasound", "ecasound", { ecasoundRack($0, count) }),
            ("jalv each", "jalv", { jalvRack($0, count, input) }),
        ]
        var figures = [String: (start: [Double], load: [Double])]()
        // More processes than the server takes, for example.
        var failed: Set<String> = []
        for _ in 0..<(effort.isQuick ? 1 : 3) {
            for (name, command, rack) in peers {
                guard let path = command.contains("/") ? command : program(command) else { continue }
                progress("\(item): \(name)")
                guard !failed.contains(name) else { continue }
                guard let measured = try measure(rack(path), effort) else {
                    failed.insert(name)
                    continue
                }
                figures[name, default: ([], [])].start.append(measured.start)
                figures[name, default: ([], [])].load += measured.load
            }
        }
        rows += report(item, peers.map(\.0), figures, failed)
    }
    return rows
}

private func report(
    _ item: String, _ peers: [String], _ figures: [String: (start: [Double], load: [Double])], _ failed: Set<String>
) -> [Row] {
    guard let own = figures[peers[0]] else { return [Row(item, peers[0], [], "no sound")] }
    var rows: [Row] = []
    for (what, unit, values) in [
        ("start", "ms", figures.mapValues(\.start)), ("load", "%", figures.mapValues(\.load)),
    ] {
        for peer in peers {
            guard let samples = values[peer] else {
                if what == "start" {
                    rows.append(Row(item, peer, [], failed.contains(peer) ? "no sound" : "not installed"))
                }
                continue
            }
            var row = Row("\(item), \(what)", peer, samples, unit)
            if peer != peers[0] {
                // How many times as much as the one graph this peer needs.
                let mine = Spread(what == "start" ? own.start : own.load).median
                row.ratio = Spread(samples.map { $0 / max(mine, 0.01) })
                row.against = "voicegraph"
            } else if what == "load", item == "30 amps" {
                row = row.aiming("< 3", row.value.median < 3)
            }
            rows.append(row)
        }
    }
    return rows
}

/// Milliseconds to the first sound, and loads; nil: no sound within a minute.
private func measure(_ rack: Rack, _ effort: Effort) throws -> (start: Double, load: [Double])? {
    let measured = try withServer(effort) { server, probe -> (start: Double, load: [Double])? in
        probe.play(0.5)
        let children = try rack.commands.map { try Child($0, environment: ["JACK_DEFAULT_SERVER": server.name]) }
        defer { stopAll(children) }
        let joints =
            [("\(probe.name):out", rack.input)] + rack.inner + [(rack.output, "\(probe.name):in")]
        let deadline = vg_nanoseconds() + 60_000_000_000
        for (from, to) in joints {
            let rest = (Double(deadline) - Double(vg_nanoseconds())) / 1e9
            let connected = probe.connect(from, to, seconds: max(0, rest)) { children.contains { $0.hasEnded } }
            if !connected { return nil }
        }
        guard let first = children.first, let heard = probe.firstSound(seconds: 10) else { return nil }
        let start = Double(heard - first.started) / 1e6
        usleep(1_000_000)
        return (start, probe.load(count: effort.isQuick ? 5 : 10))
    }
    return measured ?? nil
}

/// Asks all at once: each takes its time.
private func stopAll(_ children: [Child]) {
    for child in children where !child.hasEnded { kill(child.id, SIGTERM) }
    for child in children { child.stop() }
}

private func voicegraphRack(_ path: String, _ graph: String, _ effort: Effort) -> Rack {
    Rack(
        input: "vg-amps:in_1", output: "vg-amps:out_1", inner: [],
        commands: [[path, "run", graph, "--driver", "jack", "--server", effort.server, "--json"]])
}

private func ecasoundRack(_ path: String, _ count: Int) -> Rack {
    Rack(
        input: "vg-eca:in_1", output: "vg-eca:out_1", inner: [],
        commands: [
            [path, "-b:128", "-f:f32_le,1,48000", "-G:jack,vg-eca,notransport", "-i:jack", "-o:jack"]
                + [String](repeating: "-elv2:\(amp),0", count: count)
        ])
}

private func jalvRack(_ path: String, _ count: Int, _ input: String) -> Rack {
    let names = (0..<count).map { "vg-jalv-\($0)" }
    return Rack(
        input: "\(names[0]):in", output: "\(names[count - 1]):out",
        inner: zip(names, names.dropFirst()).map { ("\($0):out", "\($1):in") },
        // It ends with its input, which therefore must not end.
        commands: names.map { ["/bin/sh", "-c", "exec \(path) -n \($0) \(amp) <>\(input)"] })
}
