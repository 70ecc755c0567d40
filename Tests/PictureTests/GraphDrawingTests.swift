// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import FoundationXML
import Graph
import Host
import TestSupport

@testable import Picture

/// input -> gain -> mix <- tone, mix -> output; a voice agent with messages; a controlled gain; a loop with a delay.
private let sample = GraphSketch(
    name: "voice <\"demo\"> & more",
    nodes: [
        .init("mic", "input", outputs: [.init("out", .audio)]),
        .init(
            "denoise", "lv2", inputs: [.init("in", .audio), .init("threshold", .control)],
            outputs: [.init("out", .audio)]),
        .init(
            "mix", "mix", inputs: [.init("in_1", .audio), .init("in_2", .audio)],
            outputs: [.init("out_1", .audio), .init("out_2", .audio)]),
        .init("speakers", "output", inputs: [.init("in_1", .audio), .init("in_2", .audio)]),
        .init("vad", "vad", inputs: [.init("in", .audio)], outputs: [.init("speech", .control)]),
        .init("transcribe", "transcribe", inputs: [.init("in", .audio)], outputs: [.init("text", .message)]),
        .init("tts", "tts", inputs: [.init("text", .message)], outputs: [.init("out", .audio)]),
        .init("keys", "midi-input", outputs: [.init("midi", .midi)]),
        .init("synth", "lv2", inputs: [.init("midi", .midi)], outputs: [.init("out", .audio)]),
        .init("echo", "delay", inputs: [.init("in", .audio)], outputs: [.init("out", .audio)]),
        .init("reverb", "lv2", failure: "plugin <none> is not installed"),
    ],
    links: [
        .init(0, 0, to: 1, 0), .init(1, 0, to: 2, 0), .init(1, 0, to: 5, 0), .init(0, 0, to: 4, 0),
        .init(4, 0, to: 1, 1, .control), .init(5, 0, to: 6, 0, .message), .init(6, 0, to: 2, 1),
        .init(2, 0, to: 3, 0), .init(2, 1, to: 3, 1), .init(7, 0, to: 8, 0, .midi),
        .init(8, 0, to: 2, 0, gain: 0.1), .init(8, 0, to: 2, 1, gain: 0.1), .init(2, 0, to: 9, 0),
        .init(9, 0, to: 2, 1, gain: 0.5),
    ])

