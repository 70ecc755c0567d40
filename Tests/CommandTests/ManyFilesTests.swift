// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `render` and `picture` with several files in one call.
@Suite(.timeLimit(.minutes(5))) struct ManyFilesTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write(
            "louder.conf",
            """
            [graph]
            links = ["in -> gain -> out"]
            [node.in]
            type = "input"
            channels = 1
            [node.gain]
            type = "gain"
            gain_db = 6.0206
            [node.out]
            type = "output"
            channels = 1
            """)
    }

    private func call(_ arguments: [String]) async throws -> (code: Int32, output: String, errors: String) {
        let program = try Program([Program.voicegraph] + arguments, folder: scratch.path)
        return (try await program.end(seconds: 120), program.output, program.errors)
    }

    /// Tones of that peak, and of different lengths.
    private func tones(_ names: [String], peak: Float = 0.1) throws -> [String] {
        for (index, name) in names.enumerated() {
            let samples = (0..<12_000 * (index + 1)).map { peak * sinf(2 * .pi * 500 * Float($0) / 48_000) }
            try SoundFile(rate: 48_000, samples: [samples]).write(scratch.file(name))
        }
        return names
    }

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.file(folder)).sorted()
    }

    @Test("Each sound is rendered into a file of its own, and told in the order of the call", arguments: [1, 3])
    func renders(jobs: Int) async throws {
        // The first is the longest, so that others are done before it.
        let names = try tones(["c.wav", "b.wav", "a.wav", "d e.wav"].reversed()).reversed()
        let result = try await call(["render", graph] + names + ["-o", "louder/", "-j\(jobs)"])
        #expect(result.code == 0 && result.output == "", "\(result.errors)")
        #expect(try files("louder") == ["a.wav", "b.wav", "c.wav", "d e.wav"])
        for name in names {
            let (before, after) = (try SoundFile(scratch.file(name)), try SoundFile(scratch.file("louder/\(name)")))
            #expect(after.samples[0].count == before.samples[0].count)
            #expect(abs(Signal.peak(after.samples[0]) - 0.2) < 0.001)
        }
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 5 && zip(lines, names).allSatisfy { $0.hasPrefix("louder/\($1): ") }, "\(result.errors)")
        #expect(lines[4].hasPrefix("4 of 4 files, 2.5 s at "))
    }

    @Test("Where {name} stands a file has the name of its sound, and nothing else is filled in") func names()
        async throws
    {
        let names = try tones(["50%Y {date}.wav", "b.x.wav"])
        let result = try await call(["render", graph] + names + ["-o", "%H {name}.flac"])
        #expect(result.code == 0, "\(result.errors)")
        let made = try files(".").filter { $0.hasSuffix(".flac") }
        #expect(made == ["%H 50%Y {date}.flac", "%H b.x.flac"])
    }

    @Test("One that fails is told, and the others are made") func oneFails() async throws {
        let names = try tones(["a.wav", "c.wav"])
        _ = try scratch.write("bad.wav", "no sound")
        let all = [names[0], "bad.wav", "missing.wav", names[1]]
        let render = try await call(["render", graph] + all + ["-o", "out/"])
        #expect(render.code == 1)
        #expect(try files("out") == names)
        #expect(render.errors.contains("voicegraph: bad.wav: node 'in': cannot read "))
        #expect(render.errors.contains("voicegraph: missing.wav: No such file or directory\n"))
        #expect(render.errors.contains("\n2 of 4 files, 0.75 s at "), "\(render.errors)")
        let picture = try await call(["picture"] + all + ["-o", "out/", "--json"])
        #expect(picture.code == 1)
        #expect(try files("out") == ["a.png", "a.wav", "c.png", "c.wav"])
        let told = try picture.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["file"] as? String
        }
        #expect(told == names && picture.errors.split(separator: "\n").count == 2, "\(picture.errors)")
    }

    @Test(
        "What would be lost is refused before anything is made",
        arguments: [
            (["a.wav", "b.wav"], "one.wav", "one.wav is one file, and 2 are to be written"),
            (["a.wav", "b.wav"], "./", "./a.wav would be written over, which is to be read"),
            (["a.wav", "sub/a.wav"], "made/", "a.wav and sub/a.wav would both become made/a.wav"),
            (["a.wav", "louder.conf"], "out/", "louder.conf is a graph, and there is one already"),
            (["a.wav"], "out", "out must be a folder, which is made where it ends in /"),
            (["a.wav", "b.wav"], "-", "sounds that are named are not for standard output"),
        ])
    func refused(_ sounds: [String], out: String, reason: String) async throws {
        _ = try tones(["a.wav", "b.wav"])
        try FileManager.default.createDirectory(atPath: scratch.file("sub"), withIntermediateDirectories: true)
        let before = try files(".")
        if sounds.contains("sub/a.wav") {
            try FileManager.default.copyItem(atPath: scratch.file("b.wav"), toPath: scratch.file("sub/a.wav"))
        }
        let result = try await call(["render", graph] + sounds + ["-o", out])
        let code: Int32 = reason.contains("written") || reason.contains("become") ? 1 : 64
        #expect(result.code == code && result.errors.contains(reason), "\(result)")
        #expect(try files(".") == before)
    }

    @Test("Which input plays the sounds is said, or there is only one") func inputs() async throws {
        _ = try tones(["a.wav"])
        let two = try scratch.write(
            "two.conf",
            """
            [graph]
            links = ["mic -> out", "line -> out"]
            [node.mic]
            type = "input"
            [node.line]
            type = "input"
            [node.out]
            type = "output"
            """)
        let unsaid = try await call(["render", two, "a.wav", "-o", "o.wav"])
        #expect(unsaid.code == 1)
        #expect(
            unsaid.errors == "voicegraph: the graph has several input nodes: mic, line "
                + "(say which one plays the files, as --input mic)\n")
        let wrong = try await call(["render", two, "a.wav", "-o", "o.wav", "--input", "mike"])
        #expect(wrong.code == 1 && wrong.errors.contains("there are mic, line"), "\(wrong.errors)")
        let said = try await call(["render", two, "a.wav", "-o", "o.wav", "--input", "line"])
        #expect(said.code == 0, "\(said.errors)")
        let rest = try await call(["render", two, "a.wav", "-o", "p.wav", "--input", "mic=a.wav"])
        #expect(rest.code == 0, "\(rest.errors)")
        let peaks = try ["o.wav", "p.wav"].map { Signal.peak(try SoundFile(scratch.file($0)).samples[0]) }
        #expect(abs(peaks[0] - 0.1) < 0.001 && abs(peaks[1] - 0.2) < 0.001)
    }

    @Test("A picture of each, and a line of a table") func pictures() async throws {
        let names = try tones(["b.wav", "a.wav"], peak: 0.5)
        let result = try await call(["picture"] + names + ["-o", "{name}-seen.svg", "--style", "loudness"])
        #expect(result.code == 0 && result.errors == "", "\(result.errors)")
        #expect(try files(".").filter { $0.hasSuffix(".svg") } == ["a-seen.svg", "b-seen.svg"])
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasSuffix("file") && lines[1].hasSuffix("b.wav"), "\(result.output)")
        #expect(lines[2].contains("-6.0") && lines[2].hasSuffix("a.wav"), "\(result.output)")
    }

    @Test("Warnings of the graph are told once; Ctrl-C leaves no half of a batch unsaid") func warningsAndEnd()
        async throws
    {
        _ = try tones(["a.wav", "b.wav"])
        let odd = try scratch.write(
            "odd.conf", try String(contentsOfFile: graph, encoding: .utf8) + "\n[node.lost]\ntype = \"meter\"\n")
        let result = try await call(["render", odd, "a.wav", "b.wav", "-o", "out/"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.errors.components(separatedBy: "'lost'").count == 2, "\(result.errors)")
        let long = (0..<40).map { "t\($0).wav" }
        let samples = [Float](repeating: 0.1, count: 48_000 * 60)
        for name in long { try SoundFile(rate: 48_000, samples: [samples]).write(scratch.file(name)) }
        let program = try Program(
            [Program.voicegraph, "render", graph] + long + ["-o", "long/"], folder: scratch.path)
        try await program.wait("the first is rendered") { $0.errors.contains("long/t0.wav: ") }
        program.signal(SIGINT)
        #expect(try await program.end(seconds: 60) == 1)
        #expect(program.errors.contains("voicegraph: interrupted; long/t"), "\(program.errors)")
        #expect(program.errors.hasSuffix("voicegraph: interrupted\n"))
        #expect(try files("long").allSatisfy { !$0.contains(".part") } && (try files("long").count) < long.count)
    }
}
