// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import NodeKit
import Realtime
import TestSupport
import Testing

@testable import Graph

@Suite("Engine", .timeLimit(.minutes(2)))
struct EngineTests {
    //  mic -> a -> out
    private func chain(_ more: [String: SettingValue] = [:]) throws -> ResolvedGraph {
        try makeGraph(
            ["mic -> a", "a -> out"], [node("mic", "capture"), node("a", "latent", more), node("out", "playback")])
    }

    private func started(_ graph: ResolvedGraph, rate: Double = 48000) throws -> (GraphPlayer, NodeInstance) {
        let player = GraphPlayer(rate: rate, maxBlock: 1024)
        try player.publish(graph)
        player.feed("mic_1", Signal.constant(1, frames: 200_000))
        return (player, graph.nodes[1].instance)
    }

    // MARK: Parameters

    @Test("A parameter moves in 10 ms, without a step above the ramp's", arguments: BlockPlan.all)
    func ramp(plan: BlockPlan) throws {
        let (player, node) = try started(try chain())
        player.run(plan.sizes(1000))
        #expect(player.engine.set(node, parameter: 0, to: 0))
        player.run(plan.sizes(1000))
        let heard = player.heard("out_1")
        #expect(heard[..<1000].allSatisfy { $0 == 1 })
        #expect(heard[1480...].allSatisfy { $0 == 0 })
        #expect(heard[1001] < 1 && heard[1479] > 0)
        #expect(Signal.largestStep(heard) < 1.02 / 480)
        #expect(abs(heard[1240] - 0.5) < 0.01)
    }

