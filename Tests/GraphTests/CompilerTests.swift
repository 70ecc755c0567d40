// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import Graph

@Suite("Compiler", .timeLimit(.minutes(2)))
struct CompilerTests {
    /// Every block plan but the single frames, with blocks no longer than `longest`.
    static let plans: [BlockPlan] = [.fixed(16), .fixed(63), .fixed(128), .random(max: 128, seed: 5)]

    @Test("Every node runs once, after all that it reads from; what closes a loop takes its input after all")
    func order() throws {
        for seed in 1...200 {
            let spec = Specification.random(seed: UInt64(seed), maxBlock: 32, failing: false)
            let graph = try spec.graph(maxBlock: 32)
            let ordering = try Graph.order(graph)
            var processed = [Int](repeating: -1, count: graph.nodes.count)
            var absorbed = processed
            for (time, turn) in ordering.turns.enumerated() {
                switch turn {
                case .process(let node):
                    #expect(processed[node] < 0)
                    processed[node] = time
                case .absorb(let node):
                    #expect(absorbed[node] < 0)
                    absorbed[node] = time
                }
            }
            #expect(processed.allSatisfy { $0 >= 0 })
            for link in spec.links {
                let reads = spec.nodes[link.to].kind == .echo ? absorbed[link.to] : processed[link.to]
                #expect(processed[link.from] < reads, "seed \(seed): n\(link.from) -> n\(link.to)")
            }
        }
    }

    @Test("A loop without a delay is refused, with its nodes in order")
    func cycle() throws {
        var spec = Specification()
        let nodes = (0..<4).map { _ in spec.add(.init(kind: .unit, ins: 1, outs: 1)) }
        spec.link(nodes[0], to: nodes[1])
        for (from, to) in [(1, 3), (3, 2), (2, 1)] { spec.link(nodes[from], to: nodes[to]) }
        let graph = try spec.graph(maxBlock: 64)
        let error = #expect(throws: CompileError.self) { try Compiler.compile(graph, rate: 48000, maxBlock: 64) }
        guard case .cycle(let names) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        let start = try #require(names.firstIndex(of: "n1"))
        #expect(names[start...] + names[..<start] == ["n1", "n3", "n2"])
    }

