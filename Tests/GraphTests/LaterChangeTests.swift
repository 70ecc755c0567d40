// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import Graph

/// Changes of parameters that begin at a frame of the graph.
@Suite("Changes that begin at a frame", .timeLimit(.minutes(2)))
struct LaterChangeTests {
    /// mic -> a -> out, with ones from the mic: what is heard is the parameter `gain`.
    private struct Chain {
        let player: GraphPlayer
        let graph: ResolvedGraph
        var gain: NodeInstance { graph.nodes[1].instance }
        var heard: [Float] { player.heard("out_1") }

        init(rate: Double = 48000) throws {
            graph = try makeGraph(
                ["mic -> a", "a -> out"], [node("mic", "capture"), node("a", "latent"), node("out", "playback")])
            player = GraphPlayer(rate: rate, maxBlock: 1024)
            try player.publish(graph)
            player.feed("mic_1", Signal.constant(1, frames: 200_000))
        }

        func set(_ value: Float, atOnce: Bool = true, at position: UInt64) -> Bool {
            player.engine.set(gain, parameter: 0, to: value, atOnce: atOnce, at: position)
        }
    }

    @Test("A sudden change is there at its frame, and not before", arguments: BlockPlan.all)
    func sudden(plan: BlockPlan) throws {
        let chain = try Chain()
        // In a block, at the beginning of one, right after one, at the end of one; not two of them in one block.
        let changes: [(UInt64, Float)] = [(777, 0.3), (3072, -1.7), (5121, 0.1), (8191, 2)]
        for (position, value) in changes.reversed() { #expect(chain.set(value, at: position)) }
        chain.player.run(plan.sizes(10_000))
        let expected = (0..<10_000).map { frame in changes.last { $0.0 <= frame }?.1 ?? 1 }
        let same = chain.heard == expected
        #expect(same)
    }

    @Test("A ramp begins at its frame, and every bit of it is the same in all blocks", arguments: BlockPlan.all)
    func ramps(plan: BlockPlan) throws {
        func play(_ plan: BlockPlan) throws -> [Float] {
            let chain = try Chain()
            #expect(chain.set(0.3, atOnce: false, at: 777))
            #expect(chain.set(-1.7, atOnce: false, at: 3072))
            #expect(chain.set(1e-3, atOnce: false, at: 6001))
            chain.player.run(plan.sizes(10_000))
            return chain.heard
        }
        let heard = try play(plan)
        let same = try heard == play(.fixed(1))
        #expect(same)
        for (start, from, to) in [(777, 1, 0.3), (3072, 0.3, -1.7), (6001, -1.7, 1e-3)] as [(Int, Float, Float)] {
            #expect(heard[(start - 100)...start].allSatisfy { $0 == from })
            #expect(abs(heard[start + 1] - (from + (to - from) / 480)) < 1e-6)
            #expect(abs(heard[start + 240] - (from + to) / 2) < 1e-4)
            #expect(heard[start + 479] != to)
            #expect(heard[(start + 480)..<(start + 1000)].allSatisfy { $0 == to })
        }
        #expect(Signal.largestStep(heard) < 1.05 * 2 / 480)
    }

    @Test("What is said to begin now or in the past begins with the next block")
    func overdue() throws {
        let chain = try Chain()
        chain.player.run([1000])
        #expect(chain.set(0.5, at: 700))
        chain.player.run([100])
        #expect(chain.set(0.25, at: 1100))
        chain.player.run([100])
        #expect(chain.heard[1000..<1100].allSatisfy { $0 == 0.5 })
        #expect(chain.heard[1100...].allSatisfy { $0 == 0.25 })
    }

    @Test("Of two changes in one block the second begins with the next; none is lost, and they stay in order")
    func secondWaits() throws {
        let chain = try Chain()
        #expect(chain.set(0.25, at: 200))
        #expect(chain.set(0.5, at: 100))
        #expect(chain.set(0.125, at: 1024 + 10))
        chain.player.run([1024, 1024])
        let expected = (0..<2048).map { frame -> Float in
            frame < 100 ? 1 : frame < 1024 ? 0.5 : frame < 1034 ? 0.25 : 0.125
        }
        let same = chain.heard == expected
        #expect(same)
    }

    @Test("A change that comes while the parameter moves takes over from where that is, with the next block")
    func whileMoving() throws {
        let chain = try Chain()
        #expect(chain.set(0, atOnce: false, at: 0))
        #expect(chain.set(1, atOnce: false, at: 100))
        chain.player.run(BlockPlan.fixed(64).sizes(1024))
        #expect(Signal.largestStep(chain.heard) < 1.02 / 480)
        #expect(chain.heard[64..<128].allSatisfy { $0 < 0.9 } && abs(chain.heard[128] - (1 - 128 / 480)) < 1e-4)
        #expect(chain.heard[128 + 480] == 1)
    }

    @Test("A change that is made at once does not end what waits")
    func inBetween() throws {
        let chain = try Chain()
        #expect(chain.set(0.5, at: 300))
        chain.player.run([100])
        #expect(chain.set(2, at: 0))
        chain.player.run([1000])
        #expect(chain.heard.prefix(100).allSatisfy { $0 == 1 })
        #expect(chain.heard[100..<300].allSatisfy { $0 == 2 } && chain.heard[300...].allSatisfy { $0 == 0.5 })
    }

    @Test("When too many wait, the next is made at once, and counted")
    func noRoom() throws {
        let chain = try Chain()
        for index in 0..<512 { #expect(chain.set(0, at: UInt64(100_000 + index))) }
        #expect(chain.set(0.5, at: 90_000))
        chain.player.run([64])
        #expect(chain.heard.allSatisfy { $0 == 0.5 })
        #expect(chain.player.engine.counters.earlyChanges == 1)
        #expect(chain.set(0.25, at: 0))
        chain.player.run([64])
        #expect(chain.heard.suffix(64).allSatisfy { $0 == 0.25 })
        #expect(chain.player.engine.counters.earlyChanges == 1)
    }

    @Test("What waits for a node that goes is done, so that the node has it when it comes back")
    func forgotten() throws {
        let chain = try Chain()
        #expect(chain.set(0.25, at: 250))
        #expect(chain.set(0.5, at: 9000))
        chain.player.run([100])
        var without = chain.graph
        without.links = [
            ResolvedGraph.Link(fromNode: 0, fromPort: 0, toNode: 1, target: .port(0), kind: VG_AUDIO_PORT)
        ]
        without.nodes = [chain.graph.nodes[0], chain.graph.nodes[2]]
        try chain.player.publish(without)
        chain.player.run([100, 1000])
        try chain.player.publish(chain.graph)
        chain.player.run([100, 100])
        #expect(chain.heard.suffix(200).allSatisfy { $0 == 0.5 })
    }

    @Test("What waits for a node that stays goes over to the next schedule")
    func replaced() throws {
        let chain = try Chain()
        #expect(chain.set(0.5, at: 150))
        chain.player.run([100])
        try chain.player.publish(chain.graph)
        chain.player.run([100, 100])
        let expected = (0..<300).map { $0 < 150 ? Float(1) : 0.5 }
        #expect(chain.heard == expected)
    }

    @Test("A node that is gone for good leaves nothing behind that waits for it")
    func gone() throws {
        let alive = Counter()
        let player = GraphPlayer(maxBlock: 64)
        try {
            let graph = try makeGraph(
                ["mic -> a", "a -> out"],
                [
                    node("mic", "capture"), node("a", "latent", ["alive": alive.setting]), node("out", "playback"),
                ])
            try player.publish(graph)
            player.run([64])
            #expect(player.engine.set(graph.nodes[1].instance, parameter: 0, to: 0.5, at: 1000))
            player.run([64])
            player.engine.publish(try Compiler.compile(ResolvedGraph(), rate: 48000, maxBlock: 64))
        }()
        player.run([64])
        player.engine.collect()
        #expect(alive.count == 0)
        #expect(player.engine.audio.state.pointee.laterCount == 0)
        player.run(Array(repeating: 64, count: 20))
    }

    @Test("A parameter that follows a control goes on following it")
    func driven() throws {
        let graph = try makeGraph(
            ["mic -> a", "a -> out", "b.count -> a.gain"],
            [node("mic", "capture"), node("a", "latent"), node("out", "playback"), node("b", "teller")])
        let player = GraphPlayer(maxBlock: 1024)
        try player.publish(graph)
        player.feed("mic_1", Signal.constant(1, frames: 2000))
        #expect(player.engine.set(graph.nodes[1].instance, parameter: 0, to: -1, atOnce: true, at: 150))
        // Back within 5 ms, once the first move has ended and the change has been heard.
        player.run(Array(repeating: 100, count: 10))
        #expect(player.heard("out_1").contains(-1))
        #expect(player.heard("out_1").suffix(100).allSatisfy { $0 == 2 })
    }

    @Test("A change within a block counts as movement; one that only waits does not")
    func revision() throws {
        let engine = Engine()
        let graph = try makeGraph(["b -> a"], [node("a", "latent"), node("b", "teller")])
        engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: 64))
        func block() -> UInt64 {
            engine.audio.run(engine.audio.begin(), frames: 64, clock: 0, flags: 0, transport: vg_transport())
            return engine.audio.state.pointee.cycle.pointee.revision
        }
        _ = block()
        let still = block()
        #expect(block() == still)
        let latent = try #require(graph.nodes.first { $0.instance.name == "a" }).instance
        #expect(engine.set(latent, parameter: 0, to: 0.5, atOnce: true, at: 64 * 4 + 10))
        #expect(block() == still)
        #expect(block() != still)
        let after = block()
        #expect(block() == after)
    }
}
