// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import GraphFile
import Host
import NodeKit
import TestSupport

/// What a render does beside the file that was asked for, and what it says of its inputs.
@Suite(.timeLimit(.minutes(2))) struct RenderBesideTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write(
            "graph.conf",
            """
            [graph]
            links = ["tone -> out", "tone -> take"]
            [node.tone]
            type = "tone"
            [node.take]
            type = "record"
            path = "take.wav"
            channels = 1
            [node.out]
            type = "output"
            channels = 1
            """)
    }

    private func render(_ arguments: String...) async throws -> (code: Int32, errors: String) {
        let program = try Program([Program.voicegraph, "render"] + arguments, folder: scratch.path)
        return (try await program.end(), program.errors)
    }

    @Test("The files of record nodes are told; with --no-record there are none") func records() async throws {
        let take = scratch.file("take.wav")
        let quiet = try await render(graph, "-o", "out.wav", "--duration", "0.1", "--no-record")
        #expect(quiet.code == 0 && !quiet.errors.contains("take"), "\(quiet.errors)")
        #expect(!FileManager.default.fileExists(atPath: take))
        let told = try await render(graph, "-o", "out.wav", "--duration", "0.1")
        #expect(told.code == 0 && told.errors.contains("node 'take' wrote \(take)\n"), "\(told.errors)")
        #expect(try SoundFile(take).samples[0].count == 4800)
    }

    @Test("An input that cannot be read names its option, one that is not fed names the way to feed it")
    func inputs() async throws {
        let mic = try scratch.write(
            "mic.conf",
            "[graph]\nlinks = [\"mic -> out\"]\n[node.mic]\ntype = \"input\"\n[node.out]\ntype = \"output\"\nchannels = 1\n"
        )
        let missing = try await render(mic, "-o", "out.wav", "--input", "mic=nosuch.wav")
        #expect(missing.code == 1)
        #expect(
            missing.errors.contains("--input mic=nosuch.wav: cannot read nosuch.wav: No such file"), "\(missing.errors)"
        )
        let open = try await render(mic, "-o", "out.wav")
        #expect(
            open.code == 1 && open.errors.contains("give --duration SECONDS, or --input mic=FILE"), "\(open.errors)")
    }

    @Test("Parameters and settings count that a program gives a node without ordering its keys")
    func embeddedEntries() throws {
        let node = NodeDescription(name: "echo", type: "delay", entries: ["ms": Entry(.number(200))])
        #expect(node.allKeys == ["ms"])
        var graph = GraphDescription()
        graph.nodes = [node]
        let built = GraphBuilder.build(graph, catalog: NodeRegistry().catalog(for: graph))
        let instance = try #require(built.graph?.nodes.first?.instance)
        let place = try #require(instance.parameterIndex("ms"))
        #expect(instance.value(place) == 200)
        var wrong = graph
        wrong.nodes[0].entries["nonsense"] = Entry(.number(1))
        #expect(
            GraphBuilder.build(wrong, catalog: NodeRegistry().catalog(for: wrong)).graph == nil, "nothing is ignored")
    }
}
