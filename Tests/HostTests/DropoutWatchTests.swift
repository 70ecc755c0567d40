// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import Realtime
import TestSupport

@testable import Host

@Suite("Collecting what tells of dropouts") struct DropoutWatchTests {
    private let clock = TickClock()

    private func ticks(_ seconds: Double) -> UInt64 { UInt64(seconds * clock.rate) }

    private func check(_ watch: DropoutWatch, _ seen: DropoutWatch.Seen) -> [Dropout] {
        watch.check(seen, thread: 0, hasServer: true, others: OtherPrograms(), all: true).map(\.dropout)
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
}
