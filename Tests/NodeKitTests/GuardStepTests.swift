// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Testing

/// Code behind a guard that gives what is in `samples`, one array for each output.
private final class Guarded {
    let step: vg_process_function
    let state = UnsafeMutablePointer<vg_guarded>.allocate(capacity: 1)
    let seen = UnsafeMutablePointer<Seen>.allocate(capacity: 1)
    private let foreignState = UnsafeMutablePointer<vg_foreign_state>.allocate(capacity: 1)
    private let ports: UnsafeMutablePointer<vg_foreign_port>
    let channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    private let silent: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    let flag = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    let attention = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    let last: UnsafeMutablePointer<Float>

    /// What the code is to do, and what was done.
    struct Seen {
        var channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
        var count: Int
        var place = 0
        var value: Float = 0
        var dirty = false
        var runs = 0
        var moves = 0
        var looks = 0
    }

    init(outputs: Int, room: Int, together: Bool = true) {
        channels = .allocate(capacity: outputs)
        ports = .allocate(capacity: outputs)
        silent = .allocate(capacity: outputs)
        last = .allocate(capacity: outputs)
        last.initialize(repeating: 0, count: outputs)
        flag.initialize(to: 0)
        attention.initialize(to: 0)
        foreignState.initialize(to: vg_foreign_state(revision: 7, moved: 0))
        for index in 0..<outputs {
            let memory = UnsafeMutablePointer<Float>.allocate(capacity: room + 1)
            memory.initialize(repeating: 5, count: room + 1)
            channels[index] = memory
            (ports + index).initialize(to: vg_foreign_port(connected: memory, port: UInt32(index)))
            silent[index] = UnsafePointer(flag)
        }
        seen.initialize(to: Seen(channels: channels, count: outputs))
        let code = vg_guard(
            is_unfit: vg_unfit_choose(),
            thorough: { owner, _ in owner.assumingMemoryBound(to: Seen.self).pointee.looks += 1 },
            owner: seen, attention: attention, channels: channels, silent: silent, last: last, count: outputs)
        let foreign = vg_foreign(
            steady: vg_foreign_choose(),
            moved: { processor, _, cycle in runCode(processor, cycle.pointee.frames, moved: true) },
            state: foreignState, outputs: ports, output_end: ports + outputs, handle: seen,
            run: { runCode($0, $1, moved: false) })
        state.initialize(to: vg_guarded(guard: code, foreign: foreign, processor: seen))
        step = together ? vg_guarded_choose(outputs) : vg_guard_choose()
    }

    deinit {
        for index in 0..<state.pointee.guard.count { channels[index]?.deallocate() }
        channels.deallocate()
        ports.deallocate()
        silent.deallocate()
        last.deallocate()
        flag.deallocate()
        attention.deallocate()
        foreignState.deallocate()
        seen.deallocate()
        state.deallocate()
    }

    /// One block; whether the guard looked thoroughly.
    func block(_ frames: Int, _ value: Float, at place: Int, revision: UInt64 = 7) -> Bool {
        seen.pointee.place = place
        seen.pointee.value = value
        let looks = seen.pointee.looks
        var io = vg_io()
        var cycle = vg_cycle()
        cycle.frames = UInt32(frames)
        cycle.revision = revision
        step(state, &io, &cycle)
        return seen.pointee.looks > looks
    }
}

/// Writes one sample of the last output; the others stay as they are.
private func runCode(_ memory: UnsafeMutableRawPointer, _ frames: UInt32, moved: Bool) {
    let seen = memory.assumingMemoryBound(to: Guarded.Seen.self)
    seen.pointee.runs += 1
    if moved { seen.pointee.moves += 1 }
    for index in 0..<seen.pointee.count {
        let samples = seen.pointee.channels[index]!
        if !moved, (0..<Int(frames)).contains(where: { samples[$0] != 0 }) { seen.pointee.dirty = true }
        for frame in 0..<Int(frames) { samples[frame] = 0 }
    }
    seen.pointee.channels[seen.pointee.count - 1]![seen.pointee.place] = seen.pointee.value
}

@Suite("The step of a guard")
struct GuardStepTests {
    private let lengths = [1, 3, 8, 31, 64, 100, 128, 130, 256, 384]

    @Test(
        "Together with code: outputs are zeroed, what is unfit is found wherever it is, and only that",
        arguments: [1, 2])
    func together(outputs: Int) {
        for frames in lengths {
            let guarded = Guarded(outputs: outputs, room: frames)
            for place in 0..<frames {
                for good in [Float(0.5), -1.99, 2, -2, 15.8, -15.8] {
                    #expect(!guarded.block(frames, good, at: place), "\(good) at \(place) of \(frames)")
                }
                for bad in [Float.nan, -Float.infinity, 15.9, -15.9] {
                    #expect(guarded.block(frames, bad, at: place), "\(bad) at \(place) of \(frames)")
                }
            }
            #expect(!guarded.seen.pointee.dirty)
            #expect(guarded.seen.pointee.runs == frames * 10)
            #expect((0..<outputs).allSatisfy { guarded.channels[$0]![frames] == 5 }, "written beyond \(frames)")
        }
    }

    @Test("The last sample of a good block is kept, that of a bad one is not", arguments: [1, 2])
    func last(outputs: Int) {
        for frames in lengths {
            let guarded = Guarded(outputs: outputs, room: frames)
            for good in [Float(0.25), 3, 0.5] {
                #expect(!guarded.block(frames, good, at: frames - 1))
                #expect(guarded.last[outputs - 1] == good)
            }
            #expect(guarded.block(frames, 100, at: frames - 1))
            #expect(guarded.last[outputs - 1] == 0.5)
        }
    }

    @Test("What is asked for is done for good blocks too", arguments: [1, 2])
    func attention(outputs: Int) {
        for frames in lengths {
            let guarded = Guarded(outputs: outputs, room: frames)
            guarded.attention.pointee = UInt32(VG_ATTENTION) | 2
            #expect(guarded.block(frames, 0.5, at: 0))
            guarded.attention.pointee = 0
            #expect(!guarded.block(frames, 0.5, at: 0))
        }
    }

    @Test("Where something moved, the long way is taken and its block is looked at", arguments: [1, 2])
    func moved(outputs: Int) {
        let guarded = Guarded(outputs: outputs, room: 128)
        #expect(!guarded.block(128, 0.5, at: 3, revision: 8))
        #expect(guarded.seen.pointee.moves == 1)
        #expect(guarded.block(128, .nan, at: 3, revision: 8))
        #expect(!guarded.block(128, 0.5, at: 3))
        #expect(guarded.seen.pointee.moves == 2)
    }

    @Test("Alone: the same is found in what another step gave, but not where that is known to be silent")
    func alone() {
        for frames in lengths {
            let guarded = Guarded(outputs: 2, room: frames, together: false)
            for channel in 0..<2 {
                for frame in 0..<frames { guarded.channels[channel]![frame] = -15.8 }
            }
            #expect(!guarded.block(frames, 0, at: 0))
            for place in 0..<frames {
                guarded.channels[1]![place] = .nan
                #expect(guarded.block(frames, 0, at: 0))
                guarded.channels[1]![place] = 1
            }
            guarded.channels[0]![0] = .nan
            #expect(guarded.block(frames, 0, at: 0))
            guarded.flag.pointee = 1
            #expect(!guarded.block(frames, 0, at: 0))
            #expect(guarded.seen.pointee.runs == 0)
        }
    }
}
