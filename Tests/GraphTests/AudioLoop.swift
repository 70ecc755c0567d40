// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

@testable import Graph

/// An audio thread that never rests, with one port in and one out: for tests in which threads race.
final class AudioLoop: @unchecked Sendable {
    // Sendable: `run` is called on one thread; the rest is atomic, or never changes.
    let ended = Atomic(false)
    let cycles = Atomic(0)
    /// Samples that were not what they should be.
    let wrong = Atomic(0)
    private let audio: AudioEngine
    private let isRight: @Sendable (UnsafeBufferPointer<Float>, Int) -> Bool
    private let input = UnsafeMutablePointer<Float>.allocate(capacity: 64)
    private let output = UnsafeMutablePointer<Float>.allocate(capacity: 64)

    /// The input is `signal` for ever; `isRight` judges a block's output at a frame.
    init(_ engine: Engine, signal: Float, isRight: @escaping @Sendable (UnsafeBufferPointer<Float>, Int) -> Bool) {
        audio = engine.audio
        self.isRight = isRight
        input.initialize(repeating: signal, count: 64)
        output.initialize(repeating: 0, count: 64)
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// Blocks of 1 to 64 frames in turn, until `ended`.
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
                let block = UnsafeBufferPointer(start: output, count: frames)
                for frame in 0..<frames where !isRight(block, frame) { wrong.add(1, ordering: .relaxed) }
            }
            frames = frames % 64 + 1
            cycles.add(1, ordering: .releasing)
            if frames % 16 == 0 { sched_yield() }
        }
    }

    /// Returns when so many more blocks were played, while another thread is in `run`.
    func wait(cycles count: Int) {
        let before = cycles.load(ordering: .acquiring)
        while cycles.load(ordering: .acquiring) < before + count { sched_yield() }
    }
}
