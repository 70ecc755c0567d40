// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import FoundationXML
import Graph
import GraphFile
import Host
import NodeKit
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
        #expect(!svg.contains("var("), "plain attributes")
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

    /// Two feedback links of a chain, the longer one around the shorter one, and boxes below that are in the way.
    private var loops: GraphSketch {
        var sketch = GraphSketch(
            nodes: (0..<4).map {
                .init(
                    "n\($0)", "gain", inputs: [.init("in", .audio), .init("back", .audio)],
                    outputs: [.init("out", .audio), .init("side", .audio)])
            })
        sketch.nodes += (4..<7).map { .init("below\($0)", "meter", inputs: [.init("in", .audio)]) }
        sketch.links = [.init(0, 0, to: 1, 0), .init(1, 0, to: 2, 0), .init(2, 0, to: 3, 0)]
        sketch.links += [.init(3, 1, to: 0, 1), .init(2, 1, to: 1, 1), .init(3, 1, to: 3, 1)]
        sketch.links += (4..<7).map { .init($0 - 4, 0, to: $0, 0) }
        return sketch
    }

    /// Gains, one after the other.
    private func chain(_ count: Int) -> GraphSketch {
        GraphSketch(
            nodes: (0..<count).map {
                .init("n\($0)", "gain", inputs: [.init("in", .audio)], outputs: [.init("out", .audio)])
            },
            links: (1..<max(count, 1)).map { .init($0 - 1, 0, to: $0, 0) })
    }

    /// Eight chains of three into a mix, and a room that three of them are sent to, behind all others in the file.
    private var desk: GraphSketch {
        var sketch = GraphSketch()
        for (index, type) in ["tone", "highpass", "limiter"].enumerated() {
            sketch.nodes += (0..<8).map {
                .init(
                    "\(type)\($0)", type, inputs: index == 0 ? [] : [.init("in", .audio)],
                    outputs: [.init("out", .audio)])
            }
        }
        sketch.nodes += ["mix", "room"].map {
            .init($0, $0, inputs: [.init("in", .audio)], outputs: [.init("out", .audio)])
        }
        for index in 0..<8 {
            sketch.links += [
                .init(index, 0, to: 8 + index, 0), .init(8 + index, 0, to: 16 + index, 0),
                .init(16 + index, 0, to: 24, 0),
            ]
        }
        sketch.links += [1, 4, 6].map { .init(8 + $0, 0, to: 25, 0) } + [.init(25, 0, to: 24, 0)]
        return sketch
    }

    @Test("Equal chains stand in the order of the file, and straight, whatever is sent from them elsewhere")
    func order() {
        let boxes = GraphLayout(desk).boxes
        for column in [0..<8, 8..<16, 16..<24] {
            #expect(zip(column, column.dropFirst()).allSatisfy { boxes[$0].y < boxes[$1].y }, "\(column)")
        }
        for index in 0..<8 {
            #expect(abs(boxes[index].y - boxes[8 + index].y) < 2 && abs(boxes[index].y - boxes[16 + index].y) < 2)
        }
        // The room stands where its wires cross no more than four others, and no chain is farther off than it needs.
        #expect(boxes[25].y > boxes[16 + 2].y && boxes[25].y < boxes[16 + 5].y)
        #expect(boxes[23].y - boxes[16].y < 8.5 * (boxes[16].height + 26))
    }

    @Test("A chain that is wider than a page goes on in the next row") func wrapped() {
        let layout = GraphLayout(chain(20))
        #expect(layout.width < 2000 && layout.height < 500)
        let rows = Set(layout.boxes.map(\.y)).sorted()
        #expect(rows.count == 2)
        #expect(
            layout.boxes.map { rows.firstIndex(of: $0.y)! } == Array(repeating: 0, count: 10)
                + Array(repeating: 1, count: 10))
        #expect(layout.boxes[10].x == layout.boxes[0].x)
        // Where wires pass what the rows have, it stays in one.
        var ring = chain(20)
        ring.links.append(.init(19, 0, to: 0, 0))
        #expect(Set(GraphLayout(ring).boxes.map(\.y)).count == 1)
    }

    @Test("No wire runs behind a box, and no two against the stream lie on each other") func around() throws {
        for sketch in [sample, loops, chain(20), desk] {
            let layout = GraphLayout(sketch)
            var lows: [Double] = []
            for (link, route) in zip(layout.links, layout.routes) {
                let pieces: [(SIMD2<Double>, SIMD2<Double>)]
                switch route {
                case .forward(let parts):
                    pieces = parts.map { (SIMD2($0.left, $0.y), SIMD2($0.right, $0.y)) }
                    // What is between the pieces is between the columns.
                    for (part, next) in zip(parts, parts.dropFirst()) {
                        for box in layout.boxes {
                            #expect(box.x + box.width <= part.right + 0.01 || box.x >= next.left - 0.01)
                        }
                    }
                case .back(let corners):
                    pieces = Array(zip(corners, corners.dropFirst()))
                    lows.append(try #require(corners.map(\.y).max()))
                    #expect(corners.allSatisfy { $0.x >= 0 && $0.x <= layout.width && $0.y <= layout.height })
                }
                for (a, b) in pieces {
                    for (index, box) in layout.boxes.enumerated() {
                        let isApart =
                            max(a.x, b.x) <= box.x + 0.01 || min(a.x, b.x) >= box.x + box.width - 0.01
                            || max(a.y, b.y) <= box.y + 0.01 || min(a.y, b.y) >= box.y + box.height - 0.01
                        #expect(isApart, "\(link) behind \(sketch.nodes[index].name)")
                    }
                }
            }
            #expect(Set(lows).count == lows.count)
        }
    }

    @Test("Parts that nothing joins stand beside each other, as many in a row as there is room for") func parts() {
        var sketch = GraphSketch(
            nodes: (0..<12).map {
                .init("n\($0)", "gain", inputs: [.init("in", .audio)], outputs: [.init("out", .audio)])
            })
        sketch.links = (0..<6).map { .init(2 * $0, 0, to: 2 * $0 + 1, 0) }
        let layout = GraphLayout(sketch)
        for (index, box) in layout.boxes.enumerated() {
            let nearest = layout.boxes.enumerated().filter { $0.offset / 2 != index / 2 }.map { _, other in
                let across = max(0, max(box.x, other.x) - min(box.x + box.width, other.x + other.width))
                let down = max(0, max(box.y, other.y) - min(box.y + box.height, other.y + other.height))
                return max(across, down)
            }.min()
            #expect(nearest.map { $0 <= 41 } == true)
        }
        #expect(layout.width < 1100 && layout.height < 300)
    }

    @Test("The legend names every kind that occurs, also of ports without wires") func legend() {
        let svg = GraphSketch(
            nodes: [.init("keys", "midi-input", outputs: [.init("midi", .midi), .init("pedal", .control)])]
        ).svg()
        #expect(svg.contains(">midi</text>") && svg.contains(">control</text>"))
        #expect(!svg.contains(">message</text>") && !svg.contains(">audio</text>"))
    }

    @Test("Every renderer has its colours: on white, and on dark where that is asked for", arguments: [false, true])
    func picture(isDark: Bool) throws {
        var sketch = sample
        sketch.nodes[1].live = .init(level: -12, load: 0.012)
        sketch.nodes[2].live = .init(level: 0, load: 0.5)
        let file = try sketch.png(scale: 1, isDark: isDark)
        if let folder = ProcessInfo.processInfo.environment["VOICEGRAPH_LOOK"] {
            try Data(file).write(to: URL(fileURLWithPath: folder + "/graph\(isDark ? "-dark" : "").png"))
        }
        let (width, height, pixels) = try readPNG(file)
        let size = sketch.drawing().size
        #expect(width == Int(size.x.rounded(.up)) && height == Int(size.y.rounded(.up)))
        #expect(Array(pixels[0].prefix(3)) == (isDark ? [0x14, 0x17, 0x1C] : [255, 255, 255]))
        func share(_ color: [UInt8]) -> Double {
            Double(pixels.count { zip($0, color).allSatisfy { abs(Int($0) - Int($1)) < 4 } }) / Double(pixels.count)
        }
        let (box, audio): ([UInt8], [UInt8]) =
            isDark ? ([0x1E, 0x23, 0x2B], [0x3F, 0xD6, 0xA4]) : ([0xF7, 0xF8, 0xFA], [0x0F, 0x9D, 0x76])
        #expect((0.1...0.6).contains(share(box)) && (0.0005...0.05).contains(share(audio)))
    }

    @Test("A picture that is too large is refused") func tooLarge() {
        #expect(throws: NodeError.self) { try sample.png(scale: 40) }
        #expect(throws: NodeError.self) { try VectorImage(svg: "<svg") }
    }

    @Test("A box says what is done to its node, and what its plugin calls itself") func state() {
        var node = GraphSketch.Node("eq", "lv2")
        (node.plugin, node.isMuted, node.isBypassed) = ("Parametric <EQ>", true, true)
        node.live = .init(level: -20.04, load: 0.0123)
        let svg = GraphSketch(nodes: [node]).svg()
        #expect(svg.contains(">lv2: Parametric &lt;EQ&gt;</text>") && svg.contains(">BYPASSED</text>"))
        // It is not heard, whatever its level.
        #expect(svg.contains(">MUTED</text>") && svg.contains(">muted</text>") && !svg.contains("-20"))
        #expect(svg.contains("muted, bypassed, 1.2 % of a block</title>") && svg.contains(">1.2 %</text>"))
        node.isMuted = false
        let heard = GraphSketch(nodes: [node]).svg()
        #expect(heard.contains(", peak -20.0 dBFS, 1.2 % of a block</title>") && heard.contains(">-20 dB</text>"))
        #expect(!heard.contains("MUTED"))
        #expect(GraphSketch(nodes: [node]).dot().contains("lv2: Parametric <EQ>, bypassed"))
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
