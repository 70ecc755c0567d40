// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import Glibc
import TestSupport

@Suite(.timeLimit(.minutes(5))) struct RenderCommandTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write("graph.conf", endless)
    }

    @Test(
        "The suffix chooses the format",
        arguments: [
            ("out.wav", SF_FORMAT_WAVEX | SF_FORMAT_FLOAT), ("OUT.WAV", SF_FORMAT_WAVEX | SF_FORMAT_FLOAT),
            ("out.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24), ("out.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS),
        ])
    func suffix(name: String, format: Int) async throws {
        let render = try voicegraph("render", graph, "-o", scratch.file(name), "--duration", "0.5", "--rate", "44100")
        #expect(try await render.end() == 0, "\(render.errors)")
        #expect(render.errors.hasPrefix("\(scratch.file(name)): 22050 frames, 0.5 s at "))
        let levels = /x real time, peak -[56].\d dBFS, true peak -[56].\d dBTP, -\d\.\d LUFS\n/
        #expect(render.errors.contains(levels) && render.output == "", "\(render.errors)")
        let file = try SoundFile(scratch.file(name))
        #expect(file.format == format && file.rate == 44_100 && file.samples.count == 2)
        #expect(file.samples.allSatisfy { $0.count == 22_050 })
        #expect(abs(Signal.peak(file.samples[0]) - 0.5012) < 0.02)
    }

    @Test(
        "Wrong usage exits with 64 and writes nothing",
        arguments: [
            ["-o", "out.mp3"], ["-o", "out"], ["-o", "o.wav", "--duration", "0"], ["-o", "o.wav", "--block", "0"],
            ["-o", "o.wav", "--rate", "10"], ["-o", "o.wav", "--channels", "65"], ["-o", "o.wav", "--input", "mic"],
            ["-o", "o.wav", "--duration", "1", "--until-idle"], ["-o", "o.wav", "--duration", "nan"], [],
            ["-o", "o.wav", "--input", "a=b", "--input", "a=c"], ["-o", "o.wav", "--jobs", "0"],
        ])
    func wrongUsage(_ arguments: [String]) async throws {
        let render = try Program([Program.voicegraph, "render", graph] + arguments, folder: scratch.path)
        #expect(try await render.end() == 64)
        #expect(render.errors.contains("Usage: voicegraph render "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["graph.conf"])
    }

    @Test("What cannot be written exits with 1 and says why") func unwritable() async throws {
        let nowhere = try voicegraph("render", graph, "-o", scratch.file("no/out.wav"), "--duration", "1")
        #expect(try await nowhere.end() == 1)
        #expect(
            nowhere.errors == "voicegraph: cannot write \(scratch.file("no/out.wav")): No such file or directory "
                + "(make the folder with mkdir -p, or choose another)\n")
        let full = scratch.file("full.wav")
        try FileManager.default.createSymbolicLink(atPath: full, withDestinationPath: "/dev/full")
        let disk = try voicegraph("render", graph, "-o", full, "--duration", "5")
        #expect(try await disk.end() == 1)
        #expect(disk.errors.hasPrefix("voicegraph: cannot write \(full): "))
        // A device is neither replaced nor removed.
        var facts = stat()
        #expect(stat(full, &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
        let endlessly = try voicegraph("render", graph, "-o", scratch.file("out.wav"))
        #expect(try await endlessly.end() == 1)
        #expect(endlessly.errors.contains("give --duration SECONDS"))
    }

    @Test("What a guard silences in a render is told, with its time, also in the last line")
    func silenced() async throws {
        // Twice 20 dB: above +24 dBFS.
        let loud = try scratch.write(
            "loud.conf",
            endless.replacingOccurrences(of: "tone -> gain", with: "tone -> gain -> louder")
                .replacingOccurrences(of: "type = \"gain\"", with: "type = \"gain\"\ngain_db = 20")
                + "[node.louder]\ntype = \"gain\"\ngain_db = 20\n")
        let out = scratch.file("loud.wav")
        let render = try voicegraph("render", loud, "-o", out, "--duration", "1")
        #expect(try await render.end() == 1)
        let lines = render.errors.split(separator: "\n")
        #expect(lines.count == 3)
        let pattern = /voicegraph: node 'meter' was silenced from 0\.0\d s on, for 0\.9\d s: .* above \+24 dBFS/
        #expect(try #require(lines.first).wholeMatch(of: pattern) != nil, "\(render.errors)")
        #expect(lines[1].hasPrefix("\(out): 48000 frames, ") && lines[1].hasSuffix("; audio was lost at: meter"))
        #expect(lines[2] == "voicegraph: audio was lost, as said above (--keep-going takes the file as it is)")
        let content = try voicegraph("render", loud, "-o", out, "--duration", "1", "--keep-going")
        #expect(try await content.end() == 0)
        #expect(content.errors.split(separator: "\n").count == 2)
        let whole = try voicegraph("render", graph, "-o", out, "--duration", "1")
        #expect(try await whole.end() == 0)
        #expect(!whole.errors.contains("silenced"))
    }

    @Test("Ctrl-C leaves a readable file", arguments: ["out.wav", "out.flac", "out.ogg"]) func interrupted(name: String)
        async throws
    {
        let out = scratch.file(name)
        let part = out.replacingOccurrences(of: "out.", with: "out.part.")
        let render = try voicegraph("render", graph, "-o", out, "--duration", "1000000", "--rate", "8000")
        try await render.wait("something is on disk") { _ in
            ((try? FileManager.default.attributesOfItem(atPath: part)[.size] as? Int) ?? 0) > 100_000
        }
        render.signal(SIGINT)
        #expect(try await render.end() == 1)
        #expect(render.errors.hasPrefix("voicegraph: interrupted; \(out): "))
        let frames = try #require(render.errors.firstMatch(of: /(\d+) frames/).flatMap { Int($0.1) })
        #expect(try SoundFile(out).samples[0].count == frames)
    }

    /// The formula of the plugin itself: what comes in times 10^(dB/20), sample by sample, whatever the block.
    @Test("A plugin's result does not depend on the block", arguments: ["1", "777"]) func pluginBlocks(block: String)
        async throws
    {
        let input = Signal.noise(frames: 5000, seed: 5)
        try SoundFile(rate: 48_000, samples: [input]).write(scratch.file("take.wav"))
        let amp = try scratch.write(
            "amp.conf",
            """
            [graph]
            links = ["mic -> amp -> out"]
            [node.mic]
            type = "input"
            [node.amp]
            type = "lv2"
            plugin = "http://lv2plug.in/plugins/eg-amp"
            params = { gain = -6 }
            [node.out]
            type = "output"
            channels = 1
            """)
        let out = scratch.file("out.wav")
        let render = try voicegraph(
            "render", amp, "-o", out, "--block", block, "--input", "mic=\(scratch.file("take.wav"))", "--duration",
            "0.1", "--channels", "1")
        #expect(try await render.end() == 0, "\(render.errors)")
        let gain = powf(10, -6 * 0.05)
        #expect(Signal.difference(try SoundFile(out).samples[0], input.prefix(4800).map { $0 * gain }) == 0)
    }

    @Test("What follows a control is the same at any block", arguments: ["1", "16", "100", "1000", "8192"])
    func controlBlocks(block: String) async throws {
        func samples(_ block: String) async throws -> [[Float]] {
            let out = scratch.file("\(block).wav")
            let render = try voicegraph(
                "render", packageRoot + "/config/wah.conf", "-o", out, "--block", block, "--duration", "0.5")
            #expect(try await render.end() == 0, "\(render.errors)")
            return try SoundFile(out).samples
        }
        let same = try await samples(block) == samples("64")
        #expect(same)
    }

    /// The metronome of lv2-examples clicks once a beat of the transport, which a render starts at its first frame.
    @Test("Plugins follow the tempo", arguments: [120, 240]) func tempo(_ tempo: Int) async throws {
        let graph = try scratch.write(
            "metronome.conf",
            """
            [graph]
            links = ["clicks -> out"]
            [node.clicks]
            type = "lv2"
            plugin = "http://lv2plug.in/plugins/eg-metro"
            [node.out]
            type = "output"
            channels = 1

            """)
        let out = scratch.file("clicks.wav")
        let run = try voicegraph("render", graph, "-o", out, "--duration", "2", "--tempo", "\(tempo)")
        #expect(try await run.end() == 0)
        var clicks: [Int] = []
        var last = -10_000
        for (frame, sample) in try SoundFile(out).samples[0].enumerated() where abs(sample) > 1e-4 {
            // A click rings for about 70 ms.
            if frame - last > 4000 { clicks.append(frame) }
            last = frame
        }
        #expect(clicks == (0..<tempo / 30).map { $0 * 48_000 * 60 / tempo + 1 })
    }
}
