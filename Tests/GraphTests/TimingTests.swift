// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Testing

@testable import Graph

@Suite("Times of nodes and cycles", .timeLimit(.minutes(2)))
struct TimingTests {
    /// Nodes "n0", "n1"... of these types, one after the other.
    private func chain(_ types: [String]) throws -> ResolvedGraph {
        let nodes = types.enumerated().map { node("n\($0)", $1) }
        let links = types.indices.dropFirst().map { "n\($0 - 1) -> n\($0)" }
        return try makeGraph(links + ["n\(types.count - 1) -> out"], nodes + [node("out", "playback")])
    }

    private func player(_ graph: ResolvedGraph) throws -> GraphPlayer {
        let player = GraphPlayer(maxBlock: 64)
        try player.publish(graph)
        return player
    }

    /// Runs one block in which a node takes `milliseconds`; returns that block's report.
    private func slowBlock(_ player: GraphPlayer, _ node: NodeInstance, milliseconds: Float) throws -> CycleReport {
        let position = UInt64(player.position)
        #expect(player.engine.set(node, parameter: 0, to: milliseconds))
        player.cycle(64)
        #expect(player.engine.set(node, parameter: 0, to: 0))
        return try #require(player.engine.takeLateCycles().first { $0.position == position })
    }

    // MARK: Segments

    private func segments(_ types: [String]) throws -> [Segment] {
        let schedule = try Compiler.compile(try chain(types), rate: 48000, maxBlock: 64)
        return schedule.segments
    }

