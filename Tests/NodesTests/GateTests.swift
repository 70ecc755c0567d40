// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct GateTests {
    private func gate(_ values: [String: Float], channels: Int = 1, rate: Double = 48000) throws -> NodeHarness {
        let harness = try NodeHarness(
            type("gate"), ["channels": .integer(Int64(channels))], rate: rate, maxBlock: 8192)
        harness.set(values)
        return harness
    }

    @Test(
        "A sine above the threshold passes unchanged, one below gets the range",
        arguments: testRates, [(-40.5, false), (-39.9, true), (-10, true), (-80, false)])
    func staticCurve(_ rate: Double, _ point: (level: Double, opens: Bool)) throws {
        let harness = try gate(["threshold_db": -40, "range_db": -24], rate: rate)
        let sine = Signal.sine(rate / 48, rate: rate, frames: 48000, amplitude: linear(point.level))
        let output = harness.run(48000, inputs: [sine])[0]
        if point.opens {
            #expect(output[24000...] == sine[24000...])
        } else {
            #expect(abs(gainOfEnd(output, sine, frames: 4800) + 24) < 1e-3)
        }
    }

    @Test("A range of -120 dB is silence, and flagged") func silence() throws {
        let harness = try gate(["threshold_db": -40, "range_db": -120])
        let quiet = Signal.noise(frames: 4800, seed: 1, amplitude: 0.005)
        #expect(Signal.peak(harness.run(4800, inputs: [quiet])[0]) == 0)
        #expect(harness.silentOutputs.allSatisfy { $0 == [true] })
    }

    /// A constant level: quiet, loud from `half`, quiet again from twice that.
    @Test(
        "Attack, hold and release take their times", arguments: testRates,
        [(5.0, 0.0, 20.0), (20, 100, 50), (0, 50, 0)])
    func times(_ rate: Double, _ times: (attack: Double, hold: Double, release: Double)) throws {
        let range = linear(-40)
        let harness = try gate(
            [
                "threshold_db": -20, "range_db": -40, "attack_ms": Float(times.attack), "hold_ms": Float(times.hold),
                "release_ms": Float(times.release),
            ], rate: rate)
        let half = Int(rate / 2)
        let input =
            Signal.constant(0.01, frames: half) + Signal.constant(0.5, frames: half)
            + Signal.constant(0.01, frames: half)
        let output = harness.run(3 * half, inputs: [input], plan: .fixed(777))[0]
        func gain(_ frame: Int) -> Double { Double(output[frame]) / Double(input[frame]) }
        func rest(_ frames: Int, _ milliseconds: Double) -> Double {
            milliseconds == 0 ? 0 : exp(-Double(frames) / rate * 1000 / milliseconds)
        }
        #expect(abs(gain(half - 1) - range) < 1e-6)
        for after in [1, 10, 100, 1000] {
            #expect(abs(gain(half + after - 1) - (1 - (1 - range) * rest(after, times.attack))) < 1e-5)
        }
        let held = frames(milliseconds: times.hold, rate: rate)
        #expect(gain(2 * half - 1) == 1)
        if held > 0 { #expect(gain(2 * half + held - 1) == 1) }
        for after in [1, 10, 100, 1000] {
            let expected = range + (1 - range) * rest(after, times.release)
            #expect(abs(gain(2 * half + held + after - 1) - expected) < 1e-5)
        }
    }

    @Test("It closes only below the hysteresis") func hysteresis() throws {
        let harness = try gate(
            ["threshold_db": -20, "hysteresis_db": 10, "hold_ms": 20, "release_ms": 1, "range_db": -60])
        func gain(_ level: Double) -> Double {
            let sine = Signal.sine(1000, rate: 48000, frames: 9600, amplitude: linear(level))
            return gainOfEnd(harness.run(9600, inputs: [sine])[0], sine, frames: 4800)
        }
        #expect(abs(gain(-21) + 60) < 1e-3)
        #expect(gain(-19) == 0)
        #expect(gain(-21) == 0)
        #expect(gain(-29.5) == 0)
        #expect(abs(gain(-30.5) + 60) < 1e-3)
        #expect(abs(gain(-29.5) + 60) < 1e-3)
    }

    @Test("All channels open together") func link() throws {
        let harness = try gate(["threshold_db": -20, "range_db": -120, "attack_ms": 0], channels: 2)
        let quiet = Signal.noise(frames: 1000, seed: 3, amplitude: 0.001)
        #expect(Signal.peak(harness.run(1000, inputs: [quiet, quiet])[0]) == 0)
        #expect(harness.run(1000, inputs: [quiet, Signal.constant(0.5, frames: 1000)])[0] == quiet)
    }

    @Test("It shows how far it is closed") func series() throws {
        let harness = try gate(["threshold_db": -20, "range_db": -30, "attack_ms": 0])
        _ = harness.run(8000)
        _ = harness.run(8000, inputs: [Signal.constant(0.5, frames: 8000)])
        #expect(harness.reductions.count == 20)
        #expect(harness.reductions[..<10].allSatisfy { abs($0 - 30) < 1e-3 })
        #expect(harness.reductions[11...].allSatisfy { $0 == 0 })
    }
}
