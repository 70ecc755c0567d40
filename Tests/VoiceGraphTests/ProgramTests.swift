// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Testing
import TestSupport
import VoiceGraph

/// Turns its input upside down.
private final class Flip: AudioNode {
    static let descriptor = NodeDescriptor(
        "flip", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: { Flip.process($0, $1, $2) })

    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }

    @_noLocks
    static func process(_ state: inout NoProcessor, _ block: borrowing Block) {
        let input = block.input(0)
        let output = block.output(0)
        for frame in 0..<block.frames { output[frame] = -input[frame] }
    }
}

/// Has a name that is taken.
private final class Taken: Node {
    static let descriptor = NodeDescriptor("gain", "for tests")
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
}

/// Types and sound of the program that has the host.
@Suite(.timeLimit(.minutes(5))) struct ProgramTests {
    private let ramp = (0..<5000).map { Float($0) / 5000 }
    private let driver = DriverRequest(kind: .dummy)

    @Test("A type of the program is one like others, but runs in its process alone") func types() async throws {
        let graph = Graph { Input("mic") => OwnNode(Flip.self, "flip") => Output("out", channels: 1) }
        let rendered = try await graph.render(inputs: ["mic": Sound(rate: 48_000, channels: [ramp])])
        #expect(rendered.sound.channels == [ramp.map { -$0 }])
        let host = Host()
        try host.register(Flip.self)
        try host.register(Flip.self)
        #expect(host.nodeTypes.types["flip"]?.origin == "this program")
        try await host.load(
            Graph(text: "[graph]\nlinks = [\"a -> b\"]\n[node.a]\ntype = \"flip\"\n[node.b]\ntype = \"flip\"\n"))
        let taken = #expect(throws: Fault.self) { try host.register(Taken.self) }
        #expect(taken?.message == "there is a node type 'gain' already: built in")
        let apart = Graph { Input("mic") => OwnNode(Flip.self).isolated() => Output("out", channels: 1) }
        let refused = await #expect(throws: InvalidGraph.self) { try await Host().load(apart) }
        #expect(refused?.description.contains("it lives in this program") == true)
    }

    @Test("What a program writes is rendered to its last frame", arguments: [16, 1024], [0.005, 0.01, 1])
    func rendered(block: Int, buffer: Double) async throws {
        let source = AudioSource("synth", channels: 2, buffer: buffer)
        let graph = Graph { source => Output("out") }
        async let written: Void = {
            for start in stride(from: 0, to: 5000, by: 500) {
                let part = Array(ramp[start..<start + 500])
                try await source.write([part, part.map { -$0 }])
            }
            source.end()
        }()
        let rendered = try await graph.render(RenderOptions(block: block))
        try await written
        #expect(rendered.sound.channels == [ramp, ramp.map { -$0 }])
        await #expect(throws: Fault.self) { try await source.write([[0], [0]]) }
    }

    @Test("Live a source waits for room, is heard by whoever taps it, and refuses what comes after the end")
    func live() async throws {
        let host = Host()
        let source = AudioSource(channels: 1, buffer: 0.05)
        await #expect(throws: Fault.self) { try await source.write([[0], [0]]) }
        await #expect(throws: Fault.self) { try await AudioSource(channels: 2).write(interleaved: [0]) }
        try await host.load(Graph { source => Tap("tap") => Output("out", channels: 1) })
        let heard = host.audio(of: "tap", held: 100_000)
        try await host.run(driver)
        // Many times what it holds.
        let long = (0..<40).flatMap { _ in ramp }
        try await source.write([long])
        // What waits now, and the device at most.
        let (waiting, latency) = (try #require(source.waiting), try #require(source.latency))
        #expect(waiting > 0 && latency > 0.01 && latency < 0.5)
        var samples: [Float] = []
        for await audio in heard {
            samples += audio.channels[0]
            if samples.count >= long.count, samples.count(where: { $0 != 0 }) >= long.count(where: { $0 != 0 }) {
                break
            }
        }
        // In order, each once; zeros are where nothing was there in time.
        #expect(samples.filter { $0 != 0 } == long.filter { $0 != 0 } && heard.dropped == 0)
        let writing = Task { try await source.write([long]) }
        while source.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let second = await #expect(throws: Fault.self) { try await source.write([[1]]) }
        #expect(second?.message == "another write to this source is under way")
        await host.stop()
        let stopped = await #expect(throws: Fault.self) { try await writing.value }
        #expect(stopped?.message == "the graph of this source has stopped")
        await #expect(throws: Fault.self) { try await source.write([[1]]) }
    }

    @Test("Two hosts in one program do not hear each other, and one goes on when the other ends") func hosts()
        async throws
    {
        var heard: [[Float]] = []
        let hosts = [Host(), Host()]
        let sources = [AudioSource("one"), AudioSource("two")]
        let taps = zip(hosts, sources).map { host, _ in host.audio(of: "tap") }
        for (host, source) in zip(hosts, sources) {
            try await host.load(Graph { source => Tap("tap") => Output("out", channels: 1) })
            try await host.run(driver)
        }
        for (index, tap) in taps.enumerated() {
            try await sources[index].write([[Float](repeating: Float(index + 1) / 4, count: 4000)])
            var samples: [Float] = []
            for await audio in tap {
                samples += audio.channels[0].filter { $0 != 0 }
                if samples.count >= 4000 { break }
            }
            heard.append(samples)
            // The next one plays on.
            await hosts[index].stop()
        }
        #expect(heard.map { Set($0) } == [[0.25], [0.5]])
    }

    @Test("Who waits to write can be cancelled, and sounds that nobody knows are refused") func cancelled() async throws
    {
        let source = AudioSource("synth")
        let writing = Task { try await source.write([[1, 2, 3]]) }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        let text = Graph { source => Output("out", channels: 1) }.text
        let gone = text.replacing("source   = ", with: "source   = 1")
        let host = Host()
        try await host.load(Graph { AudioSource("other") => Output("out", channels: 1) })
        let unknown = await #expect(throws: InvalidGraph.self) { try await host.load(Graph(text: gone)) }
        #expect(unknown?.description.contains("lives in the program that made the graph") == true)
    }
}