    //  mic -> sum -> out
    //          ^  \
    //          echo
    @Test("A loop returns what went out, exactly as late as its delay says", arguments: plans)
    func feedback(plan: BlockPlan) throws {
        let graph = try makeGraph(
            ["mic -> sum", "sum -> out", "sum -> echo", "echo -> sum -6.020599913279624"],
            [
                node("mic", "capture"), node("sum", "latent"), node("out", "playback"),
                node("echo", "echo", ["frames": .integer(200)]),
            ])
        let player = GraphPlayer(maxBlock: 128)
        try player.publish(graph)
        player.feed("mic_1", Signal.impulse(at: 3, frames: 4))
        player.run(plan.sizes(700))
        let echoes = player.heard("out_1").enumerated().filter { $0.element != 0 }
        #expect(echoes.map(\.offset) == [3, 203, 403, 603])
        for (index, echo) in echoes.enumerated() { #expect(abs(echo.element - [1, 0.5, 0.25, 0.125][index]) < 1e-6) }
    }

    //  mic -> late (L) -> sum -> out
    //                      ^  \
    //                      echo
    @Test("Latency before a loop does not make the loop longer")
    func feedbackBehindLatency() throws {
        let graph = try makeGraph(
            ["mic -> late", "late -> sum", "sum -> out", "sum -> echo", "echo -> sum -6.020599913279624"],
            [
                node("mic", "capture"), node("late", "latent", ["latency": .integer(37)]), node("sum", "latent"),
                node("out", "playback"), node("echo", "echo", ["frames": .integer(200)]),
            ])
        let player = GraphPlayer(maxBlock: 128)
        try player.publish(graph)
        player.feed("mic_1", [1])
        player.run(BlockPlan.fixed(128).sizes(500))
        #expect(player.heard("out_1").enumerated().filter { $0.element != 0 }.map(\.offset) == [37, 237, 437])
    }

    @Test("A loop whose delay cannot be prepared is open there, and the rest runs")
    func openLoop() throws {
        let graph = try makeGraph(
            ["mic -> sum", "sum -> out", "sum -> echo", "echo -> sum"],
            [
                node("mic", "capture"), node("sum", "latent"), node("out", "playback"),
                node("echo", "echo", ["frames": .integer(200), "fail": .bool(true)]),
            ])
        let player = GraphPlayer(maxBlock: 128)
        try player.publish(graph)
        let signal = Signal.noise(frames: 500, seed: 1)
        player.feed("mic_1", signal)
        player.run(BlockPlan.fixed(100).sizes(500))
        #expect(player.heard("out_1") == signal)
    }

    //  mic -----------------------> out
    //    \-> a -> b -> x(-2) ------/
    //     \-> c -> d -------------/
    @Test("A dry path and latent ones cancel to the last sample", arguments: plans, [1, 2, 64, 333])
    func latency(plan: BlockPlan, latency: Int) throws {
        let graph = try makeGraph(
            ["mic -> out", "mic -> a", "a -> b", "b -> minus", "minus -> out", "mic -> c", "c -> d", "d -> out"],
            [
                node("mic", "capture"), node("out", "playback"),
                node("a", "latent", ["latency": .integer(Int64(latency))]),
                node("b", "latent", ["latency": .integer(7)]), node("minus", "latent", ["gain": .number(-2)]),
                node("c", "latent", ["latency": .integer(3)]), node("d", "latent"),
            ])
        let player = GraphPlayer(maxBlock: 128)
        try player.publish(graph)
        player.feed("mic_1", Signal.noise(frames: 6000, seed: 9))
        player.run(plan.sizes(3000))
        #expect(player.heard("out_1").allSatisfy { $0 == 0 })
        // And not because nothing came through.
        #expect(player.engine.set(graph.nodes[4].instance, parameter: 0, to: 0))
        player.run(plan.sizes(3000))
        #expect(Signal.rms(player.heard("out_1").suffix(2000)) > 0.5)
    }

    @Test("Whatever ends in one input adds up, with its gains", arguments: plans)
    func fanIn(plan: BlockPlan) throws {
        var spec = Specification()
        let out = spec.add(.init(kind: .playback, ins: 1))
        var expected = [Float](repeating: 0, count: 900)
        let player = GraphPlayer(maxBlock: 128)
        for source in 0..<40 {
            let mic = spec.add(.init(kind: .capture, outs: 1))
            let gain = Float(source % 5) * 0.25 - 0.5
            spec.link(mic, to: out, gain: gain)
            let signal = Signal.noise(frames: 900, seed: UInt64(source))
            for frame in 0..<900 { expected[frame] += signal[frame] * gain }
        }
        try player.publish(try spec.graph(maxBlock: 128))
        for source in 0..<40 { player.feed("n\(source + 1)_1", Signal.noise(frames: 900, seed: UInt64(source))) }
        player.run(plan.sizes(900))
        #expect(player.heard("n0_1") == expected)
    }

    @Test("A long chain needs one buffer in place, two otherwise", arguments: [true, false])
    func reuse(inPlace: Bool) throws {
        var spec = Specification()
        var last = spec.add(.init(kind: .capture, outs: 1))
        for _ in 0..<2000 {
            let next = spec.add(.init(kind: inPlace ? .inPlace : .unit, ins: 1, outs: 1, seed: 7))
            spec.link(last, to: next)
            last = next
        }
        let schedule = try Compiler.compile(try spec.graph(maxBlock: 64), rate: 48000, maxBlock: 64, verifying: true)
        #expect(schedule.bufferCount == (inPlace ? 1 : 2))
        #expect(schedule.stepCount == 2000)
    }

    @Test("A value that is needed later keeps its buffer; a tree needs as many as are alive at once")
    func lifetimes() throws {
        // A balanced tree of sums: depth first, one buffer a level and one for the result.
        var spec = Specification()
        func tree(_ depth: Int, _ spec: inout Specification) -> Int {
            let sum = spec.add(.init(kind: .unit, ins: depth == 0 ? 0 : 2, outs: 1, seed: depth + 1))
            if depth > 0 {
                for input in 0..<2 { spec.link(tree(depth - 1, &spec), to: sum, input) }
            }
            return sum
        }
        let top = tree(8, &spec)
        let out = spec.add(.init(kind: .playback, ins: 1))
        spec.link(top, to: out)
        let schedule = try Compiler.compile(try spec.graph(maxBlock: 64), rate: 48000, maxBlock: 64, verifying: true)
        #expect(schedule.stepCount == 511)
        #expect(schedule.bufferCount <= 10)
    }

    @Test("A node writes the driver's buffer itself when nothing is to be added")
    func direct() throws {
        var spec = Specification()
        let mic = spec.add(.init(kind: .capture, outs: 1))
        let unit = spec.add(.init(kind: .unit, ins: 1, outs: 1))
        let out = spec.add(.init(kind: .playback, ins: 2))
        spec.link(mic, to: unit)
        spec.link(unit, to: out, 0)
        spec.link(unit, to: out, 1)
        let schedule = try Compiler.compile(try spec.graph(maxBlock: 64), rate: 48000, maxBlock: 64, verifying: true)
        // The unit, and one copy for the second port.
        #expect(schedule.stepCount == 2)
        #expect(schedule.bufferCount == 0)
    }

    @Test("A node that cannot be prepared passes its audio on, or is silent where the counts differ")
    func degraded() throws {
        var spec = Specification()
        let mic = spec.add(.init(kind: .capture, outs: 1))
        let through = spec.add(.init(kind: .unit, ins: 1, outs: 1, latency: 50, fails: true))
        let wider = spec.add(.init(kind: .unit, ins: 1, outs: 2, fails: true))
        let out = spec.add(.init(kind: .playback, ins: 2))
        spec.link(mic, to: through)
        spec.link(mic, to: wider)
        spec.link(through, to: out, 0, gain: 0.5)
        spec.link(wider, to: out, 1)
        let player = GraphPlayer(maxBlock: 128)
        try player.publish(try spec.graph(maxBlock: 128))
        let signal = Signal.noise(frames: 500, seed: 4)
        player.feed("n0_1", signal)
        player.run(BlockPlan.fixed(128).sizes(500))
        #expect(player.heard("n3_1") == signal.map { $0 * 0.5 })
        #expect(player.heard("n3_2") == Signal.constant(0, frames: 500))
    }

    @Test("The control of a node that cannot be prepared is what its port says for that, so that a gate stays closed")
    func closedGate() throws {
        var spec = Specification()
        let gate = spec.add(.init(kind: .unit, controlOuts: 1, fails: true))
        let unit = spec.add(.init(kind: .unit, outs: 1, controls: 1))
        let out = spec.add(.init(kind: .playback, ins: 1))
        spec.links.append(.init(from: gate, output: 0, to: unit, input: 0, kind: VG_CONTROL_PORT, gain: 1))
        spec.link(unit, to: out)
        let player = GraphPlayer(maxBlock: 64)
        try player.publish(try spec.graph(maxBlock: 64))
        player.run([64])
        // A unit of which nothing but its control is not 0.
        let control: Float = 0.125
        #expect(player.heard("n2_1").first == control * 0.0625)
    }

    @Test("Bypassed nodes with gains in a row pass the verifier")
    func bypassedGains() throws {
        var spec = Specification()
        var last = spec.add(.init(kind: .capture, outs: 1))
        for gain: Float in [0.1, 0.3, 0.7, 1.1, 0.9] {
            let next = spec.add(.init(kind: .unit, ins: 1, outs: 1, fails: true))
            spec.link(last, to: next, gain: gain)
            last = next
        }
        let out = spec.add(.init(kind: .playback, ins: 1))
        spec.link(last, to: out, gain: 0.77)
        _ = try Compiler.compile(try spec.graph(maxBlock: 64), rate: 48000, maxBlock: 64, verifying: true)
    }

    @Test("A port that the driver does not bind takes nothing else down")
    func unbound() throws {
        let graph = try makeGraph(
            ["a -> lost", "b -> out"],
            [node("lost", "playback"), node("a", "teller"), node("b", "latent"), node("out", "playback")])
        let schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 64)
        let engine = Engine()
        engine.publish(schedule)
        var heard = [Float](repeating: 1, count: 64)
        for _ in 0..<10 {
            let active = engine.audio.begin()
            heard.withUnsafeMutableBufferPointer { buffer in
                active.bind(1, buffer.baseAddress!)
                engine.audio.run(active, frames: 64, clock: 0, flags: 0, transport: vg_transport())
            }
            #expect(heard.allSatisfy { $0 == 0 })
        }
    }
}
