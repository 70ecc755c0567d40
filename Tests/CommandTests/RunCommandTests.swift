// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph run` as a process, mostly on a server of its own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RunCommandTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write("graph.conf", endless)
    }

    @Test("A signal ends the run with its report and its server", arguments: [SIGINT, SIGTERM]) func signals(
        _ number: Int32
    ) async throws {
        let run = try voicegraph("run", graph, "--driver", "dummy", "--json")
        try await run.plays()
        let children = run.children()
        #expect(children.count == 1)
        run.signal(number)
        #expect(try await run.end() == 0, "\(run.errors)")
        let events = try run.events()
        let first = try #require(events.first)
        #expect(first["event"] as? String == "running")
        #expect(first["driver"] as? String == "dummy")
        #expect((first["server"] as? String)?.hasPrefix("voicegraph") == true)
        #expect(first["own_server"] as? Bool == true)
        #expect(first["rate"] as? Int == 48_000)
        #expect(first["block"] as? Int == 256)
        #expect(first["client"] as? String == "endless")
        #expect(first["pid"] as? Int == Int(run.processID))
        let last = try #require(events.last)
        #expect(last["event"] as? String == "finished")
        #expect(last["xruns"] is Int)
        #expect((last["nodes"] as? [String: Any])?["gain"] is [String: Any])
        #expect(run.complaints == [])
        #expect(children.allSatisfy(isGone))
    }

    @Test("A signal while the graph begins leaves a whole recording") func early() async throws {
        let text = """
            [graph]
            name = "early"
            links = ["tone -> take"]
            [node.tone]
            type = "tone"
            [node.take]
            type = "record"
            path = "take.wav"

            """
        // Where in the start it comes differs from time to time.
        for round in 1...10 {
            let folder = try Scratch()
            let run = try voicegraph("run", folder.write("early.conf", text), "--driver", "dummy", "--json")
            let part = folder.file("take.part.wav")
            while run.isRunning, access(part, F_OK) != 0 { usleep(1000) }
            run.signal(SIGTERM)
            #expect(try await run.end() == 0, "round \(round): \(run.errors)")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(files == ["early.conf", "take.wav"], "round \(round)")
        }
    }

    @Test("A folder keeps what a plugin is set to from run to run") func stateFolder() async throws {
        let graph = try scratch.write(
            "kept.conf",
            """
            [graph]
            links = ["tone -> amp -> out"]
            [node.tone]
            type = "tone"
            [node.amp]
            type = "lv2"
            plugin = "http://lv2plug.in/plugins/eg-amp"
            state = "kept"
            [node.out]
            type = "output"

            """)
        let folder = URL(fileURLWithPath: graph).deletingLastPathComponent().appendingPathComponent("kept")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let state = folder.appendingPathComponent("state.ttl")
        func gain(_ arguments: String...) async throws -> Substring? {
            let run = try Program(
                [Program.voicegraph, "run", graph, "--driver", "dummy", "--duration", "0.2"] + arguments)
            #expect(try await run.end() == 0, "\(run.errors)")
            let text = try? String(contentsOf: state, encoding: .utf8)
            return text?.firstMatch(of: /pset:value (-?[0-9.]+)/)?.1
        }
        #expect(try await gain() == nil)
        #expect(try await gain("--save-state", "--set", "node.amp.params.gain=-12.5") == "-12.5")
        // The second run has it from the folder.
        #expect(try await gain("--save-state") == "-12.5")
        #expect(try await gain("--set", "node.amp.params.gain=3") == "-12.5")
    }

    @Test("A killed run takes its server with it") func killed() async throws {
        let run = try voicegraph("run", graph, "--driver", "dummy", "--json")
        try await run.plays()
        let server = try #require(run.children().first)
        #expect(!isGone(server))
        run.signal(SIGKILL)
        #expect(try await run.end() == -SIGKILL)
        try await eventually("the server ends") { isGone(server) }
    }

    @Test("Without a terminal there is a line a second, and a report") func plainOutput() async throws {
        let run = try voicegraph("run", graph, "--driver", "dummy", "--duration", "3.1")
        #expect(try await run.end() == 0, "\(run.errors)")
        let lines = run.lines
        let opening = /endless: dummy \(voicegraph-server(-\d)?, own\), 48 kHz, 256 frames, SCHED_.*locked( beside .*)?/
        #expect(lines.first?.wholeMatch(of: opening) != nil)
        let seconds = lines.filter { $0.wholeMatch(of: /0:0\d  dsp .* %  xruns \d+  meter -6.0 dBFS.*/) != nil }
        // By frames played: on a busy machine the server is late by up to a second and a half.
        #expect((2...3).contains(seconds.count))
        #expect(
            lines.contains {
                $0.wholeMatch(of: /[123]\.\d s played by dummy \(voicegraph.*, own\), \d+ blocks, \d+ xruns?/) != nil
            })
        #expect(lines.contains { $0.wholeMatch(of: /\s+node +mean us +99 % us +longest us +of a block/) != nil })
        #expect(lines.contains { $0.hasPrefix("  gain ") })
        #expect(!run.output.contains("\u{1b}"))
    }

    @Test("`--plain` says what happens, how it is only when it is asked, and draws nothing; q quits") func plain()
        async throws
    {
        // A terminal on which somebody presses s until he is answered, and then q.
        let run = try Program([
            "sh", "-c",
            """
            { while [ ! -e '\(scratch.path)/answered' ]; do printf s; sleep 0.2; done; printf q; } |
                script -qec "'\(Program.voicegraph)' run --plain --driver dummy '\(graph)'" /dev/null
            """,
        ])
        defer { _ = try? scratch.write("answered", "") }
        try await eventually("it is told how it is", seconds: 100) {
            run.output.contains(/0:\d\d played, load \d+ percent, (no|\d+) dropouts?\. meter at -6 dBFS\./)
        }
        _ = try scratch.write("answered", "")
        try await eventually("it ends", seconds: 100) { run.output.contains("of a block") }
        #expect(run.output.contains("s or Enter tells how it is, q quits"))
        #expect(!run.output.contains("  dsp ") && !run.output.contains("\u{1B}"))
        let some = try voicegraph(
            "run", graph, "--driver", "dummy", "--json", "--only", "finished", "--only", "runing", "--duration", "0.5")
        #expect(try await some.end() == 0)
        #expect(try some.events().map { $0["event"] as? String } == ["finished"])
        #expect(some.errors.contains("has an event 'runing' (did you mean 'running'?)"))
        let alone = try voicegraph("run", graph, "--only", "finished")
        #expect(try await alone.end() == 64 && alone.errors.contains("--only goes with --json"))
        let both = try voicegraph("run", graph, "--plain", "--json")
        #expect(try await both.end() == 64 && both.errors.contains("give --json or --plain, not both"))
    }

    @Test("`--until-idle` ends when all is spoken") func untilIdle() async throws {
        let speech = try scratch.write(
            "speech.conf",
            """
            [graph]
            links = ["voice -> out"]
            [node.voice]
            type = "tts"
            text = "One."
            [node.out]
            type = "output"
            """)
        let run = try voicegraph("run", speech, "--driver", "dummy", "--json", "--until-idle")
        #expect(try await run.end() == 0, "\(run.errors)")
        let names = try run.events().compactMap { $0["event"] as? String }
        #expect(names.contains("speech.finished") && names.last == "finished")
    }

    @Test("`--until-idle` waits for what a plugin that knows nothing of it still sounds") func tail() async throws {
        // A second later, by a plugin that does not say so; a tenth of a second of sound.
        try SoundFile(rate: 48_000, samples: [Signal.constant(0.5, frames: 4800)]).write(scratch.file("take.wav"))
        let late = try scratch.write(
            "late.conf",
            """
            [graph]
            links = ["take -> late -> meter -> out"]
            [node.take]
            type = "file"
            path = "take.wav"
            [node.late]
            type = "lv2"
            plugin = "http://plugin.org.uk/swh-plugins/delay_n"
            params = { delay_time = 1.0, max_delay = 2.0 }
            [node.meter]
            type = "meter"
            [node.out]
            type = "output"
            """)
        let run = try voicegraph(
            "run", late, "--driver", "dummy", "--json", "--until-idle", "--tail", "1.5", "--trust")
        #expect(try await run.end() == 0, "\(run.errors)")
        let peaks = try run.events().compactMap { ($0["peak"] as? [Double])?.first }
        #expect(peaks.contains { $0 > 0.4 }, "\(run.lines.suffix(3))")
    }

    @Test("Overrides take effect") func overrides() async throws {
        let run = try voicegraph(
            "run", graph, "--driver", "dummy", "--json", "--duration", "0.5", "--set", "node.gain.gain_db=-20")
        #expect(try await run.end() == 0, "\(run.errors)")
        let peaks = try run.events().compactMap { ($0["peak"] as? [Double])?.first }
        #expect(peaks.count > 10)
        #expect(peaks.allSatisfy { abs(20 * log10($0) + 26) < 0.1 })
    }

    @Test(
        "Overrides that cannot work end the run before it begins",
        arguments: [
            ("node.gain.gain_db=99", "error: parameter 'gain_db' is 99, outside its range"),
            ("node.gian.gain_db=1", "'gian'"), ("nonsense", "--set nonsense"),
        ])
    func hopelessOverrides(_ override: String, _ message: String) async throws {
        let run = try voicegraph("run", graph, "--driver", "dummy", "--set", override)
        #expect(try await run.end() == 1)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(run.output == "")
    }

    @Test("Two runs at a time have a server each") func twoRuns() async throws {
        let runs = try (0..<2).map { _ in try voicegraph("run", graph, "--driver", "dummy", "--json") }
        for run in runs { try await run.plays() }
        let servers = try runs.map { try #require(try $0.events().first?["server"] as? String) }
        #expect(Set(servers).count == 2)
        for run in runs { run.signal(SIGTERM) }
        for run in runs { #expect(try await run.end() == 0) }
    }

    @Test("A running server is used, and one that is not there is told of") func servers() async throws {
        let server = try await Jackd.start(rate: 44_100, block: 64)
        let run = try voicegraph("run", graph, "--server", server.name, "--json", "--duration", "0.3")
        #expect(try await run.end() == 0, "\(run.errors)")
        let first = try #require(try run.events().first)
        #expect(first["driver"] as? String == "jack" && first["server"] as? String == server.name)
        #expect(first["rate"] as? Int == 44_100 && first["block"] as? Int == 64)
        #expect(run.children().isEmpty)
        server.stop()
        // A run that is to last so long does not wait for one.
        let lost = try voicegraph("run", graph, "--driver", "jack", "--server", "vgt-nobody", "--duration", "0.3")
        #expect(try await lost.end() == 1)
        #expect(lost.errors.hasPrefix("voicegraph: no JACK server named 'vgt-nobody' is running ("))
        #expect(lost.errors.contains("--driver dummy"))
    }

    @Test("What a voice says live equals the render of the same blocks") func liveVoice() async throws {
        let text = """
            [graph]
            links = ["voice -> tremolo -> out", "tremolo -> take"]
            [node.voice]
            type = "tts"
            text = "The same samples, live and rendered."
            [node.tremolo]
            type = "tremolo"
            rate_hz = 0.05
            depth = 0
            [node.take]
            type = "record"
            path = "live.wav"
            [node.out]
            type = "output"
            channels = 1
            """
        let file = try scratch.write("voice.conf", text)
        // A server that waits for late clients, so that no sample is lost on a busy machine.
        let server = try await Jackd.start(block: 256)
        // A voice that was late, on a machine that is busy with others, is told, and is no longer the same.
        for _ in 0..<5 {
            let live = try voicegraph(
                "run", file, "--server", server.name, "--until-idle", "--json", "--set",
                "node.take.path=\(scratch.file("live.wav"))")
            #expect(try await live.end() == 0)
            if !live.output.contains("speech.gap") { break }
            try FileManager.default.removeItem(atPath: scratch.file("live.wav"))
        }
        server.stop()
        let render = try voicegraph(
            "render", file, "-o", scratch.file("out.wav"), "--block", "256", "--set", "node.take.path=again.wav")
        #expect(try await render.end() == 0)
        // A live voice begins when it is ready, a rendered one at once: from there on they are the same.
        let voices = try ["live.wav", "out.wav", "again.wav"].map { name in
            Array(try SoundFile(scratch.file(name)).samples[0].drop { $0 == 0 })
        }
        let length = voices.map(\.count).min() ?? 0
        #expect(length > 48_000)
        for voice in voices { #expect(Signal.difference(voice.prefix(length), voices[0].prefix(length)) == 0) }
    }

    @Test("Bad graphs end with 1 and bad usage with 64") func exitCodes() async throws {
        let bad = try scratch.write("bad.conf", endless + "[node.meter]\n")
        #expect(try await voicegraph("run", bad).end() == 1)
        #expect(try await voicegraph("run", scratch.file("missing.conf")).end() == 1)
        for arguments in [
            [], [graph, "--driver", "pulse"], [graph, "--driver", "alsa:"], [graph, "--duration", "0"],
            [graph, "--duration", "x"],
        ] {
            let run = try Program([Program.voicegraph, "run"] + arguments)
            #expect(try await run.end() == 64)
            #expect(run.errors.contains(/Usage: voicegraph run .*<file>/))
        }
        let json = try voicegraph("run", bad, "--json")
        #expect(try await json.end() == 1)
        let line = try #require(json.errors.split(separator: "\n").first)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["severity"] as? String == "error" && object?["line"] is Int)
    }
}
