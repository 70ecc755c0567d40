// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import TestSupport

@Suite struct ConfigFileTests {
    @Test func aChainIsReadWithThePlaceOfEachName() {
        let (graph, diagnostics) = ConfigFile.load(
            text: """
                [graph]
                name = "voice"
                links = ["mic -> gain.in -> out", { from = "a.x", to = "b", gain_db = -20 }]
                [node.mic]
                type = "input"
                channels = 2
                """, file: "f.conf")
        #expect(diagnostics.isEmpty)
        #expect(graph?.name == "voice")
        #expect(
            graph?.links.map { "\($0.from) -> \($0.to) \($0.gainDB)" } == [
                "mic -> gain.in 0.0", "gain.in -> out 0.0", "a.x -> b -20.0",
            ])
        #expect(graph?.links[0].to.location == SourceLocation(file: "f.conf", line: 3, column: 18, length: 7))
        #expect(graph?.nodes.map(\.name) == ["mic"])
        #expect(graph?.nodes.first?.entries["channels"]?.value == .integer(2))
        #expect(
            graph?.nodes.first?.entries["channels"]?.keyLocation
                == SourceLocation(file: "f.conf", line: 6, column: 1, length: 8))
    }
}
