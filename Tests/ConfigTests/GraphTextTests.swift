// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import TestSupport

@testable import Config

/// A graph as the text of a file: written anew, and as changes of the file that it came from.
@Suite struct GraphTextTests {
    private static let file = """
        # A voice.

        [graph]
        name  = "voice"   # the client
        links = [
          "mic -> low -> out",           # what is said
          { from = "tts", to = "out", gain_db = -6 },
        ]

        # The microphone of the stage.
        [node.mic]
        type    = "input"
        connect = ["system:capture_1"]

        # Not too loud.
        [node.low]
        type    = "gain"
        gain_db = ${X}-12.0     # quiet

        [node.tts]
        type = "tts"
        text = "costs $$5, ${USER:-anybody}"

        [node.fx]
        type   = "lv2"
        plugin = "eg-amp"
        params = { gain = -6.0 }

        [node.out]
        type = "output"
        """.replacing("${X}", with: "")

    private func load(_ text: String) throws -> GraphDescription {
        let (graph, faults) = ConfigFile.load(text: text, environment: [:])
        #expect(faults.isEmpty, "\(faults.map(\.message)) in:\n\(text)")
        return try #require(graph)
    }

    /// The text after a change, which must load to what it was made of.
    private func text(_ file: String = file, _ change: (inout GraphDescription) -> Void) throws -> String {
        let scratch = try Scratch()
        let path = try scratch.write("graph.conf", file)
        var graph = try load(file)
        change(&graph)
        let text = GraphText.text(of: graph, from: path, environment: [:])
        #expect(try load(text).isSame(as: graph), "\(text)")
        return text
    }

    @Test("A file of which nothing differs stays as it is") func same() throws {
        #expect(try text { _ in } == Self.file)
    }

