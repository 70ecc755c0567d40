// SPDX-License-Identifier: Apache-2.0
import CNode
import Graph
import Realtime
import Synchronization

/// All that the timer's audio thread touches.
struct TimerCycle: ~Copyable {
    let rate: Double
    let block: Int
    var engine: AudioEngine?
    /// What a JACK driver without a server is called through; nil: ports are a table's.
    let jack: UnsafeMutablePointer<JackCycle>?
    let enabled = Atomic(false)
    let count = Atomic<UInt64>(0)
    /// Cycles that began a block or more too late.
    let late = Atomic(0)
    /// Nanoseconds by which the newest of them was late.
    let delay = Atomic<UInt64>(0)
    let thread = Atomic<Int32>(0)

    init(rate: Double, block: Int, jack: UnsafeMutablePointer<JackCycle>? = nil) {
        self.rate = rate
        self.block = block
        self.jack = jack
    }
}

/// Runs cycles at their times until `enabled` is taken away. A cycle that is late by a block or more counts as a
/// dropout, and the time that is lost is skipped, as a sound card would. [audio]
@_noLocks
func runTimer(_ cycle: UnsafeMutablePointer<TimerCycle>) {
    vg_denormals_off()
    let period = Double(cycle.pointee.block) / cycle.pointee.rate * 1e9
    var start = vg_nanoseconds()
    var periods = 0.0
    var clock: UInt64 = 0
    var due = start
    while cycle.pointee.enabled.load(ordering: .acquiring) {
        vg_realtime_enter()
        if let jack = cycle.pointee.jack {
            runWithoutServer(jack, cycle.pointee.block, clock, delay: microseconds(since: due))
        } else if let engine = cycle.pointee.engine {
            runTimerCycle(engine, cycle.pointee.block, clock, delay: microseconds(since: due))
        }
        vg_realtime_exit()
        cycle.pointee.count.add(1, ordering: .releasing)
        clock += UInt64(cycle.pointee.block)
        periods += 1
        due = start + UInt64(periods * period)
        let now = vg_nanoseconds()
        if now > due + UInt64(period) {
            cycle.pointee.delay.store(now - due, ordering: .relaxed)
            cycle.pointee.late.add(1, ordering: .releasing)
            clock += UInt64(Double(now - due) * 1e-9 * cycle.pointee.rate)
            start = now
            due = now
            periods = 0
        } else {
            vg_sleep_until(due)
        }
    }
}

@_noLocks
private func microseconds(since due: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (vg_nanoseconds() &- due) / 1000)
}

@_noLocks
private func runTimerCycle(_ engine: AudioEngine, _ frames: Int, _ clock: UInt64, delay: UInt32) {
    let schedule = engine.begin()
    for port in 0..<schedule.externalCount {
        if schedule.isMIDI(port) {
            guard schedule.isCapture(port) else { continue }
            schedule.midi(port).pointee.count = 0
            schedule.midi(port).pointee.used = 0
        } else if let handle = schedule.handle(port) {
            let slot = handle.assumingMemoryBound(to: BufferSlot.self)
            schedule.bind(port, slot.pointee.audio.baseAddress.unsafelyUnwrapped)
        }
    }
    engine.run(schedule, frames: frames, clock: clock, flags: 0, transport: vg_transport(), delay: delay)
}
