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

/// What one run of a rack shows.
private struct Figures {
    /// Milliseconds to the first sound.
    var start: [Double] = []
    /// Percent of the period.
    var load: [Double] = []
    /// MiB that only these processes hold, and MiB of programs and libraries that each of them maps.
    var memory: [Double] = []
    var mapped: [Double] = []

    static func += (all: inout Figures, one: Figures) {
        all.start += one.start
        all.load += one.load
        all.memory += one.memory
        all.mapped += one.mapped
    }
}

/// eg-amp 1, 10, 30 and 100 times in a row at 48 kHz and 128 frames: how long until the first sample comes out at the
/// end, what the processes hold, and what share of the period the server then reports as used, at 64 and 1024 frames
/// too.
func chainBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let input = try scratch.pipe("input")
    guard program("jackd") != nil else { return [.missing("amps", "jackd")] }
    var rows: [Row] = []
    for block in effort.isQuick ? [128] : [128, 64, 1024] {
        let idle = try withServer(effort, block: block) { _, probe in
            sleep(1)
            return probe.load(count: effort.isQuick ? 5 : 10)
        }
        rows.append(Row("no amp, load at \(block)", "the server and the probe", idle ?? [], "%"))
        for count in effort.isQuick ? [1, 10] : [1, 10, 30, 100] {
            let item = "\(count) amp\(count == 1 ? "" : "s")"
            let graph = try scratch.file(
                "amps-\(count).conf", chainText(name: "vg-amps", count: count, "type = \"lv2\"\nplugin = \"\(amp)\""))
            let peers: [(String, String, (String) -> Rack)] = [
                ("voicegraph", effort.command, { voicegraphRack($0, graph, effort) }),
                ("ecasound", "ecasound", { ecasoundRack($0, count, block) }),
                ("\(count) x jalv", "jalv", { jalvRack($0, count, input) }),
            ]
            var figures = [String: Figures]()
            // More processes than the server takes, for example.
            var failed: Set<String> = []
            for _ in 0..<(effort.isQuick || block != 128 || count > 30 ? 1 : 3) {
                for (name, command, rack) in peers {
                    guard let path = command.contains("/") ? command : program(command) else { continue }
                    progress("\(item), \(block) frames: \(name)")
                    // A server takes 64 clients.
                    if count > 60, name.hasSuffix("jalv") { failed.insert(name) }
                    guard !failed.contains(name) else { continue }
                    guard let measured = try measure(rack(path), effort, block) else {
                        failed.insert(name)
                        continue
                    }
                    figures[name, default: Figures()] += measured
                }
            }
            rows += report(item, block, peers.map(\.0), figures, failed)
        }
    }
    return rows
}

private func report(
    _ item: String, _ block: Int, _ peers: [String], _ figures: [String: Figures], _ failed: Set<String>
) -> [Row] {
    guard let own = figures[peers[0]] else { return [Row(item, peers[0], [], "no sound")] }
    var kinds: [(what: String, unit: String, part: (Figures) -> [Double])] = [
        ("load at \(block)", "%", { $0.load })
    ]
    if block == 128 {
        kinds += [
            ("start", "ms", { $0.start }), ("private memory", "MiB", { $0.memory }),
            ("programs and libraries", "MiB", { $0.mapped }),
        ]
    }
    var rows: [Row] = []
    for (turn, (what, unit, part)) in kinds.enumerated() {
        for peer in peers {
            guard let samples = figures[peer].map(part) else {
                if turn == 0 { rows.append(Row(item, peer, [], failed.contains(peer) ? "no sound" : "not installed")) }
                continue
            }
            var row = Row("\(item), \(what)", peer, samples, unit)
            if peer != peers[0] {
                // How many times as much as the one graph this peer needs.
                let mine = Spread(part(own)).median
                row.ratio = Spread(samples.map { $0 / max(mine, 0.01) })
                row.against = "voicegraph"
            } else if what == "load at 128", item == "30 amps" {
                row = row.aiming("< 3", row.value.median < 3)
            }
            rows.append(row)
        }
    }
    return rows
}

/// One run; nil: no sound in time.
private func measure(_ rack: Rack, _ effort: Effort, _ block: Int) throws -> Figures? {
    let measured = try withServer(effort, block: block) { server, probe -> Figures? in
        probe.play(0.5)
        let children = try rack.commands.map { try Child($0, environment: ["JACK_DEFAULT_SERVER": server.name]) }
        defer { stopAll(children) }
        let joints =
            [("\(probe.name):out", rack.input)] + rack.inner + [(rack.output, "\(probe.name):in")]
        let deadline = vg_nanoseconds() + 20_000_000_000
        for (from, to) in joints {
            let rest = (Double(deadline) - Double(vg_nanoseconds())) / 1e9
            let connected = probe.connect(from, to, seconds: max(0, rest)) { children.contains { $0.hasEnded } }
            if !connected { return nil }
        }
        guard let first = children.first, let heard = probe.firstSound(seconds: 10) else { return nil }
        usleep(1_000_000)
        func all(_ key: String) -> Double { children.reduce(0) { $0 + $1.memory(key) } / 1024 }
        return Figures(
            start: [Double(heard - first.started) / 1e6], load: probe.load(count: effort.isQuick ? 5 : 10),
            memory: [all("RssAnon")], mapped: [all("RssFile")])
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

private func ecasoundRack(_ path: String, _ count: Int, _ block: Int) -> Rack {
    Rack(
        input: "vg-eca:in_1", output: "vg-eca:out_1", inner: [],
        commands: [
            [path, "-b:\(block)", "-f:f32_le,1,48000", "-G:jack,vg-eca,notransport", "-i:jack", "-o:jack"]
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
