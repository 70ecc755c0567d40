// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct DeesserTests {
    private func deesser(
        _ mode: String, channels: Int = 1, rate: Double = 48000, _ values: [String: Float]
    ) throws -> NodeHarness {
        let harness = try NodeHarness(
            type("deesser"), ["mode": .string(mode), "channels": .integer(Int64(channels))], rate: rate, maxBlock: 8192)
        harness.set(values)
        return harness
    }

    /// The magnitudes of a Linkwitz-Riley crossover of fourth order, made digital by the bilinear transform.
    private func bands(_ frequency: Double, crossover: Double, rate: Double) -> (low: Double, high: Double) {
        let ratio = pow(tan(.pi * frequency / rate) / tan(.pi * crossover / rate), 4)
        return (1 / (1 + ratio), ratio / (1 + ratio))
    }

    /// The longest release keeps what a peak left until the next one.
    @Test(
        "A sine settles at the gain of the formula", arguments: testRates,
        [(-40.0, 8000.0), (-20, 8000), (0, 8000), (0, 4000), (0, 500), (-10, 12000)])
    func staticCurve(_ rate: Double, _ point: (level: Double, frequency: Double)) throws {
        // A whole number of periods in 4800 frames, each sampled elsewhere, so that one sample is near the peak.
        var periods = Int(point.frequency * 4800 / rate)
        while [2, 3, 5].contains(where: { periods % $0 == 0 }) { periods += 1 }
        let frequency = Double(periods) * rate / 4800
        let sine = Signal.sine(frequency, rate: rate, frames: 48000, amplitude: linear(point.level))
        let (low, high) = bands(frequency, crossover: 6000, rate: rate)
        let level = point.level + 20 * log10(high)
        let reduction = min(compressorReduction(level, threshold: -30, ratio: 3, knee: 0), 15)
        for mode in ["split", "wide"] {
            let harness = try deesser(
                mode, rate: rate,
                [
                    "frequency": 6000, "threshold_db": -30, "ratio": 3, "range_db": -15, "attack_ms": 20,
                    "release_ms": 2000,
                ])
            let output = harness.run(48000, inputs: [sine], plan: .fixed(1000))[0]
            let expected = mode == "wide" ? -reduction : 20 * log10(low + high * linear(-reduction))
            #expect(abs(gainOfEnd(output, sine, frames: 4800) - expected) < 0.05, "\(mode)")
        }
    }

    @Test("What it splits adds up to what came in, at every frequency", arguments: [8000.0, 44100, 48000, 384_000])
    func sum(_ rate: Double) throws {
        for share in [0.001, 0.02, 0.1, 0.2, 0.3, 0.45] {
            let harness = try deesser("split", rate: rate, ["threshold_db": 0, "frequency": 6000])
            let frequency = (share * 4800).rounded() * rate / 4800
            let sine = Signal.sine(frequency, rate: rate, frames: 24000, amplitude: 0.3)
            let gain = gainOfEnd(harness.run(24000, inputs: [sine])[0], sine, frames: 4800)
            #expect(abs(gain) < 0.001, "\(frequency) Hz")
        }
    }

    @Test("Wide, what does not hiss passes unchanged", arguments: BlockPlan.all) func unchanged(_ plan: BlockPlan)
        throws
    {
        let harness = try deesser("wide", channels: 2, ["threshold_db": -20])
        let voice = Signal.sine(300, rate: 48000, frames: 3000, amplitude: 0.9)
        // The first frames have the step in the slope at its beginning.
        #expect(harness.run(3000, inputs: [voice, voice], plan: plan) == [voice, voice])
    }

    @Test("It hears hissing under a louder voice, and leaves the voice alone") func voice() throws {
        let harness = try deesser("split", ["threshold_db": -40, "ratio": 100, "range_db": -20, "release_ms": 500])
        let voice = Signal.sine(200, rate: 48000, frames: 24000, amplitude: 0.5)
        let hiss = Signal.sine(9000, rate: 48000, frames: 24000, amplitude: 0.05)
        let output = harness.run(24000, inputs: [zip(voice, hiss).map { $0 + $1 }])[0]
        #expect(abs(Signal.amplitude(of: 200, in: output.suffix(4800)) - 0.5) < 0.002)
        let (_, high) = bands(9000, crossover: 6000, rate: 48000)
        let left = Signal.decibels(Signal.amplitude(of: 9000, in: output.suffix(4800)) / 0.05)
        let asked = compressorReduction(-26.02 + 20 * log10(high), threshold: -40, ratio: 100, knee: 0)
        #expect(abs(left - 20 * log10(1 - high + high * linear(-asked))) < 0.3)
    }

    @Test("All channels get the gain of the loudest") func link() throws {
        let harness = try deesser("wide", channels: 2, ["release_ms": 1000])
        let loud = Signal.sine(9000, rate: 48000, frames: 24000, amplitude: 0.5)
        let quiet = loud.map { $0 * 0.01 }
        let outputs = harness.run(24000, inputs: [quiet, loud])
        let gains = (gainOfEnd(outputs[0], quiet, frames: 4800), gainOfEnd(outputs[1], loud, frames: 4800))
        #expect(gains.1 < -8)
        #expect(abs(gains.0 - gains.1) < 1e-4)
    }

    /// Wide, so that the gain is that of the whole. Each alone, since a step rings in the filter.
    @Test("Attack and release follow their time constants", arguments: testRates) func steps(_ rate: Double) throws {
        let half = Int(rate / 2)
        // An alternating signal has one magnitude, and is all above the frequency.
        let input = (0..<(3 * half)).map { ($0 % 2 == 0 ? 1 : -1) * ($0 / half == 1 ? 0.1 : 1e-5) as Float }
        for (attack, release) in [(50.0, 0.0), (0, 200)] {
            let harness = try deesser(
                "wide", rate: rate,
                [
                    "threshold_db": -40, "ratio": 2, "range_db": -60, "attack_ms": Float(attack),
                    "release_ms": Float(release), "frequency": 1000,
                ])
            let output = harness.run(3 * half, inputs: [input], plan: .fixed(777))[0]
            for after in [100, 1000, 5000] {
                // The filter is behind by less than half a millisecond.
                let milliseconds = Double(after + 1) / rate * 1000
                let frame = attack > 0 ? half + after : 2 * half + after
                let expected =
                    attack > 0 ? 10 * (1 - exp(-milliseconds / attack)) : 10 * exp(-milliseconds / release)
                #expect(abs(-Signal.decibels(Double(output[frame] / input[frame])) - expected) < 0.1)
            }
        }
    }
}

extension Signal {
    /// The amplitude of the component of `frequency` in whole periods at 48 kHz.
    static func amplitude(of frequency: Double, in signal: ArraySlice<Float>) -> Double {
        var (re, im) = (0.0, 0.0)
        for (index, sample) in signal.enumerated() {
            let angle = 2 * .pi * frequency * Double(index) / 48000
            re += Double(sample) * cos(angle)
            im += Double(sample) * sin(angle)
        }
        return (re * re + im * im).squareRoot() * 2 / Double(signal.count)
    }
}
