// SPDX-License-Identifier: Apache-2.0
import Drivers
import Foundation
import NodeKit
import TestSupport
import Testing

@testable import Host

/// Counts the blocks in which it is rung.
private final class Bell: Node {
    static let descriptor = NodeDescriptor(
        "bell", "for tests", ports: [Port(VG_CONTROL_PORT, VG_OUTPUT, "rings")] + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [
            Parameter("ring", "once", 0...1, default: 0, flags: VG_PARAM_TOGGLE | VG_PARAM_ABRUPT | VG_PARAM_TRIGGER)
        ], process: ring)

    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> Float { preparation.parameters.first ?? -1 }
}

@_noLocks
private func ring(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let count = memory.assumingMemoryBound(to: Float.self)
    if vg_ramp_at(io.parameter(0), 0) > 0.5 { count.pointee += 1 }
    for frame in 0..<cycle.frames { io.output(0)[frame] = count.pointee }
}

/// Parameters that fall back by themselves.
@Suite(.timeLimit(.minutes(2))) struct TriggerTests {
    private static let registry = NodeRegistry(builtIn: NodeRegistry.ownTypes + [makeNodeType(Bell.self)])
    private static let text = """
        [graph]
        name = "bells"
        links = ["bell -> out"]
        [node.bell]
        type = "bell"
        [node.out]
        type = "output"
        channels = 1
        """

    private final class Run {
        let graph: RunningGraph
        let driver = OfflineDriver(rate: 48_000, maxBlock: 128)
        init(_ text: String) throws {
            graph = try RunningGraph.start(try prepared(text, in: Scratch(), registry: registry), on: driver)
        }
        deinit { graph.stop() }

        /// How often the bell was rung until the end of so many blocks.
        func rings(after blocks: Int) -> Float {
            for _ in 0..<blocks {
                driver.process(frames: 128)
                graph.pump()
            }
            return driver.buffer(of: "out_1")![127]
        }
    }

    @Test("Each time that a trigger is set it holds for one block, and is at its default whenever it is asked")
    func setsRingOnce() throws {
        let run = try Run(Self.text)
        #expect(run.rings(after: 3) == 0)
        for time in 1...3 {
            try run.graph.set("bell", "ring", to: 1)
            #expect(try run.graph.value("bell", "ring") == 0)
            #expect(run.rings(after: 1) == Float(time))
            #expect(run.rings(after: 5) == Float(time), "not once more")
        }
        // In two blocks that follow one another.
        try run.graph.set("bell", "ring", to: 1)
        #expect(run.rings(after: 1) == 4)
        try run.graph.set("bell", "ring", to: 1)
        #expect(run.rings(after: 1) == 5)
        #expect(run.rings(after: 4) == 5)
        // What is set to the default rings nothing.
        try run.graph.set("bell", "ring", to: 0)
        #expect(run.rings(after: 4) == 5)
    }

    @Test("A trigger that is set for a later time holds for the block of that time")
    func setLater() throws {
        let run = try Run(Self.text)
        try run.graph.set("bell", "ring", to: 1, at: 1000.0 / 48_000)
        #expect(run.rings(after: 7) == 0)
        #expect(run.rings(after: 1) == 1)
        #expect(run.rings(after: 9) == 1)
    }

    @Test("What the file sets is given to the node with its first values, and is no value that is kept")
    func fileRingsOnce() throws {
        let run = try Run(Self.text.replacingOccurrences(of: "type = \"bell\"", with: "type = \"bell\"\nring = true"))
        #expect(run.rings(after: 4) == 1)
        #expect(try run.graph.value("bell", "ring") == 0)
        let bell = try #require(run.graph.liveDescription().nodes.first { $0.name == "bell" })
        #expect(bell.entries["ring"] == nil, "a graph that goes on from here does not ring again")
    }

    @Test("A trigger that was fired is nothing to take back, to save or to reload")
    func nothingIsKept() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host(registry: Self.registry)
        let path = try scratch.write(
            "graph.conf", Self.text.replacingOccurrences(of: "type = \"bell\"", with: "type = \"bell\"\nring = true"))
        try await host.load(path)
        try await host.run(DriverRequest(kind: .dummy, client: "bells"))
        try await host.turn("bell", "ring", to: .bool(true))
        #expect(try await host.value("bell", "ring") == 0)
        #expect(try await !host.text().contains("ring"))
        await #expect(throws: Fault.self, "there is nothing to take back") { try await host.undo() }
        let graph = try await host.graph()
        let node = try #require(graph.nodes.first { $0.name == "bell" })
        _ = try scratch.write(
            "graph.conf",
            Self.text.replacingOccurrences(of: "type = \"bell\"", with: "type = \"bell\"\nring = true")
                + "\n[node.more]\ntype = \"tone\"\n")
        _ = try await host.reload()
        let after = try await host.graph()
        #expect(after.nodes.contains { $0 === node }, "it goes on")
        #expect(try await host.value("bell", "ring") == 0)
        await host.close()
        turn.end()
    }
}
