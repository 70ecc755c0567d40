// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The files that recordings have made.
private func takes(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.contains("take") }.sorted()
}

/// `voicegraph record`, as a person or a script calls it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RecordCommandTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func record(_ arguments: String..., server: Jackd? = nil) throws -> Program {
        let driver = server.map { ["--driver", "jack", "--server", $0.name] } ?? ["--driver", "dummy"]
        return try Program([Program.voicegraph, "record"] + arguments + driver)
    }

    private var files: [String] { takes(in: scratch.path) }

    @Test("The limit completes the file, which holds what was played into the microphone") func limit() async throws {
        let noise = Signal.noise(frames: 48_000, seed: 9, amplitude: 0.5)
        func difference(_ take: [Float]) -> Double {
            guard let start = take.firstIndex(where: { $0 != 0 }) else { return .infinity }
            let heard = take[start...].prefix(48_000)
            return Double(Signal.difference(heard, noise.prefix(heard.count)))
        }
        let (run, take) = try await recorded(noise, ["--limit", "2s"]) { difference($0) == 0 }
        #expect(take.count == 96_000)
        #expect(difference(take) == 0)
        #expect(run.output.contains(/take[^ ]*\.wav: 2\.0 s, peak -6\.0 dBFS/))
    }

    @Test(
        "A mode records as it comes, or without rumble, even and below -1 dBTP",
        arguments: ["measurement", "voice", "spoken"])
    func modes(mode: String) async throws {
        // A second each of rumble, of a quiet tone and of a loud one.
        let played = [(30.0, 0.3), (1000, 0.02), (1000, 0.98)].flatMap { frequency, amplitude in
            Signal.sine(frequency, rate: 48_000, frames: 48_000, amplitude: amplitude)
        }
        let options = ["--limit", "5s", "--mode", mode]
        if mode == "measurement" {
            func difference(_ take: [Float]) -> Double {
                let heard = take[(take.firstIndex { $0 != 0 } ?? 0)...].prefix(140_000)
                return Double(Signal.difference(heard, played.drop { $0 == 0 }.prefix(heard.count)))
            }
            let (run, take) = try await recorded(played, options) { difference($0) == 0 }
            #expect(difference(take) == 0, "\(take.count) frames; \(run.output)\(run.errors)")
            return
        }
        let (_, take) = try await recorded(played, options)
        let start = try #require(take.firstIndex { abs($0) > 0.001 })
        // Of sines, in dBFS of their peaks, while nothing changes.
        let levels = (0..<3).map { part in
            let heard = take[(start + part * 48_000 + 24_000)..<(start + part * 48_000 + 40_800)]
            return 10 * log10(heard.reduce(0) { $0 + Double($1 * $1) } / Double(heard.count)) + 3.01
        }
        let peak = take.map(abs).max() ?? 0
        #expect(levels[0] < -35, "rumble is at \(levels[0]) dBFS of -10.5")
        #expect(levels[2] - levels[1] < 24, "\(levels) were 33.8 dB apart")
        #expect(levels[1] > -34 && peak <= 0.892 && peak > 0.2, "\(levels) \(peak)")
    }

    /// Whether a run has told that something of its audio was late, or that the disk was.
    private func wasLate(_ run: Program) -> Bool { run.errors.contains(/late: |dropped/) }

    /// What is recorded of what is played, by a run that has ended. On a busy machine a block may come too late, or all that a
    /// run keeps for its disk be full, which it tells: then once more, if the take is not as it was wanted.
    private func recorded(
        _ played: [Float], _ options: [String], isWanted: ([Float]) -> Bool = { _ in true }
    ) async throws -> (run: Program, take: [Float]) {
        var attempt = 0
        while true {
            attempt += 1
            let server = try await Jackd.start()
            defer { server.stop() }
            let file = scratch.file("take-\(UUID()).wav")
            let player = try JackPeer("player", server: server, plays: [played])
            let run = try Program(
                [Program.voicegraph, "record", file, "--from", "player:out_1", "--driver", "jack"]
                    + ["--server", server.name] + options)
            try await eventually("it is connected") { !player.connections(of: "player:out_1").isEmpty }
            player.play()
            let status = try await run.end()
            let take = try SoundFile(file).samples[0]
            if status != 0 || !isWanted(take), wasLate(run), attempt < 4 { continue }
            #expect(status == 0, "\(run.errors)")
            return (run, take)
        }
    }

    @Test("What it has recorded is in the list of takes") func listed() async throws {
        let data = ["XDG_DATA_HOME": scratch.file("data")]
        let run = try Program(
            [Program.voicegraph, "record", "take.wav", "--limit", "0.3", "--driver", "dummy"], environment: data,
            folder: scratch.path)
        #expect(try await run.end() == 0, "\(run.errors)")
        let list = try Program([Program.voicegraph, "takes", "list", "--json"], environment: data)
        #expect(try await list.end() == 0, "\(list.errors)")
        #expect(list.lines.count == 1 && list.output.contains("take.wav"), "\(list.output)")
        #expect(list.output.contains("\"state\":\"whole\""), "\(list.output)")
    }

    @Test("Where the terminal's end is kept from it, as by nohup, it records on") func nohup() async throws {
        let run = try Program([
            "nohup", Program.voicegraph, "record", scratch.file("take.wav"), "--limit", "1", "--driver", "dummy",
        ])
        let folder = scratch.path
        try await run.wait("it records") { takes(in: folder) == ["take.part.wav"] && !$0.lines.isEmpty }
        run.signal(SIGHUP)
        #expect(try await run.end() == 0, "\(run.errors)")
        #expect(try SoundFile(scratch.file("take.wav")).samples[0].count == 48_000)
    }

    @Test(
        "SIGINT, SIGTERM and the end of the terminal complete the file", arguments: [SIGINT, SIGTERM, SIGHUP])
    func ended(signal: Int32) async throws {
        let run = try record(scratch.file("take.flac"))
        let folder = scratch.path
        try await run.wait("it records") { takes(in: folder) == ["take.part.flac"] && !$0.lines.isEmpty }
        run.signal(signal)
        #expect(try await run.end() == 0, "\(run.errors)")
        #expect(files == ["take.flac"])
        #expect(try SoundFile(scratch.file("take.flac")).samples[0].count > 0)
        // Nothing is connected to a dummy's microphone.
        #expect(run.output.contains("take.flac: ") && run.output.contains("silence"))
    }

    @Test("A file follows the other without a frame between them, and none is written over") func split() async throws {
        try scratch.write("take.wav", "old")
        let run = try record(
            scratch.file("take.wav"), "--limit", "1.25", "--split", "0.5", "--channels", "2", "--rate", "16000")
        #expect(try await run.end() == 0, "\(run.errors)")
        #expect(files == ["take-2.wav", "take-3.wav", "take-4.wav", "take.wav"])
        let lengths = try ["take-2.wav", "take-3.wav", "take-4.wav"].map {
            try SoundFile(scratch.file($0)).samples[0].count
        }
        #expect(lengths == [8000, 8000, 4000])
        #expect(try String(contentsOfFile: scratch.file("take.wav"), encoding: .utf8) == "old")
    }

    @Test(
        "What cannot be is said at once",
        arguments: [
            (["take.mp3"], Int32(1), "cannot tell the format"),
            (["take.ogg", "--mode", "measurement"], 64, "--mode measurement keeps every sample"),
            (["take.wav", "--rate", "8000", "--mode", "measurement"], 64, "leave --rate out"),
            (["no/folder/take.wav"], 1, "cannot write to the folder"),
            (["take.wav", "--limit", "soon"], 64, "--limit"), (["take.wav", "--limit", "0"], 64, "--limit"),
            (["take.flac", "--bits", "32"], 1, "FLAC has no samples of 32 bits"),
            (["take.wav", "--channels", "0"], 64, "--channels"),
            (["take.opus", "--rate", "44100"], 1, "Opus has no 44100 Hz"),
        ])
    func refused(arguments: [String], status: Int32, reason: String) async throws {
        let place = [scratch.file(arguments[0])] + arguments.dropFirst()
        let run = try Program([Program.voicegraph, "record"] + place + ["--driver", "dummy"])
        #expect(try await run.end() == status)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(files.isEmpty)
    }

    @Test("Where there is no audio that is an error, and no file") func nothing() async throws {
        let run = try Program(
            [Program.voicegraph, "record", scratch.file("take.wav")],
            environment: ["JACK_DEFAULT_SERVER": "vgt-none", "XDG_RUNTIME_DIR": scratch.path])
        #expect(try await run.end() == 1)
        #expect(run.errors.hasPrefix("voicegraph: there is nothing to record: "), "\(run.errors)")
        #expect(files.isEmpty)
    }

    @Test("As JSON every line is an event") func json() async throws {
        let run = try record(scratch.file("take.wav"), "--limit", "1", "--json")
        #expect(try await run.end() == 0, "\(run.errors)")
        let names = try run.events().compactMap { $0["event"] as? String }
        for name in ["record.started", "record.limit", "record.finished", "record.state"] {
            #expect(names.contains(name))
        }
    }
}
