// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization
import TestSupport
import Testing

@testable import Graph

@Suite("Helping threads", .timeLimit(.minutes(10))) struct ParallelRaceTests {
    //  mic -> a0 -> b0 -> out, and as many more such branches
    private func graph(_ branches: Int) throws -> ResolvedGraph {
        var nodes = [node("mic", "capture"), node("out", "playback")]
        var links: [String] = []
        for branch in 0..<branches {
            nodes += [node("a\(branch)", "latent"), node("b\(branch)", "latent")]
            links += ["mic -> a\(branch)", "a\(branch) -> b\(branch)", "b\(branch) -> out"]
        }
        return try makeGraph(links, nodes, maxBlock: 64)
    }

    /// What comes out is a sum of inputs at a half, and now and then one more.
    private func loop(_ engine: Engine) -> AudioLoop {
        AudioLoop(engine, signal: 0.5) { output, frame in
            output[frame] > 0 && output[frame] * 2 == (output[frame] * 2).rounded() && output[frame] == output[0]
        }
    }

    private func compile(_ graph: ResolvedGraph) throws -> Schedule {
        var sharers = Sharers(limit: 4)
        sharers.isForced = true
        let schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 64, sharers: sharers, verifying: false)
        schedule.forceSharing()
        return schedule
    }

    @Test("Schedules change and helpers come and go while blocks are shared: no sample is wrong, nothing is left")
    func swap() throws {
        let engine = Engine()
        let helpers = Helpers(engine, 3)
        let loop = loop(engine)
        var fault: (any Error)?
        together({ loop.run() }) {
            defer { loop.ended.store(true, ordering: .releasing) }
            do {
                for round in 0..<stressed(100) {
                    let graph = try graph(1 + round % 6)
                    engine.publish(try compile(graph))
                    _ = engine.set(graph.nodes[2].instance, parameter: 1, to: Float(round % 2))
                    if round % 5 == 0 {
                        helpers.change(to: round / 5 % 4)
                        _ = engine.timings
                    }
                    loop.wait(cycles: round % 4)
                    engine.collect()
                }
            } catch { fault = error }
        }
        helpers.end()
        engine.collect()
        #expect(fault == nil)
        #expect(loop.wrong.load(ordering: .relaxed) == 0)
        #expect(engine.liveSchedules == 1)
    }

    @Test("Helpers that are not called sleep, and wake when they are")
    func sleeping() throws {
        let engine = Engine()
        let helpers = Helpers(engine, 3)
        let loop = loop(engine)
        engine.publish(try compile(try graph(6)))
        for _ in 0..<stressed(50) {
            usleep(1000)
            loop.ended.store(false, ordering: .relaxed)
            together({ loop.run() }) {
                loop.wait(cycles: 3)
                loop.ended.store(true, ordering: .releasing)
            }
        }
        helpers.end()
        #expect(loop.wrong.load(ordering: .relaxed) == 0)
    }

    @Test("Notes of several threads arrive, each once")
    func notes() throws {
        let queue = NoticeQueue(capacity: 64)
        let count = stressed(20_000)
        let writer = queue.writer
        let write: @Sendable (UInt32) -> Void = { node in
            var number = 0
            while number < count {
                if writer.put(vg_notice(node: node, kind: VG_NOTICE_LOG, text: nil, value: Double(number), position: 0))
                {
                    number += 1
                } else {
                    sched_yield()
                }
            }
        }
        var next = [0.0, 0.0]
        together({ write(0) }) {
            together({ write(1) }) {
                while next[0] + next[1] < Double(2 * count) {
                    guard let notice = queue.pop() else {
                        sched_yield()
                        continue
                    }
                    if notice.value != next[Int(notice.node)] { break }
                    next[Int(notice.node)] += 1
                }
            }
        }
        #expect(next == [Double(count), Double(count)])
    }
}
