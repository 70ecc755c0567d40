// SPDX-License-Identifier: Apache-2.0
import Realtime
import TestSupport

@Suite("Tick clock") struct ClockTests {
    @Test("Ticks converted to seconds agree with the system's clock")
    func agreement() {
        let clock = TickClock()
        let (ticks, nanoseconds) = (vg_ticks(), vg_nanoseconds())
        while vg_nanoseconds() - nanoseconds < 20_000_000 {}
        let elapsed = vg_ticks() - ticks
        let real = Double(vg_nanoseconds() - nanoseconds) * 1e-9
        // Between the readings the thread may lose the processor, so this is a wide check of the scale.
        #expect(abs(clock.seconds(elapsed) / real - 1) < 0.5)
        #expect(clock.seconds(0) == 0)
    }

    @Test("A rate asked at once is a rate")
    func immediate() {
        let rate = TickClock().rate
        #expect(rate.isFinite && rate > 1e6)
    }
}
