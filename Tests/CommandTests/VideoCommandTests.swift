// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph video`, with the ffmpeg that is installed.
@Suite(.timeLimit(.minutes(5))) struct VideoCommandTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func call(_ arguments: [String], path: String? = nil) async throws -> (code: Int32, errors: String) {
        let program = try Program(
            [Program.voicegraph, "video"] + arguments, environment: path.map { ["PATH": $0] } ?? [:])
        return (try await program.end(seconds: 120), program.errors)
    }

    private func tone(_ name: String, seconds: Double) throws -> String {
        let frames = Int(48_000 * seconds)
        try SoundFile(rate: 48_000, samples: [Signal.sine(440, rate: 48_000, frames: frames, amplitude: 0.5)])
            .write(scratch.file(name))
        return scratch.file(name)
    }

    /// What ffprobe finds in a film: its streams in order, and how long it is.
    private func probe(_ name: String) async throws -> (streams: [String], seconds: Double) {
        let result = try await runTool([
            "ffprobe", "-loglevel", "error", "-show_entries", "stream=codec_name:format=duration", "-of", "csv=p=0",
            scratch.file(name),
        ])
        #expect(result.status == 0, "\(result.output)")
        let lines = result.output.split(separator: "\n").map(String.init)
        return (lines.filter { Double($0) == nil }, lines.compactMap(Double.init).last ?? 0)
    }

    /// The colour in the middle of a film at a time, 0...255.
    private func middle(_ name: String, at seconds: Double) async throws -> [UInt8] {
        let raw = scratch.file("frame.raw")
        let result = try await runTool([
            "ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-ss", "\(seconds)", "-i", scratch.file(name),
            "-frames:v",
            "1", "-f", "rawvideo", "-pix_fmt", "rgb24", raw,
        ])
        #expect(result.status == 0, "\(result.output)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: raw))
        return Array(bytes[(24 * 64 + 32) * 3..<(24 * 64 + 33) * 3])
    }

    private var left: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() }
    }

    private let small = ["--size", "64x48", "--fps", "10"]

    @Test(
        "A film is as long as its sound, with pictures, sound and captions",
        arguments: [("mp4", ["h264", "aac", "mov_text"]), ("webm", ["vp9", "opus", "webvtt"]), ("gif", ["gif"])])
    func films(suffix: String, streams: [String]) async throws {
        let file = try tone("tone.wav", seconds: 2)
        let captions = try scratch.write("said.srt", "1\n00:00:00,500 --> 00:00:01,500\nhello\n")
        let plain = try await call([file, "-o", scratch.file("plain.\(suffix)")] + small)
        #expect(plain.code == 0, "\(plain.errors)")
        #expect(try await probe("plain.\(suffix)").streams == Array(streams.prefix(2)))
        #expect(abs(try await probe("plain.\(suffix)").seconds - 2) < 0.15)
        let told = try await call([file, "-o", scratch.file("told.\(suffix)"), "--captions", captions] + small)
        #expect(told.code == 0, "\(told.errors)")
        #expect(try await probe("told.\(suffix)").streams == streams)
        #expect(try left == ["plain.\(suffix)", "said.srt", "told.\(suffix)", "tone.wav"])
    }

    @Test(
        "A file is a file, whatever address its name could be for the encoder",
        arguments: ["concat:b.wav", "file:b.wav"])
    func addresses(name: String) async throws {
        let frames = 48_000
        let files: [(String, Double)] = [(name, 300), ("b.wav", 3000)]
        for (name, frequency) in files {
            let samples = Signal.sine(frequency, rate: 48_000, frames: frames, amplitude: 0.5)
            try SoundFile(rate: 48_000, samples: [samples]).write(scratch.file(name))
        }
        let made = try await runTool([
            "bash", "-c",
            "cd '\(scratch.path)' && \"$0\" video '\(name)' -o v.mp4 --size 64x48 --fps 10 "
                + "&& ffmpeg -loglevel error -nostdin -y -i v.mp4 -vn -c:a pcm_s16le sound.wav", Program.voicegraph,
        ])
        #expect(made.status == 0, "\(made.output)")
        let samples = Array(try SoundFile(scratch.file("sound.wav")).samples[0][8000..<40_000])
        let crossings = zip(samples, samples.dropFirst()).count { ($0 < 0) != ($1 < 0) }
        let frequency: Double = Double(crossings) * 0.75
        #expect(abs(frequency - 300) < 10, "\(crossings)")
    }

    @Test("Pictures of measurements have their numbers above them, unless they are not wanted") func numbers()
        async throws
    {
        let file = try tone("tone.wav", seconds: 1)
        /// The brightest of the first 24 rows below the margin at the end.
        func top(_ arguments: [String]) async throws -> UInt8 {
            let made = try await call(
                [file, "-o", scratch.file("film.mp4"), "--style", "loudness", "--size", "640x360", "--fps", "10"]
                    + arguments)
            #expect(made.code == 0, "\(made.errors)")
            let raw = scratch.file("top.raw")
            let result = try await runTool([
                "ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-ss", "0.8", "-i", scratch.file("film.mp4"),
                "-frames:v", "1", "-vf", "crop=640:24:0:29", "-f", "rawvideo", "-pix_fmt", "gray", raw,
            ])
            #expect(result.status == 0, "\(result.output)")
            return try #require(try Data(contentsOf: URL(fileURLWithPath: raw)).max())
        }
        #expect(try await top([]) > 150)
        #expect(try await top(["--no-numbers"]) < 40)
    }

    /// A picture of a film at a time, as shades of gray.
    private func gray(_ name: String, at seconds: Double, width: Int) async throws -> [[UInt8]] {
        let raw = scratch.file("frame.raw")
        let result = try await runTool([
            "ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-ss", "\(seconds)", "-i", scratch.file(name),
            "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", raw,
        ])
        #expect(result.status == 0, "\(result.output)")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
        return stride(from: 0, to: bytes.count, by: width).map { Array(bytes[$0..<$0 + width]) }
    }

    @Test(
        "Nothing touches the edge of a film, and captions have their place below the picture, dark on light ground",
        arguments: ["bars", "meter", "wave", "spectrogram"], [false, true])
    func margins(style: String, isLight: Bool) async throws {
        let file = scratch.file("noise.wav")
        try SoundFile(rate: 48_000, samples: [Signal.noise(frames: 96_000, seed: 3, amplitude: 0.9)]).write(file)
        let said = "A caption of far more than forty-two letters is shown in two lines that fit below the picture."
        let captions = try scratch.write("said.srt", "1\n00:00:01,000 --> 00:00:02,000\n<b>\(said)</b>\n")
        let made = try await call(
            [file, "-o", scratch.file("film.mp4"), "--style", style, "--size", "640x360", "--fps", "10"]
                + ["--captions", captions] + (isLight ? ["--light"] : []))
        #expect(made.code == 0, "\(made.errors)")
        let (before, after) = (
            try await gray("film.mp4", at: 0.7, width: 640), try await gray("film.mp4", at: 1.5, width: 640)
        )
        let ground = Int(before[2][2])
        func isDrawn(_ value: UInt8) -> Bool { abs(Int(value) - ground) > 40 }
        // 8 % of 360, but for letters of a scale, which may stand out at its end.
        let rows = after.indices.filter { after[$0].contains(where: isDrawn) }
        #expect(try #require(rows.first) >= 27 && rows.last! <= 360 - 27)
        #expect(before.allSatisfy { !$0[..<12].contains(where: isDrawn) && !$0[628...].contains(where: isDrawn) })
        // 20 rows a line: the picture ends above them.
        let zone = 360 - 29 - 45
        #expect(before[zone...].allSatisfy { !$0.contains(where: isDrawn) })
        let text = after[zone...].filter { $0.contains(where: isDrawn) }
        #expect(text.count > 20)
        // Letters are at their ground's opposite, with nothing around them that is neither.
        let extreme = text.joined().map { isLight ? $0 : 255 - $0 }.min() ?? 255
        #expect(extreme < 90)
    }

    @Test("What is drawn is what sounds: the orb is there, on the ground that was asked for") func looks() async throws
    {
        let file = try tone("tone.wav", seconds: 1)
        for (arguments, name) in [(["--light"], "light.mp4"), (["--style", "bars", "--preset", "flare"], "bars.mp4")] {
            let made = try await call([file, "-o", scratch.file(name)] + small + arguments)
            #expect(made.code == 0, "\(made.errors)")
        }
        let orb = try await middle("light.mp4", at: 0.8)
        #expect(orb[2] > 150 && Int(orb[2]) > Int(orb[0]) + 40, "the middle of the orb is blue: \(orb)")
    }

    @Test("What is measured moves with every picture", arguments: ["bars", "spectrum"])
    func movement(style: String) async throws {
        let noise = Signal.noise(frames: 72_000, seed: 9, amplitude: 0.5)
        try SoundFile(rate: 48_000, samples: [noise]).write(scratch.file("noise.wav"))
        let film = scratch.file("film.mp4")
        let result = try await call([
            scratch.file("noise.wav"), "-o", film, "--style", style, "--size", "160x160", "--fps", "60",
        ])
        #expect(result.code == 0, "\(result.errors)")
        let raw = scratch.file("film.raw")
        let tool = try await runTool([
            "ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-i", film, "-f", "rawvideo", "-pix_fmt", "gray", raw,
        ])
        #expect(tool.status == 0, "\(tool.output)")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
        let count = bytes.count / 25_600
        let moves = (30..<count).count { (frame: Int) -> Bool in
            var sum = 0
            for place in frame * 25_600..<(frame + 1) * 25_600 {
                sum += abs(Int(bytes[place]) - Int(bytes[place - 25_600]))
            }
            return sum > 6400
        }
        let judged = count - 30
        #expect(judged >= 59 && moves > judged * 3 / 4, "\(moves) of \(judged)")
    }

    /// Whether the film has been begun by ffmpeg itself, not only by who starts it.
    private func picturesAreMade() throws -> Bool {
        try left.contains { try $0.hasPrefix("cut.mp4.part-") && fileSize(scratch.file($0)) > 0 }
    }

    @Test("Ctrl-C ends a film that plays until there") func interrupted() async throws {
        let file = try tone("long.wav", seconds: 120)
        let program = try Program(
            [Program.voicegraph, "video", file, "-o", scratch.file("cut.mp4"), "--size", "640x480", "--fps", "60"])
        try await eventually("pictures are made", seconds: 60) {
            try picturesAreMade()
        }
        program.signal(SIGINT)
        #expect(try await program.end(seconds: 60) == 1)
        #expect(program.errors.contains("interrupted; what is there plays: "), "\(program.errors)")
        let seconds = try await probe("cut.mp4").seconds
        #expect(seconds > 0 && seconds < 119)
        let files = try left
        #expect(files == ["cut.mp4", "long.wav"])
    }

    @Test("What a killed film has left is gone with the next") func killed() async throws {
        let file = try tone("long.wav", seconds: 120)
        let program = try Program(
            [Program.voicegraph, "video", file, "-o", scratch.file("cut.mp4"), "--size", "640x480", "--fps", "60"])
        try await eventually("pictures are made", seconds: 60) {
            try picturesAreMade()
        }
        program.signal(SIGKILL)
        try await program.end()
        let short = try tone("short.wav", seconds: 0.5)
        let made = try await call([short, "-o", scratch.file("cut.mp4")] + small)
        #expect(made.code == 0, "\(made.errors)")
        let files = try left
        #expect(files == ["cut.mp4", "long.wav", "short.wav"])
    }

    @Test("A film of a graph is one of what it plays, in any style and in colours of one's own") func graph()
        async throws
    {
        let graph = try scratch.write(
            "tone.conf",
            """
            [graph]
            name = "film"
            links = ["tone -> out"]
            [node.tone]
            type = "tone"
            frequency = 300.0
            level_db = -12.0
            [node.out]
            type = "output"
            channels = 1
            """)
        let before = try left
        for style in ["spectrum", "spectrogram", "scope", "goniometer", "meter", "loudness"] {
            let result = try await call(
                [graph, "-o", scratch.file("\(style).mp4"), "--style", style, "--duration", "1.5"] + small
                    + ["--preset", "FF0000-FF0000"])
            #expect(result.code == 0, "\(result.errors)")
            #expect(abs(try await probe("\(style).mp4").seconds - 1.5) < 0.2)
        }
        #expect(try left.count == before.count + 6)
        // One colour that is all red: at -15 dBFS RMS the middle of a meter is lit.
        let color = try await middle("meter.mp4", at: 1)
        #expect(color[0] > 200 && color[1] < 60 && color[2] < 60, "\(color)")
        let wrong = try await call([
            graph, "-o", scratch.file("x.mp4"), "--duration", "1", "--set", "node.tone.level_db=x",
        ])
        #expect(wrong.code == 1 && wrong.errors.contains("level_db"), "\(wrong)")
    }

    @Test("What cannot be made is said, and nothing is left") func refused() async throws {
        let file = try tone("tone.wav", seconds: 1)
        let noise = try scratch.write("noise.wav", "this is no sound")
        let film = scratch.file("x.mp4")
        let broken = scratch.path + "/tools"
        mkdir(broken, 0o700)
        try "#!/bin/sh\necho it has no codec >&2\nexit 3\n".write(
            toFile: broken + "/ffmpeg", atomically: true, encoding: .utf8)
        chmod(broken + "/ffmpeg", 0o700)
        let before = try left
        for (arguments, path, code, message) in [
            ([file, "-o", film], "/nowhere", 1, "ffmpeg is not installed (apt install ffmpeg)"),
            ([file, "-o", film], broken + ":/usr/bin:/bin", 1, "ffmpeg could not make \(film): it has no codec"),
            (["nowhere.wav", "-o", film], nil, 1, "nowhere.wav: No such file or directory"),
            ([noise, "-o", film], nil, 1, "noise.wav"),
            ([file, "-o", scratch.file("x.avi")], nil, 64, "must end in .mp4, .webm or .gif"),
            ([file, "-o", film, "--size", "63x48"], nil, 64, "--size must be even"),
            ([file, "-o", film, "--size", "20000x20000"], nil, 64, "20000x20000"),
            ([file, "-o", film, "--style", "cube"], nil, 64, "  - goniometer"),
            ([file, "-o", film, "--preset", "D3FFA6-036B5"], nil, 64, "D3FFA6-036B5"),
            ([file, "-o", film, "--duration", "3"], nil, 64, "tone.wav must end in .conf or .toml for that"),
            ([file, "-o", film, "--fps", "0"], nil, 64, "--fps must be from 1 to 60"),
            ([file, "-o", film, "--captions", noise], nil, 64, "must end in .srt or .vtt"),
            ([file, "-o", film, "--captions", scratch.file("no.srt")], nil, 1, "no.srt: No such file or directory"),
            ([file, "-o", scratch.path + "/no/x.mp4"], nil, 1, "x.mp4 cannot be written: No such file"),
        ] as [([String], String?, Int32, String)] {
            let result = try await call(arguments, path: path)
            #expect(result.code == code && result.errors.contains(message), "\(arguments): \(result)")
        }
        #expect(try left == before)
    }
}
