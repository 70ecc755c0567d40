// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import NodeKit
import Synchronization
import TestSupport
import Testing

@testable import Graph

@Suite("Schedule swap", .timeLimit(.minutes(10))) struct ScheduleSwapRaceTests {
    //  mic -> kept -> out
    //    \-> other        (another one in each schedule)
    private func graph(_ kept: ResolvedGraph, _ alive: Counter) throws -> ResolvedGraph {
        var next = kept
        let other = try makeGraph(
            ["mic -> other", "other -> out"],
            [node("mic", "capture"), node("other", "latent", ["alive": alive.setting]), node("out", "playback")],
            maxBlock: 64
        ).nodes[1]
        next.nodes.append(other)
        next.links.append(
            ResolvedGraph.Link(fromNode: 0, fromPort: 0, toNode: 3, target: .port(0), kind: VG_AUDIO_PORT))
        return next
    }

    private func keptGraph() throws -> ResolvedGraph {
        try makeGraph(
            ["mic -> kept", "kept -> out"],
            [node("mic", "capture"), node("kept", "latent"), node("out", "playback")], maxBlock: 64)
    }

    @Test("Schedules and parameters change as fast as they can: no sample is lost and nothing is left behind")
    func swap() throws {
        let engine = Engine()
        let alive = Counter()
        let kept = try keptGraph()
        let loop = AudioLoop(engine, signal: 1) { output, frame in output[frame] == 1 }
        var fault: (any Error)?
        together({ loop.run() }) {
            defer { loop.ended.store(true, ordering: .releasing) }
            do {
                for round in 0..<stressed(300) {
                    let next = try graph(kept, alive)
                    engine.publish(try Compiler.compile(next, rate: 48000, maxBlock: 64, verifying: false))
                    let other = next.nodes[3].instance
                    for value in 0..<4 { _ = engine.set(other, parameter: 0, to: Float(value % 2)) }
                    _ = engine.set(other, parameter: 1, to: Float(round % 3))
                    _ = engine.counters
                    // Now and then the audio thread gets to play what it was given.
                    if round % 7 == 0 {
                        _ = engine.timings
                        _ = engine.takeLateCycles()
                        loop.wait(cycles: 3)
                        engine.collect()
                    }
                }
                engine.publish(try Compiler.compile(kept, rate: 48000, maxBlock: 64))
                loop.wait(cycles: 3)
            } catch { fault = error }
        }
        engine.collect()
        #expect(fault == nil)
        #expect(loop.wrong.load(ordering: .relaxed) == 0)
        #expect(engine.liveSchedules == 1)
        #expect(alive.count == 0)
    }

    @Test("One thread replaces, another sets, a third reads, on a driver's own thread")
    func driver() async throws {
        let engine = Engine()
        let alive = Counter()
        let kept = try keptGraph()
        let driver = TimerDriver(name: "race", rate: 192_000, block: 32)
        let first = try Compiler.compile(kept, rate: 192_000, maxBlock: 64)
        let handles = try driver.register(first.externals)
        first.setHandles(handles)
        engine.publish(first)
        try driver.start(engine.audio) { _ in }
        let instance = kept.nodes[1].instance
        let ended = Atomic(false)
        let setter: @Sendable () -> Void = {
            var value: Float = 0
            while !ended.load(ordering: .acquiring) {
                _ = engine.set(instance, parameter: 0, to: value)
                value = value < 1 ? value + 0.125 : 0
                _ = engine.counters
                while engine.nextNotice() != nil {}
                sched_yield()
            }
        }
        var fault: (any Error)?
        together(setter) {
            defer { ended.store(true, ordering: .releasing) }
            do {
                for _ in 0..<stressed(300) {
                    let schedule = try Compiler.compile(
                        try graph(kept, alive), rate: 192_000, maxBlock: 64, verifying: false)
                    schedule.setHandles(handles)
                    engine.publish(schedule)
                    _ = engine.timings
                    usleep(100)
                }
            } catch { fault = error }
        }
        #expect(fault == nil)
        let last = try Compiler.compile(kept, rate: 192_000, maxBlock: 64)
        last.setHandles(handles)
        engine.publish(last)
        try await eventually("the last schedule is the only one") {
            engine.collect()
            return engine.liveSchedules == 1
        }
        driver.stop()
        #expect(alive.count == 0)
    }
}
