// SPDX-License-Identifier: Apache-2.0
import Picture
import TestSupport

@Suite struct BallisticsTests {
    @Test("A peak is held for 1.5 seconds, then falls") func peakHold() {
        var meter = Ballistics()
        meter.update(rms: 0.1, peak: 0.5, at: 0)
        meter.update(rms: 0, peak: 0, at: 0.1)
        #expect(abs(meter.reading(at: 1.5).held + 6.0206) < 1e-3)
        #expect(abs(meter.reading(at: 2).held + 6.0206 + 12) < 1e-3)
        #expect(meter.reading(at: 1).peak < -40)
        #expect(abs(meter.reading(at: 0.5).rms + 20 + 18) < 1e-3)
        #expect(meter.reading(at: 4).held == -.infinity)
    }

    @Test("A clip is shown for 3 seconds") func clip() {
        var meter = Ballistics()
        meter.update(rms: 0.5, peak: 1, at: 0)
        #expect(meter.reading(at: 2.9).clipped)
        #expect(!meter.reading(at: 3).clipped)
        meter.update(rms: 0.5, peak: 0.99, at: 4)
        #expect(!meter.reading(at: 4).clipped)
    }
}
