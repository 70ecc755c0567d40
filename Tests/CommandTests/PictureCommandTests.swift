// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph picture`, on files as people have them.
@Suite struct PictureCommandTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func call(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
        let program = try Program([Program.voicegraph, "picture"] + arguments)
        return (try await program.end(seconds: 60), program.output, program.errors)
    }

    private func tone(_ name: String, rate: Int = 48_000, channels: Int = 2, seconds: Double = 4, offset: Float = 0)
        throws -> String
    {
        let samples = (0..<Int(Double(rate) * seconds)).map { frame in
            0.1 * sinf(2 * .pi * 997 * Float(frame) / Float(rate)) + offset
        }
        let path = scratch.file(name)
        try SoundFile(rate: rate, samples: Array(repeating: samples, count: channels)).write(path)
        return path
    }

    /// Nothing but what was there before.
    private var left: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() }
    }

    @Test("The report says how loud a sound is, and what is wrong with it") func report() async throws {
        // A sine of 997 Hz at -20 dBFS in two channels has -20 LUFS (ITU-R BS.1770).
        let file = try tone("tone.wav")
        let text = try await call(file)
        #expect(text.code == 0 && text.errors == "")
        for line in [
            "length     4.00 s, 2 channels\n", "loudness   -20.0 LUFS\n", "range      0.",
            "true peak  -20.0 dBTP\n", "clipped    0 samples\n", "DC         none\n", "silence    0.00 s",
        ] { #expect(text.output.contains(line), "no \(line) in \(text.output)") }
        let json = try await call(try tone("faulty.wav", rate: 44_100, channels: 1, offset: 0.02), "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        func number(_ key: String) -> Double { object[key] as? Double ?? .nan }
        #expect(abs(number("loudness_lufs") + 23) < 0.1 && abs(number("dc") - 0.02) < 1e-4)
        #expect(abs(number("seconds") - 4) < 0.001 && object["channels"] as? Int == 1)
    }

    @Test("Of a short sound a picture and a render find the same loudness", arguments: [0.43, 1.2345, 2.0, 4.8])
    func sameLoudness(seconds: Double) async throws {
        // It falls to its end, so that what came behind that would count.
        let samples = (0..<Int(seconds * 48_000)).map { frame in
            (0.05 + 0.4 * Float(frame) / Float(seconds * 48_000)) * sinf(2 * .pi * 700 * Float(frame) / 48_000)
        }
        let file = scratch.file("short.wav")
        try SoundFile(rate: 48_000, samples: [samples]).write(file)
        let graph = try scratch.write(
            "short.conf",
            """
            [graph]
            links = ["f -> o"]
            [node.f]
            type = "file"
            path = "short.wav"
            [node.o]
            type = "output"
            channels = 1
            """)
        let report = try await call(file)
        let render = try voicegraph("render", graph, "-o", scratch.file("again.opus"))
        #expect(try await render.end() == 0, "\(render.errors)")
        let found = try #require(render.errors.firstMatch(of: /-\d+\.\d LUFS/)).output
        #expect(report.output.contains("loudness   \(found)"), "\(found), \(report.output)")
    }

    @Test("A picture is written whole, as PNG and SVG, in every style and size") func pictures() async throws {
        let file = try tone("tone.wav", seconds: 1)
        for style in ["waveform", "spectrogram", "spectrum", "loudness"] {
            for name in ["\(style).png", "\(style).svg"] {
                let result = try await call(file, "-o", scratch.file(name), "--style", style, "--size", "640x240")
                #expect(result.code == 0, "\(result.errors)")
                let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))
                if name.hasSuffix("svg") {
                    let svg = String(decoding: bytes, as: UTF8.self)
                    #expect(svg.hasPrefix("<svg") && svg.contains(">tone.wav</text>") && svg.contains("-20.0 LUFS"))
                } else {
                    #expect(bytes.prefix(8).elementsEqual([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
                    #expect(bytes[16..<24].elementsEqual([0, 0, 2, 128, 0, 0, 0, 240]))
                }
            }
        }
        #expect(try await call(file, "-o", scratch.file("dot.png"), "--size", "1x1").code == 0)
    }

    @Test("Each channel has a lane, in which what is quiet is seen") func lanes() async throws {
        let loud = Signal.sine(440, rate: 48_000, frames: 48_000, amplitude: 0.5)
        let file = scratch.file("both.wav")
        try SoundFile(rate: 48_000, samples: [loud, loud.map { $0 * 0.004 }]).write(file)
        func areas(_ arguments: [String]) async throws -> [[Double]] {
            let program = try Program(
                [Program.voicegraph, "picture", file, "-o", scratch.file("lanes.svg"), "--size", "640x480"] + arguments)
            #expect(try await program.end(seconds: 60) == 0, "\(program.errors)")
            let svg = try String(contentsOfFile: scratch.file("lanes.svg"), encoding: .utf8)
            return svg.matches(of: /class="level audio".*? d="M\S+ \S+?([^"]*)Z"/).map { found in
                found.1.matches(of: /V([0-9.]+)/).compactMap { Double($0.1) }
            }
        }
        func height(_ area: [Double]) -> Double { (area.max() ?? 0) - (area.min() ?? 0) }
        let together = try await areas([])
        #expect(together.count == 2 && abs(height(together[0]) - 188) < 3)
        // A lane is 188 pixels high, 182 without the gap: -6 dBFS and -54 dBFS of 80 dB.
        let apart = try await areas(["--channels", "--scale", "db"])
        #expect(apart.count == 4)
        #expect(abs(height(apart[0]) - 182 * 74 / 80) < 3 && abs(height(apart[2]) - 182 * 26 / 80) < 3)
        #expect((apart[0].max() ?? 0) < (apart[2].min() ?? 0))
    }

    @Test("Sounds of all kinds are drawn: no frames, one frame, 64 channels, 8 kHz, silence") func oddSounds()
        async throws
    {
        var sounds = [try tone("many.wav", channels: 64, seconds: 0.2), try tone("low.wav", rate: 8000, seconds: 0.5)]
        for (name, samples) in [
            ("none.wav", []), ("silent.wav", [Float](repeating: 0, count: 9600)), ("short.wav", [0.5]),
        ] {
            try SoundFile(rate: 48_000, samples: [samples]).write(scratch.file(name))
            sounds.append(scratch.file(name))
        }
        for sound in sounds {
            for style in ["waveform", "spectrogram", "spectrum", "loudness"] {
                let picture = try await call(sound, "-o", scratch.file("picture.png"), "--style", style, "--json")
                #expect(picture.code == 0, "\(sound) \(style): \(picture.errors)")
                let report = try? JSONSerialization.jsonObject(with: Data(picture.output.utf8)) as? [String: Any]
                #expect(report?["seconds"] is NSNumber, "\(sound): \(picture.output)")
            }
        }
    }

    @Test("What a graph plays is drawn, fed from a file if it has an input, and nothing else is left") func graph()
        async throws
    {
        let graph = try scratch.write(
            "half.conf",
            """
            [graph]
            name = "half"
            links = ["mic -> gain -> out"]
            [node.mic]
            type = "input"
            channels = 2
            [node.gain]
            type = "gain"
            channels = 2
            gain_db = -6.0
            [node.out]
            type = "output"
            channels = 2
            """)
        let file = try tone("tone.wav")
        let before = try left
        let result = try await call(
            graph, "--input", "mic=" + file, "--set", "node.gain.gain_db=-10.0", "-o", scratch.file("graph.svg"))
        #expect(result.code == 0 && result.output.contains("loudness   -30.0 LUFS\n"), "\(result)")
        let svg = try String(contentsOfFile: scratch.file("graph.svg"), encoding: .utf8)
        #expect(svg.contains(">half.conf</text>"))
        #expect(try left == (before + ["graph.svg"]).sorted())
        let short = try await call(graph, "--input", "mic=" + file, "--duration", "0.5", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(short.output.utf8)) as? [String: Any])
        #expect(object["file"] as? String == graph && object["seconds"] as? Double == 0.5)
        // What a guard silences is missing in the picture, which is made all the same.
        let loud = try scratch.write(
            "nan.conf",
            """
            [graph]
            name = "nan"
            links = ["take -> out"]
            [node.take]
            type = "file"
            path = "nan.wav"
            [node.out]
            type = "output"
            channels = 1
            """)
        try SoundFile(rate: 48_000, samples: [[Float](repeating: .nan, count: 9600)]).write(scratch.file("nan.wav"))
        let lost = try await call(loud, "-o", scratch.file("lost.svg"))
        #expect(lost.code == 1 && lost.errors.contains("audio was lost, as said above"), "\(lost)")
        #expect(try left.contains("lost.svg"))
        let unknown = try await call(graph, "--input", "line=" + file)
        #expect(unknown.code == 1 && unknown.errors.contains("there is no input node 'line'"))
    }

    @Test("What cannot be drawn is said, and nothing is left under the picture's name") func refused() async throws {
        let file = try tone("tone.wav", seconds: 0.2)
        let noise = try scratch.write("noise.wav", "this is no sound")
        let full = scratch.file("full.png")
        #expect(symlink("/dev/full", full) == 0)
        let nan = scratch.file("nan.wav")
        try SoundFile(rate: 48_000, samples: [[Float](repeating: .nan, count: 9600)]).write(nan)
        let before = try left
        for (arguments, code, message) in [
            (["nowhere.wav"], 1, "nowhere.wav: No such file or directory"), ([noise], 1, "noise.wav"),
            ([nan, "-o", scratch.file("x.png")], 1, "nan.wav: silenced: its output is not a number"),
            ([file, "--input", "mic=x"], 64, "tone.wav must end in .conf or .toml for that"),
            (["nowhere.conf"], 1, "nowhere.conf: No such file or directory"),
            ([file, "-o", scratch.file("x.gif")], 64, "x.gif must end in .png or .svg"),
            ([file, "-o", scratch.file("x.png"), "--style", "opera"], 64, "'waveform', 'spectrogram', 'spectrum'"),
            ([file, "--style", "loudness", "--channels"], 64, "--channels is for --style waveform"),
            ([file, "--style", "spectrum", "--scale", "db"], 64, "--scale is for --style waveform"),
            ([file, "-o", scratch.file("x.png"), "--size", "20001x9"], 64, "20001x9"),
            ([file, "-o", scratch.file("x.png"), "--size", "0x9"], 64, "0x9"),
            ([file, "-o", scratch.path + "/no/x.png"], 1, "cannot be written: No such file or directory"),
            ([file, "-o", full], 1, "cannot be written: No space left on device"),
        ] as [([String], Int32, String)] {
            let program = try Program([Program.voicegraph, "picture"] + arguments)
            let got = try await program.end(seconds: 60)
            #expect(got == code && program.errors.contains(message), "\(arguments): \(got) \(program.errors)")
        }
        #expect(try left == before)
    }
}