    @Test("A parameter that is turned on its way goes on from where it is", arguments: BlockPlan.all)
    func turned(plan: BlockPlan) throws {
        let (player, node) = try started(try chain())
        var random = TestRandom(seed: 3)
        for _ in 0..<40 {
            for _ in 0..<3 { #expect(player.engine.set(node, parameter: 0, to: random.sample())) }
            player.run(plan.sizes(150))
        }
        #expect(player.engine.set(node, parameter: 0, to: 0.25))
        player.run(plan.sizes(1000))
        let heard = player.heard("out_1")
        #expect(Signal.largestStep(heard) < 2.05 / 480)
        #expect(heard.last == 0.25)
    }

    @Test("Of several changes before a block the last counts; a switch switches at once")
    func lastCounts() throws {
        let (player, node) = try started(try chain())
        for value: Float in [2, -2, 0.5] { #expect(player.engine.set(node, parameter: 0, to: value)) }
        for value: Float in [1, 0, 3] { #expect(player.engine.set(node, parameter: 1, to: value)) }
        player.run([480, 64])
        #expect(player.heard("out_1")[0] == 4)
        #expect(player.heard("out_1").suffix(64).allSatisfy { $0 == 3.5 })
    }

    @Test("Values are clamped; what is no number, no parameter or no node of the graph is refused")
    func refused() throws {
        let (player, node) = try started(try chain())
        #expect(player.engine.set(node, parameter: 0, to: 100))
        #expect(!player.engine.set(node, parameter: 0, to: .nan))
        #expect(!player.engine.set(node, parameter: 2, to: 1))
        #expect(!player.engine.set(node, parameter: -1, to: 1))
        #expect(!player.engine.set(try chain().nodes[1].instance, parameter: 0, to: 1))
        player.run([1024])
        #expect(player.heard("out_1").last == 2)
    }

    @Test("More changes than the queue holds are refused, not lost unseen")
    func fullQueue() throws {
        let (player, node) = try started(try chain())
        var accepted = 0
        while player.engine.set(node, parameter: 0, to: Float(accepted % 2)) { accepted += 1 }
        #expect(accepted == 4096)
        player.run([1024])
        #expect(player.heard("out_1").last == Float((accepted - 1) % 2))
        #expect(player.engine.set(node, parameter: 0, to: 0.5))
    }

    @Test("More moving parameters than there is room for jump; none is lost")
    func manyMoving() throws {
        let count = 1500
        var nodes = [node("mic", "capture"), node("out", "playback")]
        var links: [String] = []
        for index in 0..<count {
            nodes.append(node("a\(index)", "latent", ["gain": .number(0)]))
            links += ["mic -> a\(index)", "a\(index) -> out"]
        }
        let graph = try makeGraph(links, nodes)
        let (player, _) = try started(graph)
        for _ in 0..<2 {
            for index in 0..<count { #expect(player.engine.set(graph.nodes[index + 2].instance, parameter: 0, to: 1)) }
            player.run([64])
        }
        player.run([1024])
        #expect(player.heard("out_1").last == Float(count))
    }

    @Test(
        "A parameter that follows a control moves within 256 frames, from one multiple of them on",
        arguments: [1, 100, 128])
    func driven(_ block: Int) throws {
        let graph = try makeGraph(
            ["mic -> a", "a -> out", "b.count -> a.gain"],
            [node("mic", "capture"), node("a", "latent"), node("out", "playback"), node("b", "teller")])
        let (player, _) = try started(graph)
        player.run(Array(repeating: block, count: 1024 / block))
        let heard = player.heard("out_1")
        #expect(heard[..<256].allSatisfy { $0 == 1 })
        #expect(abs(heard[256 + 128] - 1.5) < 0.02)
        #expect(heard[512...].allSatisfy { $0 == 2 })
        #expect(Signal.largestStep(heard) < 0.0041)
    }

    // MARK: Replacing the schedule

    @Test("A graph that is replaced while it runs goes on: no gap, and nodes that stay keep their state")
    func replaced() throws {
        let graph = try chain(["latency": .integer(700)])
        let (player, node) = try started(graph)
        let signal = Signal.noise(frames: 20_000, seed: 5)
        player.feed("mic_1", signal)
        #expect(player.engine.set(node, parameter: 0, to: 1))
        for round in 0..<50 {
            player.run([64, 100, 3])
            var next = graph
            if round % 2 == 0 {
                // One more node, whose output goes nowhere.
                let other = try chain().nodes[1]
                next.nodes.append(other)
                next.links.append(
                    ResolvedGraph.Link(fromNode: 0, fromPort: 0, toNode: 3, target: .port(0), kind: VG_AUDIO_PORT))
            }
            try player.publish(next)
        }
        let heard = player.heard("out_1")
        let expected = Signal.constant(0, frames: 700) + signal[..<(heard.count - 700)]
        let same = heard == Array(expected)
        #expect(same)
        #expect(player.engine.liveSchedules <= 2)
    }

    @Test("A parameter on its way does not hang when its node is away for a while")
    func comesBack() throws {
        let graph = try chain()
        let (player, node) = try started(graph)
        #expect(player.engine.set(node, parameter: 0, to: 0))
        player.run([100])
        var without = graph
        without.links = [
            ResolvedGraph.Link(fromNode: 0, fromPort: 0, toNode: 1, target: .port(0), kind: VG_AUDIO_PORT)
        ]
        without.nodes = [graph.nodes[0], graph.nodes[2]]
        try player.publish(without)
        player.run([100, 1000])
        try player.publish(graph)
        player.run([100, 100])
        #expect(player.heard("out_1").suffix(200).allSatisfy { $0 == 0 })
    }

    @Test("A parameter that followed a control holds its value when the control is unlinked")
    func unlinked() throws {
        let graph = try makeGraph(
            ["mic -> a", "a -> out", "b.count -> a.gain"],
            [node("mic", "capture"), node("a", "latent"), node("out", "playback"), node("b", "teller")])
        let (player, node) = try started(graph)
        player.run([100, 200])
        var without = graph
        without.links.removeAll { $0.portKind == VG_CONTROL_PORT }
        try player.publish(without)
        // The move comes to its end.
        player.run([100, 300])
        #expect(player.heard("out_1").suffix(150).allSatisfy { $0 == 2 })
        #expect(player.engine.set(node, parameter: 0, to: 1))
        player.run([480, 10])
        #expect(Signal.largestStep(player.heard("out_1")) < 0.0101)
        #expect(player.heard("out_1").last == 1)
    }

    @Test("Over 1000 replacements nothing is left behind", arguments: [1, 0, 3])
    func leaks(cyclesBetween: Int) throws {
        let alive = Counter()
        let player = GraphPlayer(maxBlock: 64)
        weak var first: NodeInstance?
        try {
            let kept = try chain()
            first = kept.nodes[1].instance
            for round in 0..<1000 {
                var next = kept
                let other = try chain(["alive": alive.setting]).nodes[1]
                next.nodes.append(other)
                next.links.append(
                    ResolvedGraph.Link(fromNode: 0, fromPort: 0, toNode: 3, target: .port(0), kind: VG_AUDIO_PORT))
                try player.publish(next)
                // A change of a node that may never be played.
                #expect(player.engine.set(other.instance, parameter: 0, to: 0.5) || cyclesBetween == 0)
                player.run(Array(repeating: 64, count: cyclesBetween == 0 && round % 300 == 299 ? 1 : cyclesBetween))
            }
            #expect(alive.count >= 1)
            try player.publish(kept)
        }()
        player.run([64])
        player.engine.collect()
        #expect(player.engine.liveSchedules == 1)
        #expect(alive.count == 0)
        #expect(first != nil)
        player.engine.publish(try Compiler.compile(ResolvedGraph(), rate: 48000, maxBlock: 64))
        player.run([64])
        player.engine.collect()
        #expect(first == nil)
    }

    @Test("What was published without ever being played goes with the engine")
    func neverPlayed() throws {
        let alive = Counter()
        try {
            let engine = Engine()
            for _ in 0..<10 {
                let graph = try chain(["alive": alive.setting])
                engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: 64))
                #expect(engine.set(graph.nodes[1].instance, parameter: 0, to: 0))
            }
            #expect(alive.count == 10)
        }()
        #expect(alive.count == 0)
    }

    // MARK: What is counted and told

    @Test("Notes arrive in order with node and position; those that do not fit are counted")
    func notes() throws {
        let graph = try makeGraph(
            ["a -> out"], [node("out", "playback"), node("a", "teller", ["notes": .integer(3)])])
        let player = GraphPlayer(maxBlock: 64)
        try player.publish(graph)
        player.run([64, 10])
        for (position, number) in [(0, 0), (0, 1), (0, 2), (64, 0), (64, 1), (64, 2)] {
            let notice = try #require(player.engine.nextNotice())
            #expect(notice.node == graph.nodes[1].instance.number && notice.kind == VG_NOTICE_EVENT)
            #expect(notice.position == UInt64(position) && notice.value == Double(number))
        }
        #expect(player.engine.nextNotice() == nil)
        player.run(Array(repeating: 1, count: 400))
        var taken = 0
        while player.engine.nextNotice() != nil { taken += 1 }
        #expect(taken == 1024)
        #expect(player.engine.counters.lostNotes == 1200 - 1024)
    }

    @Test("MIDI that does not fit into a block is counted")
    func lostMIDI() throws {
        let graph = try makeGraph(
            ["a -> out", "a.midi -> keys"],
            [node("out", "playback"), node("keys", "midi-playback"), node("a", "teller", ["events": .integer(2148)])])
        let player = GraphPlayer(maxBlock: 64)
        try player.publish(graph)
        player.run([64, 64])
        #expect(player.ports["keys_1"]?.events.count == 2 * 2048)
        #expect(player.engine.counters.lostMIDI == 2 * (2148 - 2048))
    }

    @Test("A block longer than expected is silence, is counted, and time goes on")
    func oversized() throws {
        let graph = try makeGraph(
            ["a -> out", "a.midi -> keys"],
            [node("out", "playback"), node("keys", "midi-playback"), node("a", "teller", ["events": .integer(2)])])
        let player = GraphPlayer(maxBlock: 128)
        let short = try Compiler.compile(graph, rate: 48000, maxBlock: 64)
        player.publish(short)
        player.run([64, 128, 64])
        #expect(player.heard("out_1").map { $0 == 0 } == (0..<256).map { (64..<192).contains($0) })
        #expect(player.ports["keys_1"]?.events.map(\.frame) == [0, 0, 192, 192])
        #expect(player.engine.counters.oversizedBlocks == 1)
        #expect(player.engine.counters.position == 256)
    }

    @Test("A block of no frames does nothing")
    func empty() throws {
        let graph = try makeGraph(
            ["a -> out", "a.midi -> keys"],
            [node("out", "playback"), node("keys", "midi-playback"), node("a", "teller", ["events": .integer(2)])])
        let player = GraphPlayer(maxBlock: 64)
        try player.publish(graph)
        player.run([64, 0, 64])
        #expect(player.ports["keys_1"]?.events.map(\.frame) == [0, 0, 64, 64])
        #expect(player.engine.counters.oversizedBlocks == 0)
        #expect(player.engine.counters.position == 128)
    }

    @Test("An engine without a graph gives silence")
    func nothing() {
        let player = GraphPlayer(maxBlock: 64)
        player.run([64, 64])
        #expect(player.engine.counters.cycles == 2)
    }

    @Test("Denormals are flushed on the thread of a driver, whatever they are elsewhere", arguments: [true, false])
    func denormals(isOffline: Bool) async throws {
        let graph = try makeGraph(
            ["a -> out"], [node("out", "playback"), node("a", "teller", ["notes": .integer(1)])])
        let schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 64)
        let engine = Engine()
        let offline = OfflineDriver(rate: 48000, maxBlock: 64)
        let driver: any Driver = isOffline ? offline : TimerDriver(name: "timer", rate: 48000, block: 64)
        schedule.setHandles(try driver.register(schedule.externals))
        engine.publish(schedule)
        defaultArithmetic()  // which a new thread inherits
        try driver.start(engine.audio) { _ in }
        if isOffline {
            defaultArithmetic()
            offline.process(frames: 64)
        }
        try await eventually("a cycle") { engine.counters.cycles > 0 }
        driver.stop()
        #expect(engine.nextNotice()?.text != nil)
    }

    @Test("Where nobody flushes them there are denormals: the test above can fail")
    func withDenormals() throws {
        let graph = try makeGraph(["a -> out"], [node("out", "playback"), node("a", "teller", ["notes": .integer(1)])])
        let engine = Engine()
        engine.publish(try Compiler.compile(graph, rate: 48000, maxBlock: 64))
        let audio = engine.audio
        defaultArithmetic()
        audio.run(audio.begin(), frames: 64, clock: 0, flags: 0, transport: vg_transport())
        let notice = try #require(engine.nextNotice())
        #expect(notice.text == nil)
    }
}

/// Denormals as a program finds them at its start, on the calling thread.
private func defaultArithmetic() {
    fesetenv(UnsafePointer<fenv_t>(bitPattern: -1))  // FE_DFL_ENV, a macro with a cast
}