@Suite struct GraphDrawingTests {
    @Test("The drawing is well-formed XML with every node, port and link in it") func wellFormed() throws {
        let svg = sample.svg()
        if let folder = ProcessInfo.processInfo.environment["VOICEGRAPH_LOOK"] {
            try svg.write(toFile: folder + "/graph.svg", atomically: true, encoding: .utf8)
        }
        let document = try XMLDocument(xmlString: svg)
        #expect(
            try document.nodes(forXPath: "//*[local-name()='path'][contains(@class,'link ')]/*[local-name()='title']")
                .count == 14)
        #expect(try document.nodes(forXPath: "//*[local-name()='circle']").count == 21)
        #expect(try document.nodes(forXPath: "//*[local-name()='rect'][contains(@class,'box')]").count == 11)
        for text in [
            "mic.out → denoise.in: audio", "-20 dB", "voice &lt;&quot;demo&quot;&gt; &amp; more",
            "prefers-color-scheme",
        ] {
            #expect(svg.contains(text), "no \(text)")
        }
        #expect(svg == sample.svg(), "drawings are repeatable")
    }

    @Test("Boxes do not overlap and signals run from left to right") func noOverlap() {
        let layout = GraphLayout(sample)
        for a in layout.boxes.indices {
            let box = layout.boxes[a]
            #expect(box.x >= 0 && box.y >= 0)
            #expect(box.x + box.width <= layout.width && box.y + box.height <= layout.height)
            for b in layout.boxes.indices where b > a {
                let other = layout.boxes[b]
                let apart =
                    box.x + box.width <= other.x || other.x + other.width <= box.x
                    || box.y + box.height <= other.y || other.y + other.height <= box.y
                #expect(apart, "\(sample.nodes[a].name) and \(sample.nodes[b].name)")
            }
        }
        for link in sample.links where link.from != 9 {
            #expect(layout.boxes[link.from].layer < layout.boxes[link.to].layer)
        }
    }

    @Test("A chain of any length is drawn, also when it is a ring", arguments: [0, 1, 2, 3000])
    func anyLength(count: Int) {
        var sketch = GraphSketch(
            nodes: (0..<count).map {
                .init("n\($0)", "gain", inputs: [.init("in", .audio)], outputs: [.init("out", .audio)])
            },
            links: (1..<max(count, 1)).map { .init($0 - 1, 0, to: $0, 0) })
        #expect(GraphLayout(sketch).boxes.map(\.layer) == Array(0..<count))
        if count > 0 { sketch.links.append(.init(count - 1, 0, to: 0, 0)) }
        #expect(GraphLayout(sketch).boxes.count == count)
        #expect(sketch.svg().hasSuffix("</svg>\n"))
    }

    @Test("Links to nothing are left out") func linksToNothing() {
        let sketch = GraphSketch(
            nodes: [.init("a", "tone", outputs: [.init("out", .audio)])],
            links: [.init(0, 0, to: 5, 0), .init(0, 3, to: 0, 0), .init(-1, 0, to: 0, 0)])
        #expect(GraphLayout(sketch).links.isEmpty)
        #expect(!sketch.dot().contains("->"))
    }

    @Test("DOT and Mermaid name everything and escape names") func textFormats() {
        let dot = sample.dot()
        #expect(dot.hasPrefix("digraph \"voice <\\\"demo\\\"> & more\" {"))
        #expect(dot.contains("n0 [label=\"mic\\ninput\"];"))
        #expect(dot.contains("n2 -> n3 [color=\"#0f9d76\", style=solid, tooltip=\"audio\", label=\"2x\"];"))
        #expect(dot.contains("label=\"2x -20 dB\""))
        let mermaid = sample.mermaid()
        #expect(mermaid.hasPrefix("flowchart LR\n  n0[\"<b>mic</b><br/>input\"]\n"))
        #expect(mermaid.contains("n5 -.->|\"message\"| n6"))
        #expect(mermaid.contains("n7 ==>|\"midi\"| n8"))
        let evil = GraphSketch(name: "x", nodes: [.init("a\"]; end\n", "b<script>")])
        #expect(evil.mermaid().contains("n0[\"<b>a#34;]; end</b><br/>b#60;script#62;\"]"))
        #expect(evil.dot().contains("label=\"a\\\"]; end\\nb<script>\""))
        #expect(!evil.svg().contains("<script"))
    }

    @Test("Gains are labelled in dB") func gains() {
        #expect(gainLabel(1) == nil)
        #expect(gainLabel(0.1) == "-20 dB")
        #expect(gainLabel(2) == "+6 dB")
        #expect(gainLabel(0.8) == "-1.9 dB")
        #expect(gainLabel(0) == "muted")
    }
}

@Suite struct GraphSketchTests {
    private func sketch(_ text: String, lost: [String: String] = [:]) throws -> GraphSketch {
        let (description, diagnostics) = ConfigFile.load(text: text)
        var found = try #require(description)
        let catalog = NodeRegistry(search: PluginSearch(folders: [])).catalog(for: found)
        let result = GraphBuilder.build(found, catalog: catalog)
        #expect((diagnostics + result.diagnostics).filter { $0.severity == .error }.isEmpty)
        found.nodes += lost.keys.map { NodeDescription(name: $0, type: "lv2") }
        return GraphSketch(resolved: try #require(result.graph), description: found, degraded: lost)
    }

    @Test("A graph file becomes boxes with their own ports and wires with gain") func graphFile() throws {
        let sketch = try sketch(
            """
            [graph]
            name = "demo"
            links = ["mic -> gain", { from = "gain", to = "speakers", gain_db = -20 }]
            [node.mic]
            type = "input"
            channels = 2
            [node.gain]
            type = "gain"
            channels = 2
            [node.speakers]
            type = "output"
            """)
        #expect(sketch.name == "demo")
        #expect(sketch.nodes.map(\.name) == ["mic", "gain", "speakers"])
        #expect(sketch.nodes[1].inputs.map(\.name) == ["in_1", "in_2"])
        #expect(sketch.links.count == 4)
        #expect(sketch.links.filter { abs($0.gain - 0.1) < 1e-6 }.count == 2)
        #expect(sketch.soundLinks == sketch.links)
        #expect(sketch.mermaid().contains("n1 -->|\"2x -20 dB\"| n2"))
    }

    @Test("A node that this machine cannot run is drawn apart with the reason") func unusableNode() throws {
        let sketch = try sketch(
            """
            [graph]
            name = "demo"
            links = ["mic -> speakers"]
            [node.mic]
            type = "input"
            [node.speakers]
            type = "output"
            """, lost: ["lost": "no such plugin"])
        let lost = try #require(sketch.nodes.first { $0.name == "lost" })
        #expect(lost.failure == "no such plugin")
        #expect(sketch.svg().contains("class=\"box failed\""))
    }
}
