// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization
import TestSupport
import Testing

@testable import Graph

/// For the thread sanitizer; VOICEGRAPH_STRESS multiplies the counts: 1 is short.
private let stress = max(1, Int(getenv("VOICEGRAPH_STRESS").map { String(cString: $0) } ?? "") ?? 1)

/// Blocks on a thread of its own, checked for what should come out.
private final class Player: @unchecked Sendable {
    // Sendable: `run` is called on one thread; the rest is atomic.
    let audio: AudioEngine
    let ended = Atomic(false)
    let cycles = Atomic(0)
    let wrong = Atomic(0)
    private let input = UnsafeMutablePointer<Float>.allocate(capacity: 64)
    private let output = UnsafeMutablePointer<Float>.allocate(capacity: 64)

    init(_ engine: Engine) {
        audio = engine.audio
        input.initialize(repeating: 0.5, count: 64)
        output.initialize(repeating: 0, count: 64)
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// Blocks of changing lengths until `ended`; each sample is to be a multiple of the input.
    func run() {
        var frames = 1
        while !ended.load(ordering: .acquiring) {
            let schedule = audio.begin()
            for port in 0..<schedule.externalCount where !schedule.isMIDI(port) {
                schedule.bind(port, schedule.isCapture(port) ? input : output)
            }
            output.update(repeating: -1, count: frames)
            audio.run(schedule, frames: frames, clock: 0, flags: 0, transport: vg_transport())
            if schedule.externalCount > 0 {
                // A sum of inputs at a half, and now and then one more.
                for frame in 0..<frames where output[frame] <= 0 || output[frame] * 2 != (output[frame] * 2).rounded() {
                    wrong.add(1, ordering: .relaxed)
                }
                for frame in 1..<max(1, frames) where output[frame] != output[0] { wrong.add(1, ordering: .relaxed) }
            }
            frames = frames % 64 + 1
            cycles.add(1, ordering: .releasing)
            if frames % 16 == 0 { sched_yield() }
        }
    }
}

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

    private func compile(_ graph: ResolvedGraph) throws -> Schedule {
        var sharers = Sharers(limit: 4)
        sharers.isForced = true
        let schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 64, sharers: sharers, verifying: false)
        schedule.forceSharing()
        return schedule
    }

    @Test("schedules change and helpers come and go while blocks are shared: no sample is wrong, nothing is left")
    func swap() throws {
        let engine = Engine()
        let helpers = Helpers(engine, 3)
        let player = Player(engine)
        var fault: (any Error)?
        together({ player.run() }) {
            defer { player.ended.store(true, ordering: .releasing) }
            do {
                for round in 0..<400 * stress {
                    let graph = try graph(1 + round % 6)
                    engine.publish(try compile(graph))
                    _ = engine.set(graph.nodes[2].instance, parameter: 1, to: Float(round % 2))
                    if round % 5 == 0 {
                        helpers.change(to: round / 5 % 4)
                        _ = engine.timings
                    }
                    let cycles = player.cycles.load(ordering: .acquiring)
                    while player.cycles.load(ordering: .acquiring) < cycles + round % 4 { sched_yield() }
                    engine.collect()
                }
            } catch { fault = error }
        }
        helpers.end()
        engine.collect()
        #expect(fault == nil)
        #expect(player.wrong.load(ordering: .relaxed) == 0)
        #expect(engine.liveSchedules == 1)
    }

    @Test("helpers that are not called sleep, and wake when they are")
    func sleeping() throws {
        let engine = Engine()
        let helpers = Helpers(engine, 3)
        let rig = Player(engine)
        engine.publish(try compile(try graph(6)))
        for _ in 0..<50 * stress {
            usleep(1000)
            rig.ended.store(false, ordering: .relaxed)
            let cycles = rig.cycles.load(ordering: .acquiring)
            together({ rig.run() }) {
                while rig.cycles.load(ordering: .acquiring) < cycles + 3 { sched_yield() }
                rig.ended.store(true, ordering: .releasing)
            }
        }
        helpers.end()
        #expect(rig.wrong.load(ordering: .relaxed) == 0)
    }

    @Test("notes of several threads arrive, each once")
    func notes() throws {
        let queue = NoteQueue(capacity: 64)
        let count = 20_000 * stress
        let writer = queue.writer
        let write: @Sendable (UInt32) -> Void = { node in
            var number = 0
            while number < count {
                if writer.put(vg_note(node: node, kind: VG_NOTE_LOG, text: nil, value: Double(number), position: 0)) {
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
                    guard let note = queue.pop() else {
                        sched_yield()
                        continue
                    }
                    if note.value != next[Int(note.node)] { break }
                    next[Int(note.node)] += 1
                }
            }
        }
        #expect(next == [Double(count), Double(count)])
    }
}