    @Test("A node has a segment of its own, light ones share one")
    func division() throws {
        #expect(
            try segments(["light", "light", "slow", "slow", "light"]) == [
                Segment(steps: 0..<2, node: nil), Segment(steps: 2..<3, node: 2), Segment(steps: 3..<4, node: 3),
                Segment(steps: 4..<5, node: 4),
            ])
        let many = try segments(Array(repeating: "light", count: 70))
        #expect(many.map(\.steps) == [0..<32, 32..<64, 64..<70])
        #expect(try segments(["slow"]) == [Segment(steps: 0..<1, node: 0)])
    }

    @Test("What is summed for a node is in its segment, and every step is in one")
    func sums() throws {
        //  a, b -> sum -> c -> out, at half
        let graph = try makeGraph(
            ["a -> c", "b -> c", "c -> out 0.5"],
            [node("a", "slow"), node("b", "light"), node("c", "slow"), node("out", "playback")])
        let schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 64)
        #expect(schedule.segments.map(\.node) == [0, 1, 2, nil])
        #expect(schedule.segments.map(\.steps.count) == [1, 1, 2, 1])
        for seed in 0..<50 {
            let random = try Specification.random(seed: UInt64(seed), maxBlock: 64).graph(maxBlock: 64)
            let schedule = try Compiler.compile(random, rate: 48000, maxBlock: 64)
            #expect(schedule.segments.flatMap { Array($0.steps) } == Array(0..<schedule.stepCount))
        }
    }

    // MARK: Times

    @Test("Recent times follow what a node takes now, the mean what it took since the start")
    func recent() {
        let times = TimeStatistics()
        #expect(times.recent == (0, 0))
        for _ in 0..<1000 { times.add(100) }
        times.add(900)
        #expect(times.recent.maximum == 900 && abs(times.recent.average - times.average) < 0.01)
        times.roll()
        for _ in 0..<10 { times.add(10) }
        times.roll()
        // A window without a block of this node is none.
        times.roll()
        for _ in 0..<10 { times.add(20) }
        #expect(times.recent == (15, 20))
        #expect(times.average > 90 && times.maximum == 900)
    }

    @Test("The recent times of a node that has become slow are those, and it is so for no longer than it lasts")
    func slowNow() throws {
        let graph = try chain(["slow", "slow"])
        let player = try player(graph)
        let node = graph.nodes[0].instance
        func recent() -> Double { player.engine.timings.first { $0.node == "n0" }?.recent ?? -1 }
        func run(until condition: () -> Bool) {
            let end = ContinuousClock.now + .seconds(20)
            while !condition(), ContinuousClock.now < end { player.run([64]) }
        }
        // So many that the mean since the start says nothing of now for a long time.
        for _ in 0..<20 {
            player.run(Array(repeating: 64, count: 100))
            player.engine.collect()
        }
        #expect(player.engine.set(node, parameter: 0, to: 5))
        run { recent() > 0.004 }
        #expect(recent() > 0.004)
        #expect(try #require(player.engine.timings.first { $0.node == "n0" }).average < 0.002)
        #expect(player.engine.set(node, parameter: 0, to: 0))
        run { recent() < 0.001 }
        let timing = try #require(player.engine.timings.first { $0.node == "n0" })
        #expect(timing.recent < 0.001 && timing.recentMaximum <= timing.maximum && timing.maximum > 0.004)
    }

    @Test("A node is timed in every block, light ones that share a segment in one of 31")
    func everyBlock() throws {
        let player = try player(try chain(["slow", "light", "light", "slow"]))
        player.run(Array(repeating: 64, count: 62))
        let timings = player.engine.timings
        #expect(timings.map(\.node) == ["n0", "n1", "n2", "n3"])
        #expect(timings.map(\.count) == [62, 2, 2, 62])
        for timing in timings {
            #expect(timing.minimum > 0 && timing.minimum <= timing.average && timing.average <= timing.maximum)
            #expect(timing.minimum <= timing.p99 && timing.p99 <= timing.maximum)
        }
        let counters = player.engine.counters
        #expect(counters.cycles == 62 && counters.position == 64 * 62 && counters.lostRecords == 0)
        #expect(counters.longestTicks > 0 && counters.longestTicks <= counters.busyTicks)
    }

    @Test("The times of a node that stays go on in the next schedule, those of one that went do not")
    func acrossSchedules() throws {
        let first = try chain(["slow", "slow"])
        let player = try player(first)
        player.run(Array(repeating: 64, count: 10))
        var second = first
        second.links.removeAll { $0.fromNode == 0 }
        second.nodes.remove(at: 0)
        for index in second.links.indices {
            second.links[index].fromNode -= 1
            second.links[index].toNode -= 1
        }
        try player.publish(second)
        player.run(Array(repeating: 64, count: 10))
        #expect(player.engine.timings.map(\.node) == ["n1"])
        #expect(player.engine.timings.map(\.count) == [20])
        #expect(player.engine.liveSchedules == 1)
    }

    @Test("Shares of the times are found to about a tenth")
    func quantiles() {
        let statistics = TimeStatistics()
        #expect(statistics.quantile(0.99) == 0 && statistics.average == 0)
        for ticks: UInt32 in 1...10_000 { statistics.add(ticks) }
        #expect(abs(statistics.quantile(0.5) / 5000 - 1) < 0.13)
        #expect(abs(statistics.quantile(0.99) / 9900 - 1) < 0.13)
        #expect(statistics.quantile(1) == 10_000 && statistics.quantile(0) >= 1)
        #expect(statistics.minimum == 1 && statistics.maximum == 10_000 && statistics.average == 5000.5)
        statistics.add(.max)
        #expect(statistics.quantile(1) == Double(UInt32.max))
    }

    // MARK: Late cycles

    @Test("A node that takes longer than the block is named, with what it usually takes", arguments: [0, 1, 2, 3])
    func slowNode(index: Int) throws {
        let graph = try chain(Array(repeating: "slow", count: 4))
        let player = try player(graph)
        player.run(Array(repeating: 64, count: 100))
        let report = try slowBlock(player, graph.nodes[index].instance, milliseconds: 20)
        #expect(report.isOverrun && report.frames == 64)
        #expect(report.busy >= 0.02 && abs(report.period - 64.0 / 48000) < 1e-4)
        let part = try #require(report.parts.first)
        #expect(part.nodes == ["n\(index)"])
        #expect(part.took >= 0.0199 && part.took <= report.busy)
        #expect(part.excess > 0.01 && part.average < part.took && part.p99 < part.took)
        #expect(player.engine.timings[index].maximum >= 0.0199)
        #expect(player.engine.takeLateCycles().isEmpty)
    }

    @Test("Of light nodes that share a segment all are named, and the guilty one where each was timed")
    func lightNode() throws {
        let graph = try chain(["slow", "light", "light"])
        let player = try player(graph)
        player.run(Array(repeating: 64, count: 20))
        #expect(try slowBlock(player, graph.nodes[2].instance, milliseconds: 20).parts.first?.nodes == ["n1", "n2"])
        player.run(Array(repeating: 64, count: 10))
        // The 32nd block.
        #expect(try slowBlock(player, graph.nodes[2].instance, milliseconds: 20).parts.first?.nodes == ["n2"])
    }

    @Test("A cycle that is called late is told from one that works long")
    func calledLate() throws {
        let graph = try chain(["slow"])
        let player = try player(graph)
        player.run([64, 64])
        _ = try slowBlock(player, graph.nodes[0].instance, milliseconds: 20)
        // What follows on an overrun at once is not late.
        player.cycle(64)
        let clock = vg_nanoseconds()
        while vg_nanoseconds() < clock + 20_000_000 {}
        let position = UInt64(player.position)
        player.cycle(64)
        let late = player.engine.takeLateCycles()
        let report = try #require(late.first { $0.position == position })
        #expect(report.isCalledLate && report.lateness > 0.018 && report.lateness < report.busy + 5)
        #expect(report.busy < report.lateness)
    }

    @Test("After a pause that was meant, or for another format, nobody is late")
    func pauses() throws {
        func pause() {
            let clock = vg_nanoseconds()
            while vg_nanoseconds() < clock + 20_000_000 {}
        }
        let graph = try chain(["slow"])
        let player = try player(graph)
        player.run([64, 64])
        pause()
        player.engine.audio.resume()
        let position = UInt64(player.position)
        player.cycle(64)
        #expect(player.engine.takeLateCycles().allSatisfy { $0.position != position || !$0.isCalledLate })
        pause()
        let other = try Compiler.compile(graph, rate: 44100, maxBlock: 64)
        player.publish(other)
        player.cycle(64)
        #expect(player.engine.takeLateCycles().allSatisfy { $0.position != position + 64 || !$0.isCalledLate })
    }

    @Test("The frames that the driver's clock went on without us are counted")
    func skipped() throws {
        let player = try player(try chain(["slow"]))
        let engine = player.engine
        func cycle(_ clock: UInt64, delay: UInt32 = 0, flags: UInt32 = 0) {
            let schedule = engine.audio.begin()
            engine.audio.run(
                schedule, frames: 64, clock: clock, flags: flags, transport: vg_transport(), delay: delay)
        }
        cycle(0)
        cycle(64)
        let clock = vg_nanoseconds()
        while vg_nanoseconds() < clock + 10_000_000 {}
        cycle(640, delay: 700)
        let report = try #require(engine.takeLateCycles().last)
        #expect(report.skipped == 512 && report.position == 128 && report.delay == 0.0007)
        #expect(engine.recentCycles.ended == report.ended)
        // Nodes are told of them with the block that comes next, and not again.
        let told = engine.audio.state.pointee.cycle
        #expect(told.pointee.skipped == 512)
        cycle(704)
        #expect(told.pointee.skipped == 0)
    }

    @Test("An offline run has no late cycles, but times")
    func offline() throws {
        let graph = try chain(["slow"])
        let engine = try player(graph).engine
        #expect(engine.set(graph.nodes[0].instance, parameter: 0, to: 5))
        for block in 0..<3 {
            let schedule = engine.audio.begin()
            engine.audio.run(
                schedule, frames: 64, clock: UInt64(block) * 64, flags: UInt32(VG_CYCLE_OFFLINE),
                transport: vg_transport())
        }
        #expect(engine.takeLateCycles().isEmpty && engine.recentCycles.slowest == nil)
        #expect(engine.timings.first?.count == 3)
        #expect(engine.timings.first.map { $0.minimum >= 0.0049 } == true)
    }

    @Test("A control side that does not keep up loses ordinary records first, and their number is told")
    func overflow() throws {
        let graph = try chain(["slow"])
        let player = try player(graph)
        // Two lines of 64 bytes each.
        let ordinary = 512 * 1024 / 128
        player.run(Array(repeating: 64, count: ordinary))
        let lost = player.engine.counters.lostRecords
        #expect(lost > 0)
        #expect(player.engine.set(graph.nodes[0].instance, parameter: 0, to: 20))
        let position = UInt64(player.position)
        player.cycle(64)
        #expect(player.engine.counters.lostRecords == lost)
        let report = player.engine.takeLateCycles().first { $0.position == position }
        #expect(report?.parts.first?.nodes == ["n0"])
    }

    @Test("Of too many late cycles the rest is counted")
    func tooManyLate() throws {
        let graph = try chain(["slow"])
        let player = try player(graph)
        #expect(player.engine.set(graph.nodes[0].instance, parameter: 0, to: 2))
        player.run(Array(repeating: 64, count: CycleMonitor.kept + 10))
        #expect(player.engine.takeLateCycles().count == CycleMonitor.kept)
        #expect(player.engine.counters.lostRecords == 10)
        player.cycle(64)
        #expect(player.engine.takeLateCycles().count == 1)
    }

    @Test("The slowest of the last cycles is kept though it was in time")
    func slowest() throws {
        let graph = try chain(["slow", "slow"])
        let player = try player(graph)
        player.run(Array(repeating: 64, count: 10))
        let report = try slowBlock(player, graph.nodes[1].instance, milliseconds: 50)
        player.run([64, 64])
        player.engine.collect()
        #expect(player.engine.recentCycles.slowest == report)
        player.run(Array(repeating: 64, count: 64))
        player.engine.collect()
        #expect(player.engine.recentCycles.slowest?.position != report.position)
    }
}
