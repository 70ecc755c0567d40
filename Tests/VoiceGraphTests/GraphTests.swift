// SPDX-License-Identifier: Apache-2.0
import Testing
import TestSupport
import VoiceGraph

@Suite struct GraphTests {
    /// Names and links, as a file would have them.
    private func shape(_ graph: Graph) -> (nodes: [String], links: [String]) {
        let description = graph.description
        return (
            description.nodes.map(\.name),
            description.links.map { "\($0.from) -> \($0.to)" + ($0.gainDB == 0 ? "" : " \($0.gainDB)") }
        )
    }

    @Test("Parts are linked as they stand, and what is named again is the same node") func chains() {
        let graph = Graph("voice") {
            let mic = Input("mic")
            mic => Gain(gainDB: -6) => Meter("level") => Output("out")
            mic => Record("take", path: "take.flac")
            Input("mic") => Tap()
        }
        #expect(graph.description.name == "voice" && graph.diagnostics.isEmpty)
        #expect(shape(graph).nodes == ["mic", "gain", "level", "out", "take", "tap"])
        #expect(
            shape(graph).links == ["mic -> gain", "gain -> level", "level -> out", "mic -> take", "mic -> tap"])
    }

    @Test("Nodes without a name get that of their type, with a number where it is taken") func names() {
        let graph = Graph {
            Tone() => Gain() => Gain() => Output("gain")
            let both = Mute()
            both => Tap()
            both => Tap()
        }
        #expect(shape(graph).nodes == ["tone", "gain-2", "gain-3", "gain", "mute", "tap", "tap-2"])
        #expect(shape(graph).links.prefix(3) == ["tone -> gain-2", "gain-2 -> gain-3", "gain-3 -> gain"])
        #expect(shape(graph).links.suffix(2) == ["mute -> tap", "mute -> tap-2"])
    }

    @Test("Links have ports, parameters and gains; what a condition or a loop says is part of it") func links() {
        func graph(isLoud: Bool) -> Graph {
            Graph {
                let (out, gain) = (Output("out"), Gain("gain"))
                LFO("lfo")["out"] => gain["gain_db"]
                for number in 1...2 { Tone("tone-\(number)") => out["in_\(number)"].at(-3) }
                if isLoud { gain => out } else { Mute("mute") => out.at(-12) }
            }
        }
        #expect(
            shape(graph(isLoud: true)).links == [
                "lfo.out -> gain.gain_db", "tone-1 -> out.in_1 -3.0", "tone-2 -> out.in_2 -3.0", "gain -> out",
            ])
        #expect(shape(graph(isLoud: false)).links.last == "mute -> out -12.0")
    }

    @Test("What the types of nodes take and every node may say is in the text, which is read as the same graph")
    func text() throws {
        let graph = Graph("echo") {
            Input("mic", channels: 2) => Delay("delay", ms: 200, change: .glide).with("tail", "spill")
                => Limiter("limit", ceilingDB: -3).muted() => Output("out")
            Transcribe("text", partials: false).kept(as: "Anna")
        }
        let text = graph.text
        for line in [
            "name = \"echo\"", "\"mic -> delay -> limit -> out\"", "ms     = 200.0", "change = \"glide\"",
            "tail   = \"spill\"", "mute       = true", "speaker  = \"Anna\"", "partials = false",
        ] { #expect(text.contains(line), "\(line) is not in\n\(text)") }
        let again = try Graph(text: text)
        #expect(again.text == text)
        #expect(again.description.nodes.map(\.type) == graph.description.nodes.map(\.type))
    }

    @Test("What is wrong is told with its place, in a program as in a text") func faults() async throws {
        let host = Host()
        let twice = Graph { Gain("a", gainDB: 1) => Gain("a", gainDB: 2) }
        let double = await #expect(throws: InvalidGraph.self) { try await host.load(twice) }
        #expect(double?.diagnostics.map(\.message) == ["two nodes are called 'a'"])
        #expect(double?.diagnostics.first?.location.file.hasSuffix("GraphTests.swift") == true)
        let line = #line + 1
        let loud = Graph { Tone() => Gain("loud", gainDB: 99) => Output(channels: 1) }
        let outside = await #expect(throws: InvalidGraph.self) { try await host.load(loud) }
        #expect(outside?.diagnostics.first?.location.line == line, "\(outside?.description ?? "")")
        #expect(outside?.description.contains("-120 to 36 dB") == true)
        let unknown = Graph { AnyNode("x", type: "gian") => Output() }
        let type = await #expect(throws: InvalidGraph.self) { try await host.load(unknown) }
        #expect(type?.description.contains("gain") == true)
        let text = #expect(throws: InvalidGraph.self) {
            try Graph(text: "[graph]\nlinks = [\"a -> \"]\n", file: "g.conf")
        }
        #expect(text?.diagnostics.first?.location.line == 2 && text?.diagnostics.first?.location.file == "g.conf")
        let missing = #expect(throws: InvalidGraph.self) { try Graph(contentsOf: "/nowhere/a.conf") }
        #expect(missing?.description.contains("/nowhere/a.conf") == true)
    }

    @Test("A description without an order of its keys loses none of them") func entries() async throws {
        var graph = Graph { Tone("tone") => Output("out", channels: 1) }
        graph.description.nodes.append(
            NodeDescription(name: "delay", type: "delay", entries: ["ms": Entry(.number(200))]))
        graph.description.links = [
            LinkDescription(from: Endpoint("tone"), to: Endpoint("delay")),
            LinkDescription(from: Endpoint("delay"), to: Endpoint("out")),
        ]
        let sound = try await graph.render(RenderOptions(seconds: 0.3)).sound.channels[0]
        #expect(sound[..<9600].allSatisfy { $0 == 0 } && sound[9600...].contains { abs($0) > 0.05 })
    }
}
