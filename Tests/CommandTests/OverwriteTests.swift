// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Nothing that a graph is made of is written over, whatever it is called.
@Suite(.timeLimit(.minutes(5))) struct OverwriteTests {
    private let scratch: Scratch
    private let sound = Signal.noise(frames: 4800, seed: 3)

    init() throws {
        scratch = try Scratch()
        try SoundFile(rate: 48_000, samples: [sound]).write(scratch.file("a.wav"))
        try FileManager.default.createSymbolicLink(atPath: scratch.file("soft.wav"), withDestinationPath: "a.wav")
        try FileManager.default.linkItem(atPath: scratch.file("a.wav"), toPath: scratch.file("hard.wav"))
        try scratch.write("mic.conf", graph("type = \"input\"\nchannels = 1"))
        try scratch.write("file.conf", graph("type = \"file\"\npath = \"a.wav\""))
    }

    private func graph(_ source: String, _ more: String = "", links: String = "\"a -> out\"") -> String {
        "[graph]\nlinks = [\(links)]\n[node.a]\n\(source)\n[node.out]\ntype = \"output\"\nchannels = 1\n\(more)"
    }

    /// Runs the program in the folder of the files.
    private func run(_ arguments: String...) async throws -> (code: Int32, errors: String) {
        let program = try Program([Program.voicegraph] + arguments, folder: scratch.path)
        return (try await program.end(), program.output + program.errors)
    }

    private func expectWhole() throws { #expect(try SoundFile(scratch.file("a.wav")).samples == [sound]) }

    @Test(
        "A render is not written over its own source",
        arguments: ["a.wav", "./a.wav", "soft.wav", "hard.wav"], ["file.conf", "mic.conf"])
    func renders(out: String, graph: String) async throws {
        let inputs = graph == "mic.conf" ? ["--input", "a=a.wav"] : []
        let program = try Program([Program.voicegraph, "render", graph, "-o", out] + inputs, folder: scratch.path)
        #expect(try await program.end() == 1)
        #expect(program.errors.contains("the render would write over '") && program.errors.contains("'a' reads"))
        try expectWhole()
        let other = try Program([Program.voicegraph, "render", graph, "-o", "b.wav"] + inputs, folder: scratch.path)
        #expect(try await other.end() == 0, "\(other.errors)")
    }

    @Test("A recording is not written over what another node reads, live or rendered, and check says so")
    func recordings() async throws {
        func recording(_ more: String) -> String {
            graph(
                "type = \"file\"\npath = \"a.wav\"", "[node.take]\ntype = \"record\"\npath = \"./soft.wav\"\n\(more)",
                links: "\"a -> out\", \"a -> take\"")
        }
        try scratch.write("over.conf", recording("overwrite = true\n"))
        for arguments in [
            ["run", "over.conf", "--driver", "dummy"], ["check", "over.conf"], ["render", "over.conf", "-o", "b.wav"],
        ] {
            let program = try Program([Program.voicegraph] + arguments, folder: scratch.path)
            #expect(try await program.end() == 1)
            let told = program.output + program.errors
            let fault = "error: node 'take' would write over './soft.wav', which node 'a' reads\n"
            #expect(told.hasPrefix("over.conf:11:8: " + fault), "\(told)")
        }
        try expectWhole()
        // Without `overwrite` the recording gets a name of its own.
        try scratch.write("beside.conf", recording(""))
        #expect(try await run("render", "beside.conf", "-o", "b.wav").code == 0)
        #expect(FileManager.default.fileExists(atPath: scratch.file("soft-2.wav")))
        try expectWhole()
    }

    @Test("Neither a render nor a picture is written over the graph file, or one that it includes")
    func graphFiles() async throws {
        let text = graph("type = \"tone\"")
        try scratch.write("graph.wav", text)
        let render = try await run("render", "graph.wav", "-o", "./graph.wav", "--duration", "1")
        #expect(render.code == 1 && render.errors.contains("graph.wav', which describes this graph"))
        try scratch.write("main.conf", "include = \"graph.wav\"\n")
        let included = try await run("render", "main.conf", "-o", "graph.wav", "--duration", "1")
        #expect(included.code == 1 && included.errors.contains("graph.wav', which describes this graph"))
        for main in ["graph.wav", "main.conf"] {
            let picture = try await run("graph", main, "-o", "./graph.wav")
            #expect(picture.code == 1 && picture.errors.contains("./graph.wav, which describes the graph"))
        }
        #expect(try String(contentsOfFile: scratch.file("graph.wav"), encoding: .utf8) == text)
        #expect(try await run("graph", "main.conf", "-o", "picture.svg").code == 0)
    }
}
