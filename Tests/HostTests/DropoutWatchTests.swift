// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import Realtime
import TestSupport

@testable import Host

@Suite("Collecting what tells of dropouts") struct DropoutWatchTests {
    private let clock = TickClock()

    private func ticks(_ seconds: Double) -> UInt64 { UInt64(seconds * clock.rate) }

    private func check(_ watch: DropoutWatch, _ seen: DropoutWatch.Seen) -> [Dropout] {
        watch.check(seen, thread: vg_thread_id(), hasServer: true, others: OtherPrograms(), all: true).map(\.dropout)
    }

    @Test("The cycle of a stop is told once, whatever is reported after that") func stopped() {
        let watch = DropoutWatch(clock)
        let now = vg_ticks()
        let ended = now - ticks(0.4)
        let cycle = CycleReport(
            position: 0, frames: 256, started: ended - ticks(0.001), ended: ended, busy: 0.001, period: 0.005,
            lateness: 1.5, delay: 0, skipped: 0, parts: [], usual: 0.001)
        let stop = ProcessStops.Stop(from: now - ticks(2), to: now - ticks(0.6))
        var seen = DropoutWatch.Seen(late: [cycle], recent: (cycle, ended), stops: [stop], stopsKnownUntil: now)
        let told = check(watch, seen)
        #expect(told.map(\.cause) == [.stopped] && told.first?.took == 1.5)
        // More than half a second after the stop.
        watch.report(delay: 0.01)
        seen.late = []
        let later = check(watch, seen)
        #expect(later.count == 1 && later.allSatisfy { $0.cause != .stopped && $0.took < 0.1 }, "\(later)")
        // Where nothing was stopped, the slowest cycle of late is what was reported.
        watch.report(delay: 0.01)
        seen.stops = []
        #expect(check(watch, seen).first?.took == 1.5)
    }

    /// A cycle that was called late between two looks, of which the second came so many seconds after the first, but was due
    /// after `period`.
    private func judged(period: Double, apart: Double) -> Dropout.Cause? {
        let watch = DropoutWatch(clock)
        _ = check(watch, DropoutWatch.Seen())
        watch.isLookedAt(in: period)
        Glibc.usleep(UInt32(apart * 1e6))
        let started = vg_ticks()
        let cycle = CycleReport(
            position: 0, frames: 128, started: started, ended: started, busy: 0.0001, period: 0.0027,
            lateness: 0.9 * apart, delay: 0, skipped: 0, parts: [], usual: 0.0001)
        return check(watch, DropoutWatch.Seen(late: [cycle], recent: (cycle, started))).first?.cause
    }

    @Test("The machine stood still only if those who look came late, too") func stoodStill() {
        #expect(judged(period: 5, apart: 0.02) == .server)
        #expect(judged(period: 0.002, apart: 0.1) == .scheduling)
    }
}
