// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import TestSupport

@testable import Config

/// The keys that every node has: each is declared once, and all that reads or writes graphs follows.
@Suite("Keys of every node") struct NodeKeysTests {
    private func load(_ line: String, _ overrides: [String] = []) -> (NodeDescription?, [Diagnostic]) {
        let (description, diagnostics) = ConfigFile.load(
            text: "[node.a]\ntype = \"tone\"\n" + line, overrides: overrides, environment: ["VALUE": "true"])
        return (description?.nodes.first, diagnostics)
    }

    /// A value for each that is not what it is without a word, as a file has it.
    private static let values = [
        "required": "false", "bypass": "true", "mute": "true", "guard": "false", "tail": "\"spill\"",
        "isolate": "\"group\"", "keep": "true", "speaker": "\"Anna\"",
    ]

    @Test("Each is read from a file and from the command line, and what is written of it reads as the same")
    func keys() throws {
        #expect(Set(Self.values.keys) == Set(NodeDescription.commonKeys).subtracting(["type"]))
        for (key, value) in Self.values {
            let (node, faults) = load("\(key) = \(value)")
            let common = try #require(node?.common)
            #expect(faults.isEmpty && common != NodeKeys(), "\(key)")
            #expect(node?.entries.isEmpty == true && node?.commonEntries[key]?.keyLocation.line == 3)
            #expect(load("", ["node.a.\(key)=\(value)"]).0?.common == common, "\(key)")
            var graph = GraphDescription()
            graph.nodes = [try #require(node)]
            #expect(ConfigFile.load(text: GraphText.write(graph), environment: [:]).0?.nodes[0].common == common)
        }
    }

    @Test("A value that none can have is refused at its place, and on the command line")
    func refused() {
        for key in Self.values.keys {
            let (node, faults) = load("\(key) = [1]")
            #expect(node?.common == NodeKeys())
            #expect(faults.map(\.location.line) == [3] && faults.allSatisfy { $0.message.contains("'\(key)' must be") })
            #expect(load("", ["node.a.\(key)=[1]"]).1.map(\.message) == faults.map(\.message), "\(key)")
            #expect(load("", ["node.a.\(key).more=1"]).1.count == 1, "\(key)")
        }
    }

    @Test("A variable may stand for what is no text") func variables() {
        for key in ["required", "bypass", "mute", "isolate", "keep"] {
            let (node, faults) = load("\(key) = \"${VALUE}\"")
            #expect(faults.isEmpty && node?.common != NodeKeys(), "\(key)")
        }
    }

    @Test("Whoever looks sees them among the settings, a variable by its name; flags are told by themselves")
    func shown() {
        for (key, value) in ["tail": "spill", "isolate": "group", "speaker": "Anna"] {
            #expect(load("\(key) = \"\(value)\"").0?.shownSettings == [key: .string(value)])
        }
        #expect(load("speaker = \"${VALUE}\"").0?.shownSettings == ["speaker": .string("${VALUE}")])
        #expect(load("mute = true\nlevel_db = -6").0?.shownSettings == ["level_db": .integer(-6)])
    }

    @Test("A word that is near another is told") func words() {
        #expect(load("tail = \"spil\"").1.first?.hint == "did you mean 'spill'?")
        #expect(load("tail = \"long\"").1.first?.message == "'tail' must be \"cut\" or \"spill\", not 'long'")
    }
}
