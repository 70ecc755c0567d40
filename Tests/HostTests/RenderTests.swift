// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import Host

@Suite(.timeLimit(.minutes(5))) struct RenderTests {
    private let scratch: Scratch
    private let registry = NodeRegistry()
    init() throws { scratch = try Scratch() }

    /// Renders a graph and reads the file.
    private func rendered(_ text: String, _ render: Render, _ name: String = "out.wav") throws -> SoundFile {
        var render = render
        render.path = scratch.file(name)
        let ready = try prepared(text, in: scratch, registry: registry) { graph throws(Fault) in
            try render.change(&graph)
        }
        let outcome = try render.run(ready)
        let file = try SoundFile(render.path)
        #expect(file.samples[0].count == outcome.frames)
        return file
    }

    private let noise = """
        [graph]
        links = ["noise -> tremolo -> out"]
        [node.noise]
        type = "tone"
        wave = "noise"
        [node.tremolo]
        type = "tremolo"
        [node.out]
        type = "output"

        """

    @Test(
        "There are exactly as many frames as were asked for",
        arguments: [(44_100, 1), (48_000, 333), (11_025, 4096), (12_347, 7), (192_000, 1024), (8000, 65_536)])
    func exactLength(rate: Int, block: Int) throws {
        for frames in [1, 127, 128, 5001] {
            let file = try rendered(noise, Render(path: "", rate: Double(rate), block: block, end: .frames(frames)))
            #expect(file.rate == rate && file.samples.count == 2)
            #expect(file.samples.allSatisfy { $0.count == frames })
        }
    }

    @Test("A render is the same in every run", arguments: [1, 256, 1024]) func sameEachRun(block: Int) throws {
        let render = Render(path: "", block: block, end: .frames(20_000))
        let first = try rendered(noise, render)
        #expect(Signal.peak(first.samples[0]) > 0.05)
        for _ in 0..<3 { #expect(try rendered(noise, render).samples.differ(from: first.samples) == 0) }
    }

    @Test("A render until idle ends with the last sound, at any block", arguments: [1, 64, 1024, 8192])
    func untilIdle(_ block: Int) throws {
        try SoundFile(rate: 48_000, samples: [Signal.constant(0.5, frames: 30_000)]).write(scratch.file("take.wav"))
        let text = """
            [graph]
            links = ["take -> delay -> out"]
            [node.take]
            type = "file"
            path = "take.wav"
            [node.delay]
            type = "delay"
            ms = 1000
            [node.out]
            type = "output"
            channels = 1
            """
        let samples = try rendered(text, Render(path: "", block: block, end: .idle)).samples[0]
        // The echo is waited for.
        #expect(samples.count == 78_000)
        #expect(samples[48_000..<78_000].allSatisfy { $0 == 0.5 })
    }

    @Test(
        "A file is as long in a render as it is, silence at its end included, at any block",
        arguments: [1, 64, 1024, 8192])
    func sourceLength(_ block: Int) throws {
        let take = Signal.constant(0.5, frames: 30_000) + Signal.constant(0, frames: 18_000)
        try SoundFile(rate: 48_000, samples: [take]).write(scratch.file("take.wav"))
        let samples = try rendered(Self.plays("take.wav"), Render(path: "", block: block, end: .idle)).samples
        #expect(samples.differ(from: [take]) == 0)
    }

    private static func plays(_ file: String) -> String {
        """
        [graph]
        links = ["take -> out"]
        [node.take]
        type = "file"
        path = "\(file)"
        [node.out]
        type = "output"
        channels = 1

        """
    }

    @Test("Sound that comes long after its source is waited for as long as --tail says", arguments: [0.5, 2])
    func tail(_ seconds: Double) throws {
        try SoundFile(rate: 48_000, samples: [Signal.constant(0.5, frames: 100)]).write(scratch.file("take.wav"))
        // A late node that does not know that it has something left: its delay is all that it is.
        let text =
            Self.plays("take.wav").replacing("take -> out", with: "take -> late -> out")
            + "[node.late]\ntype = \"later\"\nframes = 48000\n"
        let registry = NodeRegistry(builtIn: NodeRegistry.ownTypes + [makeNodeType(Later.self)])
        var render = Render(path: scratch.file("out.wav"), tail: seconds)
        render.block = 256
        let ready = try prepared(text, in: scratch, registry: registry) { graph throws(Fault) in
            try render.change(&graph)
        }
        let outcome = try render.run(ready)
        #expect(outcome.frames == (seconds > 1 ? 48_100 : 100) && outcome.latency == 0)
    }

    @Test(
        "All blocks are whole where a node wants that, the last one too, and the file ends within it",
        arguments: [64, 8192])
    func wholeBlocks(_ block: Int) throws {
        let text =
            Self.plays("take.wav").replacing("take -> out", with: "take -> whole -> out")
            + "[node.whole]\ntype = \"whole-blocks\"\nframes = \(block)\n"
        let take = Signal.noise(frames: 10_001, seed: 4)
        try SoundFile(rate: 48_000, samples: [take]).write(scratch.file("take.wav"))
        let registry = NodeRegistry(builtIn: NodeRegistry.ownTypes + [makeNodeType(WholeBlocks.self)])
        var render = Render(path: scratch.file("out.wav"), block: block, end: .frames(10_001))
        render.wholeBlockTypes = ["whole-blocks"]
        let ready = try prepared(text, in: scratch, registry: registry) { graph throws(Fault) in
            try render.change(&graph)
        }
        #expect(try render.run(ready).frames == 10_001)
        #expect(try SoundFile(render.path).samples.differ(from: [take]) == 0)
    }

    @Test("The latency of the graph is taken off, and nothing of the end is lost", arguments: [64, 1024])
    func latency(_ block: Int) throws {
        let take = Signal.noise(frames: 5000, seed: 3)
        try SoundFile(rate: 48_000, samples: [take]).write(scratch.file("take.wav"))
        let text =
            Self.plays("take.wav").replacing("take -> out", with: "take -> late -> out")
            + "[node.late]\ntype = \"later\"\nframes = 240\ntold = true\n"
        let registry = NodeRegistry(builtIn: NodeRegistry.ownTypes + [makeNodeType(Later.self)])
        for end in [Render.End.idle, .frames(5000)] {
            let render = Render(path: scratch.file("out.wav"), block: block, end: end)
            let ready = try prepared(text, in: scratch, registry: registry) { graph throws(Fault) in
                try render.change(&graph)
            }
            #expect(try render.run(ready).latency == 240)
            #expect(try SoundFile(render.path).samples.differ(from: [take]) == 0)
        }
    }

    @Test("Sound that never ends is cut, and that is told") func cut() throws {
        try SoundFile(rate: 8000, samples: [Signal.constant(0.5, frames: 100)]).write(scratch.file("take.wav"))
        let text =
            Self.plays("take.wav").replacing("take -> out", with: "take -> tone -> out")
            + "[node.tone]\ntype = \"later\"\nforever = true\n"
        let registry = NodeRegistry(builtIn: NodeRegistry.ownTypes + [makeNodeType(Later.self)])
        let render = Render(path: scratch.file("out.wav"), rate: 8000, block: 4096)
        let ready = try prepared(text, in: scratch, registry: registry) { graph throws(Fault) in
            try render.change(&graph)
        }
        let outcome = try render.run(ready)
        #expect(abs(try #require(outcome.cutAt) + 20) < 0.1)
        #expect(outcome.frames >= 300 * 8000 && outcome.frames < 301 * 8000)
    }

    @Test("Files keep the channels that the graph is made for", arguments: [1, 2, 3], [1, 2])
    func inputChannels(_ file: Int, _ node: Int) throws {
        let channels = (1...file).map { Signal.noise(frames: 1000, seed: UInt64($0)) }
        try SoundFile(rate: 48_000, samples: channels).write(scratch.file("in.wav"))
        let text = """
            [graph]
            links = ["mic -> out"]
            [node.mic]
            type = "input"
            channels = \(node)
            [node.out]
            type = "output"
            channels = \(node)
            """
        let heard = try rendered(text, Render(path: "", inputs: ["mic": scratch.file("in.wav")])).samples
        let mean = (0..<1000).map { frame in channels.reduce(Float(0)) { $0 + $1[frame] } / Float(file) }
        let expected = node == 1 ? [mean] : file == 1 ? [channels[0], channels[0]] : Array(channels.prefix(2))
        #expect(heard.differ(from: expected) == 0)
    }

    @Test("A graph that never ends needs a duration") func endless() throws {
        #expect(throws: Fault("nothing in this graph ends by itself", hint: "give --duration SECONDS")) {
            try rendered(noise, Render(path: "", end: .idle))
        }
    }

    private let microphones = """
        [graph]
        links = ["mic -> out", "line -> side"]
        [node.mic]
        type = "input"
        channels = 2
        connect = ["system:capture_*"]
        [node.line]
        type = "input"
        [node.out]
        type = "output"
        [node.side]
        type = "output"
        channels = 1
        """

    @Test("Inputs are fed from files unchanged", arguments: [1, 100, 1024]) func inputFiles(block: Int) throws {
        let stereo = [1, 2].map { Signal.noise(frames: 5000, seed: $0, amplitude: 2) }
        try SoundFile(rate: 48_000, samples: stereo).write(scratch.file("a.wav"))
        try SoundFile(rate: 48_000, samples: [stereo[1]]).write(scratch.file("b.wav"))
        var render = Render(
            path: "", block: block, end: .frames(6000),
            inputs: ["mic": scratch.file("a.wav"), "line": scratch.file("b.wav")])
        let silence = Signal.constant(0, frames: 1000)
        #expect(try rendered(microphones, render).samples.differ(from: stereo.map { $0 + silence }) == 0)
        render.output = "side"
        #expect(try rendered(microphones, render).samples.differ(from: [stereo[1] + silence]) == 0)
    }

    @Test("Inputs without a file are silent") func silentInputs() throws {
        #expect(
            try rendered(microphones, Render(path: "", end: .frames(100))).samples.allSatisfy { Signal.peak($0) == 0 })
    }

    @Test("The file may have other channels than the output") func otherChannels() throws {
        let mono = noise.replacingOccurrences(of: "[node.out]", with: "[node.out]\nchannels = 1")
        let plain = try rendered(mono, Render(path: "", end: .frames(4800)))
        #expect(plain.samples.count == 1)
        let wide = try rendered(mono, Render(path: "", end: .frames(4800), channels: 3))
        #expect(wide.samples.differ(from: [plain.samples[0], plain.samples[0], plain.samples[0]]) == 0)
    }

    @Test("Wrong names and places are errors that help") func mistakes() throws {
        func error(_ render: Render, _ text: String? = nil) -> Fault? {
            #expect(throws: Fault.self) {
                _ = try prepared(text ?? microphones, in: scratch) { graph throws(Fault) in
                    try render.change(&graph)
                }
            }
        }
        let out = scratch.file("out.wav")
        #expect(
            error(Render(path: out, inputs: ["out": "x.wav"]))
                == Fault(
                    "--input out=x.wav: node 'out' is of type output, not input", hint: "input nodes: mic, line"))
        #expect(
            error(Render(path: out, output: "mic"))
                == Fault(
                    "--output mic: node 'mic' is of type input, not output", hint: "output nodes: out, side"))
        #expect(
            error(Render(path: out, output: "sid"))
                == Fault("--output sid: there is no output node 'sid'", hint: "did you mean 'side'?"))
        #expect(
            error(Render(path: out, output: "speakers"))
                == Fault("--output speakers: there is no output node 'speakers'", hint: "output nodes: out, side"))
        #expect(
            error(Render(path: out), "[node.a]\ntype = \"tone\"\n")
                == Fault("the graph has no output node to render", hint: "add a node of type \"output\""))
        let nowhere = scratch.file("no/such/out.wav")
        #expect(
            error(Render(path: nowhere))
                == Fault(
                    "cannot write \(nowhere): No such file or directory",
                    hint: "make the folder with mkdir -p, or choose another"))
    }

    @Test("A folder in place of the file is told at the end") func folderAsFile() throws {
        try FileManager.default.createDirectory(atPath: scratch.file("out.wav"), withIntermediateDirectories: false)
        let error = #expect(throws: Fault.self) { try rendered(noise, Render(path: "", end: .frames(100))) }
        #expect(error?.message == "cannot write \(scratch.file("out.wav")): Is a directory")
    }

    @Test("What was rendered before an interruption is in the file") func interrupted() throws {
        let render = Render(path: scratch.file("out.wav"), block: 256, end: .frames(100_000))
        let ready = try prepared(noise, in: scratch, registry: registry) { graph throws(Fault) in
            try render.change(&graph)
        }
        #expect(try render.run(ready) { $0.frames < 25_600 && $0.total == 100_000 }.frames == 25_600)
        let whole = try rendered(noise, Render(path: "", block: 256, end: .frames(100_000)), "whole.wav")
        #expect(try SoundFile(render.path).samples.differ(from: whole.samples.map { Array($0.prefix(25_600)) }) == 0)
    }
}