    @Test("A value is changed where it stands") func values() throws {
        let changed = try text { graph in
            graph.nodes[1].entries["gain_db"] = Entry(.integer(-20))
            graph.nodes[3].entries["params"] = Entry(.table(["gain": .number(-3.5)]))
            graph.nodes[2].mute = true
        }
        #expect(
            changed
                == Self.file.replacing("gain_db = -12.0     # quiet", with: "gain_db = -20     # quiet")
                .replacing("{ gain = -6.0 }", with: "{ gain = -3.5 }")
                .replacing("anybody}\"\n", with: "anybody}\"\nmute = true\n"))
    }

    @Test("A new key stands behind the last one, an old one goes with its line") func keys() throws {
        let changed = try text { graph in
            graph.nodes[0].keys = ["channels"]
            graph.nodes[0].entries = ["channels": Entry(.integer(2))]
            graph.nodes[4].isGuarded = false
        }
        #expect(
            changed
                == Self.file.replacing("connect = [\"system:capture_1\"]\n", with: "channels = 2\n")
                .replacing("type = \"output\"", with: "type = \"output\"\nguard = false\n"))
    }

    @Test("A node goes with the comment above it, and the next one keeps its own") func removal() throws {
        let changed = try text { graph in
            graph.nodes.removeFirst()
            graph.links.removeFirst()
        }
        #expect(!changed.contains("[node.mic]") && !changed.contains("microphone of the stage"))
        #expect(changed.contains("\n\n# Not too loud.\n[node.low]\n"))
        #expect(changed.contains("links = [\n  \"low -> out\",           # what is said\n"))
    }

    @Test("New links and nodes come behind the others") func addition() throws {
        let changed = try text { graph in
            var echo = NodeDescription(name: "echo", type: "delay")
            echo.keys = ["ms", "note"]
            echo.entries = ["ms": Entry(.number(300)), "note": Entry(.string("a \"b\"\\ ${c}\n"))]
            graph.nodes.append(echo)
            graph.links += LinkDescription.parse("tts -> echo -> out").links
        }
        #expect(changed.hasPrefix("# A voice.\n"))
        #expect(changed.contains("  { from = \"tts\", to = \"out\", gain_db = -6 },\n  \"tts -> echo -> out\",\n]\n"))
        #expect(
            changed.hasSuffix("\n[node.echo]\ntype = \"delay\"\nms   = 300.0\nnote = \"a \\\"b\\\"\\\\ $${c}\\n\"\n"))
    }

    @Test(
        "Links that go take their comma with them, whatever the list looks like",
        arguments: [
            "links = [\"a -> b\", \"b -> c\"]", "links = [ \"b -> c\", \"a -> b\" ]",
            "links = [\n  \"a -> b\",\n  \"b -> c\"\n]",
            "links = [\"a -> b -> c\"]", "links = \"a -> b -> c\"", "links = [\n\"a -> b\", # x\n\"b -> c\" # y, z\n]",
            "links = [\n  # first\n  \"a -> b\", \"b -> c\",\n]",
        ])
    func links(list: String) throws {
        let nodes = "abc".map { "[node.\($0)]\ntype = \"gain\"\n" }.joined()
        let file = "[graph]\n\(list)\n\(nodes)"
        for change in 0..<5 {
            let changed = try text(file) { graph in
                let extra = LinkDescription.parse("c -> a").links
                switch change {
                case 0: graph.links.removeAll { $0.from.node == "a" }
                case 1: graph.links.removeAll { $0.from.node == "b" }
                case 2: graph.links = []
                case 3: graph.links += extra
                default: graph.links = graph.links.filter { $0.from.node == "b" } + extra
                }
            }
            #expect(changed.hasSuffix(nodes) && changed.hasPrefix("[graph]\nlinks = "), "\(changed)")
            if list.contains("# y"), change != 1, change != 2 { #expect(changed.contains("# y, z"), "\(changed)") }
        }
    }

    @Test(
        "What cannot be changed in parts is written anew",
        arguments: ["node.a.type = \"gain\"", "[node]\na = { type = \"gain\" }"])
    func otherForms(file: String) throws {
        let changed = try text(file) { graph in
            graph.nodes[0].mute = true
            graph.nodes.append(NodeDescription(name: "b", type: "tone"))
            graph.links = LinkDescription.parse("b -> a").links
        }
        #expect(changed.contains("b -> a"))
    }

    @Test("What is included stays so while nothing of it differs") func includes() throws {
        let scratch = try Scratch()
        _ = try scratch.write("part.conf", "[graph]\nlinks = [\"a -> b\"]\n[node.a]\ntype = \"tone\"\n")
        let file = "include = \"part.conf\"\n# mine\n[node.b]\ntype = \"gain\"\n"
        let path = try scratch.write("graph.conf", file)
        var graph = try #require(ConfigFile.load(path: path, environment: [:]).0)
        #expect(GraphText.text(of: graph, from: path, environment: [:]) == file)
        graph.nodes[1].mute = true
        #expect(GraphText.text(of: graph, from: path, environment: [:]) == file + "mute = true\n")
        graph.nodes[0].mute = true
        let whole = GraphText.text(of: graph, from: path, environment: [:])
        #expect(!whole.contains("include") && whole.contains("[node.a]"))
        #expect(try load(whole).isSame(as: graph))
    }

    @Test("Random graphs load to what they were written from", arguments: 1...40 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = TestRandom(seed: seed)
        var graph = try load(Self.file)
        for _ in 0..<12 {
            let index = Int.random(in: 0..<max(1, graph.nodes.count), using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0 where graph.nodes.count > 1:
                let name = graph.nodes.remove(at: index).name
                graph.links.removeAll { $0.from.node == name || $0.to.node == name }
            case 1:
                graph.nodes.append(
                    NodeDescription(name: "n\(Int.random(in: 0..<1 << 30, using: &random))", type: "gain"))
            case 2: graph.nodes[index].bypass.toggle()
            case 3:
                if graph.nodes[index].entries["x y"] == nil { graph.nodes[index].keys.append("x y") }
                graph.nodes[index].entries["x y"] = Entry(.list([.string("\u{1}\"'"), .bool(true), .number(0.1)]))
            case 4 where !graph.links.isEmpty:
                graph.links.remove(at: Int.random(in: 0..<graph.links.count, using: &random))
            case 5:
                let (a, b) = (
                    graph.nodes[index].name, graph.nodes[Int.random(in: 0..<graph.nodes.count, using: &random)].name
                )
                var link = LinkDescription(from: Endpoint(a, "out_1"), to: Endpoint(b))
                link.gainDB = Int.random(in: 0..<2, using: &random) == 0 ? 0 : -4.5
                graph.links.append(link)
            default: graph.threads = .automatic
            }
        }
        let changed = try text { $0 = graph }
        #expect(changed.contains("# A voice."), "what is left of the file is kept")
    }
}
