// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization
import TestSupport
import Testing
import VoiceGraph

/// What an audio thread counts.
private final class Seen: Sendable {
    let frames = Atomic(0)
    let loud = Atomic(0)
}

@_noLocks
private func invert(_ block: borrowing Block) {
    for channel in block.outputs {
        let input = block.input(channel)
        let output = block.output(channel)
        for frame in 0..<block.frames { output[frame] = -input[frame] }
    }
}

/// What is counted per frame: soft enough for every guard, and exact.
private let step: Float = 1 / 65536

/// Counts up, a step at a time.
private func counter(_ name: String = "count") -> SourceNode {
    SourceNode(name, state: Float(0)) { next, block in
        let output = block.output(0)
        for frame in 0..<block.frames {
            output[frame] = next
            next += step
        }
    }
}

/// Closures of the program as nodes.
@Suite(.timeLimit(.minutes(5))) struct ClosureTests {
    @Test("Closures make, change, look at and take sound, block by block as other nodes", arguments: [16, 1024])
    func rendered(block: Int) async throws {
        let seen = Seen()
        let factor: Float = 3
        let gain = Parameter("gain", "factor", 0...10, default: 1)
        let graph = Graph {
            let source = counter()
            source
                => EffectNode("triple", parameters: [gain]) { block in
                    let input = block.input(0)
                    let output = block.output(0)
                    let gain = block.parameter(0)
                    for frame in 0..<block.frames { output[frame] = factor * gain[frame] * input[frame] }
                }.with("gain", 2)
                => TapNode("look") { block in
                    let input = block.input(0)
                    var loud = 0
                    for frame in 0..<block.frames where input[frame] > 600 * step { loud += 1 }
                    seen.loud.add(loud, ordering: .relaxed)
                } => EffectNode("invert", body: invert) => Output("out", channels: 1)
            source => SinkNode("sink") { block in seen.frames.add(block.frames, ordering: .relaxed) }
        }
        let rendered = try await graph.render(RenderOptions(block: block, seconds: 0.01))
        #expect(rendered.sound.channels == [(0..<480).map { Float(-6 * $0) * step }])
        #expect(seen.frames.load(ordering: .relaxed) == 480 && seen.loud.load(ordering: .relaxed) == 480 - 101)
        // It begins anew.
        #expect(try await graph.render(RenderOptions(block: block, seconds: 0.01)).sound == rendered.sound)
    }

    @Test("They play live, are taken out and come back, though nobody has the graph any more") func live() async throws
    {
        let host = Host()
        try await host.load(
            Graph {
                counter("source") => EffectNode("invert", body: invert) => Tap("tap") => Output("out", channels: 1)
            })
        try await host.run(DriverRequest(kind: .dummy))
        var last: Float = 0
        for await audio in host.audio(of: "tap") {
            // Where it begins is not told.
            let first = audio.channels[0][0]
            if last != 0 { #expect(first == last - step) }
            #expect(audio.channels[0] == audio.channels[0].indices.map { first - Float($0) * step })
            last = audio.channels[0].last ?? 0
            if last < -5000 * step { break }
        }
        try await host.remove("invert")
        #expect(await host.description?.nodes.map(\.name).contains("invert") == false)
        _ = try await host.undo()
        for await audio in host.audio(of: "tap") where audio.channels[0].last ?? 0 < 0 { break }
        await host.stop()
    }

    @Test("A closure's node lives in its program: elsewhere that is told, with its place") func elsewhere() async throws
    {
        let text = Graph { counter() => Output("out", channels: 1) }.text
        #expect(text.contains("type    = \"program-closure\""))
        let other = try Graph(text: text)
        let host = Host()
        try host.register(Taken.self)
        let refused = await #expect(throws: InvalidGraph.self) { try await host.load(other) }
        #expect(
            refused?.description.contains("unknown node type 'program-closure'") == true,
            "\(refused?.description ?? "")")
        // The type is there now, the closure is not.
        try await host.load(Graph { counter() => Output("out", channels: 1) })
        let gone = await #expect(throws: InvalidGraph.self) { try await host.load(other) }
        #expect(gone?.description.contains("it lives in the program that made the graph") == true)
    }

    @Test("What the audio thread does to call a closure counts no references") func references() async throws {
        let made = try await compileSwift(
            ["\(packageRoot)/Sources/VoiceGraph/Closures/RealtimeBody.swift"],
            options: ["-O", "-parse-as-library", "-module-name", "Bodies", "-package-name", "voicegraph"])
        #expect(!made.errors.contains("error: "), "\(made.errors)")
        let functions = made.code.components(separatedBy: "\n} // end sil function")
        let audio = functions.filter {
            $0.contains("// BodyProcessor.process(_:)\n") || $0.contains("// BodyProcessor.call(_:)\n")
        }
        #expect(audio.contains { $0.contains("apply ") })
        for function in audio {
            for word in ["retain", "release", "copy_value", "alloc_ref", "begin_access"] {
                #expect(!function.contains(word), "\(function)")
            }
        }
        // The closures in between, too.
        let closures = functions.filter { $0.contains("closure #1 in RealtimeBody.init") }
        #expect(closures.count >= 2)
        for closure in closures where !closure.contains("RawPointer) -> () {") || closure.contains("Block") {
            #expect(!closure.contains("strong_retain") && !closure.contains("strong_release"), "\(closure)")
        }
    }
}

private final class Taken: Node {
    static let descriptor = NodeDescriptor("taken", "for tests")
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}
