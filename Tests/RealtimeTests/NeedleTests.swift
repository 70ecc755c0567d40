// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import TestSupport

/// One needle and the time that it has seen.
private final class Moved {
    let needle: Needle
    let rate: Double
    private let state = UnsafeMutablePointer<Needle.State>.allocate(capacity: 1)

    init(_ kind: Needle.Kind, rate: Double) {
        needle = Needle(kind, rate: rate)
        self.rate = rate
        state.initialize(to: Needle.State())
    }

    deinit { state.deallocate() }

    /// Shows it samples; returns the most that it showed.
    @discardableResult
    func take(_ samples: [Float]) -> Double {
        needle.take(samples, frames: samples.count, state)
        return Double(needle.takeMost(state))
    }

    /// A burst of a sine of full scale, or of `amplitude`.
    @discardableResult
    func tone(_ seconds: Double, _ frequency: Double, amplitude: Double = 1) -> Double {
        take(
            (0..<Int((seconds * rate).rounded())).map {
                Float(amplitude * sin(2 * .pi * frequency * Double($0) / rate))
            })
    }

    /// Seconds of silence; returns what it shows then.
    @discardableResult
    func silence(_ seconds: Double) -> Double {
        needle.take(nil, frames: Int(seconds * rate), state)
        _ = needle.takeMost(state)
        needle.take(nil, frames: 1, state)
        return Double(needle.takeMost(state))
    }
}

private func decibels(_ level: Double) -> Double { 20 * log10(level) }

/// The numbers are those of the standards, with their tolerances.
@Suite("Needles") struct NeedleTests {
    private static let rates = [44_100.0, 48_000, 96_000]

    @Test("VU: 99 % of a steady tone after 300 ms, then 1 to 1.5 % beyond it", arguments: rates)
    func volume(_ rate: Double) {
        let moved = Moved(.vu, rate: rate)
        // Of a frequency whose samples are at many places of a period.
        let tone = (0..<Int(3 * rate)).map { Float(sin(2 * .pi * 997 * Double($0) / rate)) }
        let frames = Int(rate / 1000)
        let shown = stride(from: 0, to: tone.count - frames, by: frames).map {
            moved.take(Array(tone[$0..<$0 + frames]))
        }
        let reached = Double(shown.firstIndex { $0 >= 0.99 } ?? 0) * Double(frames) / rate
        #expect(abs(reached - 0.3) <= 0.005)
        #expect((1.01...1.015).contains(shown.max() ?? 0))
        #expect(abs((shown.last ?? 0) - 1) < 0.003)
    }

    @Test("VU: after the end of a tone it is back in as long as it took to rise", arguments: rates)
    func volumeFalls(_ rate: Double) {
        let moved = Moved(.vu, rate: rate)
        moved.tone(3, 1000)
        #expect(moved.silence(0.25) > 0.01)
        #expect(moved.silence(0.05) < 0.015)
    }

    /// IEC 60268-10: bursts of 5 kHz beside a steady tone.
    private static let bursts: [(kind: Needle.Kind, milliseconds: Double, decibels: Double, tolerance: Double)] = [
        (.ppm2, 100, 0, 0.5), (.ppm2, 10, -2, 0.5), (.ppm2, 5, -4, 0.75), (.ppm2, 1.5, -9, 1), (.ppm2, 0.5, -17, 2),
        (.ppm1, 10, -1, 0.5), (.ppm1, 5, -2, 1), (.ppm1, 3, -4, 1), (.ppm1, 0.4, -15, 4),
    ]

    @Test("PPM: bursts show what the standard says", arguments: bursts, rates)
    func burst(
        _ burst: (kind: Needle.Kind, milliseconds: Double, decibels: Double, tolerance: Double), _ rate: Double
    ) {
        let shown = decibels(Moved(burst.kind, rate: rate).tone(burst.milliseconds / 1000, 5000))
        #expect(abs(shown - burst.decibels) <= burst.tolerance)
    }

    @Test(
        "PPM: a steady tone shows its amplitude, and falls by so much in its time",
        arguments: [(Needle.Kind.ppm1, 20.0, 1.7), (.ppm2, 24, 2.8)], rates)
    func falls(_ meter: (kind: Needle.Kind, decibels: Double, seconds: Double), _ rate: Double) {
        for frequency in [1000.0, 5000] {
            let moved = Moved(meter.kind, rate: rate)
            let before = decibels(moved.tone(1, frequency, amplitude: 0.1))
            #expect(abs(before + 20) < 0.3, "\(frequency) Hz")
            let after = decibels(moved.silence(meter.seconds))
            #expect(abs(before - after - meter.decibels) < 0.3)
        }
    }

    @Test("K: a steady tone is at 99 % after 600 ms, and shows its amplitude", arguments: rates)
    func averages(_ rate: Double) {
        let moved = Moved(.k20, rate: rate)
        #expect(moved.tone(0.59, 1000) < 0.99)
        #expect(moved.tone(0.02, 1000) > 0.99)
        #expect(abs(moved.tone(2, 1000) - 1) < 0.001)
    }

    @Test("How audio is cut into blocks changes nothing", arguments: Needle.Kind.allCases)
    func blocks(_ kind: Needle.Kind) {
        let (whole, cut) = (Moved(kind, rate: 48_000), Moved(kind, rate: 48_000))
        let samples = (0..<9600).map { Float(sin(Double($0 * $0) / 1e5)) }
        let most = whole.take(samples)
        let pieces = stride(from: 0, to: 9600, by: 37).map { cut.take(Array(samples[$0..<min($0 + 37, 9600)])) }
        #expect(pieces.max() == most)
    }

    @Test("What is no number counts as 0, and what is far too large does not hold it", arguments: Needle.Kind.allCases)
    func nonsense(_ kind: Needle.Kind) {
        let moved = Moved(kind, rate: 48_000)
        #expect(moved.take([.nan, -.nan, .signalingNaN]) == 0)
        #expect(moved.take([.infinity, 3e38, -.infinity]).isFinite)
        #expect(moved.silence(20) < 1e-5)
        moved.silence(40)
        #expect(moved.silence(0.01) == 0)
    }
}
