// SPDX-License-Identifier: Apache-2.0
import Testing
import TestSupport
import VoiceGraph

@Suite(.timeLimit(.minutes(5))) struct RenderTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func noise(_ more: some GraphPart) -> Graph {
        Graph {
            Tone("noise", wave: .noise) => Tremolo() => Limiter(ceilingDB: -20) => more => Output("out", channels: 1)
        }
    }

    @Test("A graph sounds in memory as in a file, bit for bit, at any block", arguments: [64, 1024, 4096])
    func bits(block: Int) async throws {
        let graph = noise(Gain(gainDB: -3))
        let options = RenderOptions(rate: 44_100, block: block, seconds: 0.5)
        let rendered = try await graph.render(options)
        let path = scratch.file("noise.wav")
        let outcome = try await graph.render(to: path, options)
        let file = try SoundFile(path)
        #expect(rendered.sound.channels == file.samples && rendered.sound.rate == 44_100)
        #expect(rendered.latency == outcome.latency && rendered.latency > 0)
        #expect(rendered.sound.frames == 22_050 && rendered.degraded.isEmpty)
        #expect(Signal.peak(rendered.sound.channels[0]) > 0.02)
    }

    @Test("What goes in at a frame is at that frame, and it ends when all has sounded", arguments: [32, 1024])
    func inputs(block: Int) async throws {
        let voice = Sound(rate: 48_000, channels: [Signal.noise(frames: 10_000, seed: 3, amplitude: 0.5)])
        let graph = Graph {
            let out = Output("out", channels: 1)
            Input("mic") => out
            Input("mic") => Delay(ms: 500) => out
        }
        let rendered = try await graph.render(RenderOptions(block: block), inputs: ["mic": voice])
        let heard = rendered.sound.channels[0]
        #expect(heard.count == 34_000 && rendered.cutAt == nil)
        #expect(Array(heard[..<10_000]) == voice.channels[0] && Array(heard[24_000...]) == voice.channels[0])
        #expect(heard[10_000..<24_000].allSatisfy { $0 == 0 })
        // Silence at the end of what goes in belongs to it.
        let quiet = Sound(rate: 48_000, channels: [[1] + [Float](repeating: 0, count: 999)])
        let short = try await Graph { Input("mic") => Output("out", channels: 1) }.render(inputs: ["mic": quiet])
        #expect(short.sound.channels == quiet.channels)
    }

    @Test("A mono sound goes to all channels of its node, any other to as many") func channels() async throws {
        let graph = Graph { Input("mic", channels: 2) => Output("out") }
        let (left, right): ([Float], [Float]) = ([0.25, 0.5], [-0.25, -0.5])
        let one = try await graph.render(inputs: ["mic": Sound(rate: 48_000, channels: [left])])
        #expect(one.sound.channels == [left, left])
        let two = try await graph.render(inputs: ["mic": Sound(rate: 48_000, channels: [left, right])])
        #expect(two.sound.channels == [left, right])
    }

    @Test("Blocks come as they are read, and together are the whole") func blocks() async throws {
        let options = RenderOptions(block: 256, seconds: 0.25)
        let graph = noise(Gain())
        let whole = try await graph.render(options).sound
        var (count, sum) = (0, Sound(rate: 48_000, channels: []))
        for try await block in try await graph.blocks(options) {
            count += 1
            sum.append(block)
        }
        #expect(count > 10 && sum == whole)
    }

    @Test("What cannot be rendered is refused, with what to do") func refused() async throws {
        let mic = Graph { Input("mic", channels: 2) => Output("out") }
        func fault(_ options: RenderOptions = RenderOptions(), _ sound: Sound? = nil, _ name: String = "mic") async
            -> String
        {
            let inputs = sound.map { [name: $0] } ?? [:]
            let fault = await #expect(throws: Fault.self) { try await mic.render(options, inputs: inputs) }
            return fault.map { "\($0.message) \($0.hint)" } ?? ""
        }
        let three = Sound(rate: 48_000, channels: [[0], [0], [0]])
        #expect(await fault().contains("nothing in this graph ends by itself"))
        #expect(await fault(RenderOptions(rate: 5)).contains("rate must be"))
        #expect(await fault(RenderOptions(seconds: 0)).contains("seconds must be"))
        #expect(await fault(RenderOptions(), three).contains("has 3 channels, the node 2"))
        #expect(await fault(RenderOptions(), Sound(rate: 8000, channels: [[0]])).contains("8000.0 Hz"))
        #expect(await fault(RenderOptions(), Sound(rate: 48_000, channels: [[0], []])).contains("one length"))
        #expect(await fault(RenderOptions(), three, "mik").contains("did you mean 'mic'?"))
        #expect(await fault(RenderOptions(seconds: 1, output: "speakers")).contains("no output node 'speakers'"))
        await #expect(throws: Fault.self) { try await Graph { Tone() => Tap() }.render(RenderOptions(seconds: 1)) }
    }

    @Test("A render that is cancelled ends, in memory and into a file") func cancelled() async throws {
        let graph = noise(Gain())
        let path = scratch.file("long.wav")
        let memory = Task { try await graph.render(RenderOptions(seconds: 1e6)) }
        let file = Task { try await graph.render(to: path, RenderOptions(seconds: 1e6)) }
        memory.cancel()
        file.cancel()
        await #expect(throws: CancellationError.self) { try await memory.value }
        await #expect(throws: CancellationError.self) { try await file.value }
    }

    @Test("A mode does to a voice what it says, and measurement nothing", arguments: RecordingMode.allCases)
    func modes(_ mode: RecordingMode) async throws {
        let rumble = Signal.sine(46.875, rate: 48000, frames: 65536, amplitude: 0.05)
        let voice = Signal.sine(750, rate: 48000, frames: 65536, amplitude: 0.05)
        let sound = zip(rumble, voice).map { $0 + $1 }
        let graph = Graph { Input("mic") => mode.processing() => Output("out", channels: 1) }
        let rendered = try await graph.render(
            RenderOptions(seconds: 65536 / 48000), inputs: ["mic": Sound(rate: 48_000, channels: [sound])])
        let heard = Array(rendered.sound.channels[0].suffix(32768))
        switch mode {
        case .default, .measurement: #expect(heard == Array(sound.suffix(32768)))
        case .voiceChat, .spokenAudio:
            let low = Signal.partial(46.875, of: heard, rate: 48000).amplitude
            let high = Signal.partial(750, of: heard, rate: 48000).amplitude
            #expect(low < 0.3 * high, "\(low) \(high)")
            #expect(high > 0.06 && high < 0.3, "\(high)")
        }
        let names = try Graph.recording("a.wav", mode: mode).description.nodes.map(\.name)
        #expect(names.first == "mic" && names.suffix(2) == ["level", "take"] && names.count == 3 + mode.steps.count)
        let lossy = Result { try Graph.recording("a.ogg", mode: mode) }
        #expect(((try? lossy.get()) == nil) == (mode == .measurement))
    }
}
