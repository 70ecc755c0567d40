// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Drivers
import Glibc
import Host
import System

private let small = chainText(name: "vg-small", count: 1, "type = \"gain\"")

/// From the start of the process to the `running` event, which is told after the first audio cycle.
func startBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let graph = try scratch.file("small.conf", small)
    let speech = try scratch.file(
        "speech.conf",
        """
        [graph]
        name = "vg-speech"
        links = ["tts -> meter -> speakers"]
        [node.tts]
        type = "tts"
        text = "Hello."
        [node.meter]
        type = "meter"
        [node.speakers]
        type = "output"
        """)
    guard program("jackd") != nil else { return [Row.missing("first cycle", "jackd")] }
    func run(_ file: String, _ driver: String) throws -> Double {
        let child = try Child(
            [effort.command, "run", file, "--driver", driver, "--server", effort.server, "--json"])
        defer { child.stop() }
        guard let time = child.wait(for: "\"event\":\"running\"", seconds: 10) else {
            throw BenchmarkError("no cycle: \(child.lastLines)")
        }
        return time / 1e6
    }
    let own = try interleaved(effort.runs, [{ try run(graph, "dummy") }, { try run(speech, "dummy") }])
    let running = try withServer(effort, block: 256) { server, _ in
        try interleaved(
            effort.runs, [{ try run(graph, "jack") }, { try run(speech, "jack") }, { try bareClient(server) }])
    }
    guard let running else { return [] }
    func row(_ item: String, _ subject: String, _ samples: [Double], below limit: Double) -> Row {
        Row(item, subject, samples, "ms").aiming("< \(short(limit))", Spread(samples).median < limit)
    }
    return [
        row("with a server of its own", "gain", own[0], below: 300),
        row("with a server of its own", "tts, meter", own[1], below: 300),
        row("with a running server", "gain", running[0], below: 80),
        row("with a running server", "tts, meter", running[1], below: 80),
        Row("with a running server", "libjack alone", running[2], "ms"),
    ]
}

/// Milliseconds for what every JACK client has to do: open, two ports, activate, first cycle.
private func bareClient(_ server: Server) throws -> Double {
    let start = vg_nanoseconds()
    let probe = try Probe(server, name: "vg-bare")
    defer { probe.close() }
    while probe.cycles == 0, vg_nanoseconds() - start < 5_000_000_000 { usleep(200) }
    return Double(vg_nanoseconds() - start) / 1e6
}

/// From a message to a TTS node to the first sample at the output that is not zero, heard by another client.
func sayBenchmark(_ effort: Effort) throws -> [Row] {
    guard let samples = try messageToSound(effort, engine: "espeak-ng", repetitions: 2 * effort.runs) else {
        return [.missing("message to sound", "espeak-ng or jackd")]
    }
    return [Row("message to sound", "espeak-ng", samples, "ms")]
}

/// The same in ms with an engine; nil: it is not installed, or there is no server.
func messageToSound(_ effort: Effort, engine: String, repetitions: Int) throws -> [Double]? {
    let scratch = try Scratch()
    let file = try scratch.file(
        "say.conf",
        """
        [graph]
        name = "vg-say"
        links = ["tts -> speakers"]
        [node.tts]
        type = "tts"
        engine = "\(engine)"
        required = false
        [node.speakers]
        type = "output"
        channels = 1
        """)
    let folder = String(effort.command.prefix(upTo: effort.command.lastIndex(of: "/") ?? effort.command.startIndex))
    let registry = NodeRegistry(search: .standard(extra: [folder]))
    let (prepared, diagnostics) = try PreparedGraph.load(path: file, overrides: [], registry: registry)
    guard let prepared else { throw BenchmarkError("\(diagnostics)") }
    if prepared.degraded["tts"] != nil { return nil }
    return try withServer(effort) { server, probe -> [Double] in
        let driver = try DriverChooser.open(DriverRequest(kind: .jack, client: "vg-say", server: server.name))
        let running = try RunningGraph.start(prepared, on: driver)
        defer { running.stop() }
        let ended = StartGate()
        // As the command does.
        let pump = try SystemThread(name: "pump") {
            while !ended.isOpened {
                running.pump()
                usleep(8000)
            }
        }
        defer {
            ended.open()
            pump.join()
        }
        guard probe.connect("vg-say:speakers_1", "\(probe.name):in", seconds: 5) else {
            throw BenchmarkError("the output is not there")
        }
        var times: [Double] = []
        for round in 0...repetitions {
            guard probe.waitForSilence(of: 0.3, seconds: 10) else { throw BenchmarkError("it speaks for ever") }
            probe.listen()
            let start = vg_nanoseconds()
            try running.send(.text("One, two."), to: "tts", port: "text")
            guard let heard = probe.firstSound(seconds: 10) else { throw BenchmarkError("nothing was heard") }
            // The first one also loads the voice.
            if round > 0 { times.append(Double(heard - start) / 1e6) }
        }
        return times
    }
}

/// What a process that hosts one amplifier holds of its own. Memory that all JACK clients share is left out.
func memoryBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let input = try scratch.pipe("input")
    let gain = try scratch.file("small.conf", small)
    let lv2 = try scratch.file("amp.conf", chainText(name: "vg-small", count: 1, "type = \"lv2\"\nplugin = \"\(amp)\""))
    func own(_ file: String) -> [String] {
        [effort.command, "run", file, "--driver", "jack", "--server", effort.server, "--json"]
    }
    var commands: [(String, [String]?)] = [("voicegraph, gain", own(gain)), ("voicegraph, eg-amp", own(lv2))]
    commands.append(
        ("jalv", program("jalv").map { ["/bin/sh", "-c", "exec \($0) -n vg-jalv \(amp) <>\(input)"] }))
    commands.append(
        (
            "ecasound",
            program("ecasound").map {
                [
                    $0, "-b:128", "-f:f32_le,1,48000", "-G:jack,vg-eca,notransport", "-i:jack", "-o:jack",
                    "-elv2:\(amp),0",
                ]
            }
        ))
    let rows = try withServer(effort) { server, _ in
        try commands.flatMap { name, arguments -> [Row] in
            guard let arguments else { return [.missing("resident", name)] }
            let child = try Child(arguments, environment: ["JACK_DEFAULT_SERVER": server.name])
            defer { child.stop() }
            sleep(name == "ecasound" ? 6 : 2)
            return [
                Row("private", name, [child.memory("RssAnon") / 1024], "MiB"),
                Row("programs and libraries", name, [child.memory("RssFile") / 1024], "MiB"),
            ]
        }
    }
    return rows ?? [Row.missing("resident", "jackd")]
}

/// `voicegraph check` of files that somebody generated.
func checkBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    return try [100, 1000, 10_000].map { count in
        let file = try scratch.file("\(count).conf", chainText(name: "many", count: count - 2, "type = \"gain\""))
        let samples = try interleaved(
            effort.runs,
            [
                {
                    let child = try Child([effort.command, "check", file])
                    defer { child.stop() }
                    guard child.waitForEnd(seconds: 60) == 0 else { throw BenchmarkError(child.lastLines) }
                    return Double(vg_nanoseconds() - child.started) / 1e6
                }
            ])[0]
        let row = Row("\(count) nodes", "voicegraph check", samples, "ms")
        return count == 10_000 ? row.aiming("< 1000", row.value.median < 1000) : row
    }
}
