// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

private let allRates: [Double] = [8000, 44100, 48000, 96000, 192_000, 384_000]

/// A filter that stands still.
private func makeFilter(
    _ kind: String, frequency: Float, q: Float, gain: Float = 0, _ more: [String: SettingValue] = [:],
    rate: Double = 48000, maxBlock: Int = 1024
) throws -> NodeHarness {
    let harness = try NodeHarness(
        type("filter"), more.merging(["kind": .string(kind)]) { $1 }, rate: rate, maxBlock: maxBlock)
    harness.set("frequency", frequency)
    harness.set("q", q)
    if hasGain(kind) { harness.set("gain_db", gain) }
    return harness
}

private func hasGain(_ kind: String) -> Bool { kind == "peak" || kind.hasSuffix("shelf") }

@Suite struct FilterTests {
    @Test(
        "The magnitude is the cookbook's", arguments: Cookbook.kinds,
        [(200, 0.5, 12), (1000, 0.7071, -12), (1000, 5, 30), (6000, 2, -30), (19000, 0.7071, 6)]
            as [(Float, Float, Float)])
    func magnitudes(_ kind: String, _ values: (frequency: Float, q: Float, gain: Float)) throws {
        let harness = try makeFilter(kind, frequency: values.frequency, q: values.q, gain: values.gain)
        let response = harness.run(12000, inputs: [Signal.impulse(at: 0, frames: 1)])[0]
        let expected = Cookbook(
            kind, frequency: Double(values.frequency), q: Double(values.q), gain: Double(values.gain), rate: 48000)
        for step in 0..<40 {
            let frequency = 20 * pow(1150, Double(step) / 39) / 48000
            let (found, wanted) = (magnitude(of: response, at: frequency), expected.magnitude(at: frequency))
            #expect(abs(found - wanted) < 2e-6 * max(1, wanted), "\(frequency * 48000) Hz: \(found), not \(wanted)")
        }
    }

    @Test("Noise comes out as from the cookbook's biquad at every rate", arguments: Cookbook.kinds, allRates)
    func noise(_ kind: String, _ rate: Double) throws {
        let input = Signal.noise(frames: 4000, seed: 3, amplitude: 0.5)
        for (frequency, q, gain) in [(30, 0.7071, 9), (1000, 3, -15), (3700, 0.5, 24)] as [(Float, Float, Float)] {
            let harness = try makeFilter(kind, frequency: frequency, q: q, gain: gain, rate: rate)
            let output = harness.run(4000, inputs: [input], plan: .random(max: 500, seed: 4))[0]
            let biquad = Cookbook(
                kind, frequency: Double(frequency), q: Double(q), gain: Double(gain), rate: rate)
            let expected = biquad.filtered(input.map { Double($0) })
            let error = zip(output, expected).map { abs(Double($0) - $1) }.max() ?? 1
            #expect(error < 1e-6 * max(1, expected.map(\.magnitude).max() ?? 1), "\(frequency) Hz: \(error)")
        }
    }

    @Test(
        "It is what sox makes of the same numbers",
        arguments: [
            ("lowpass", ["lowpass", "-2", "900", "1.5q"]), ("highpass", ["highpass", "-2", "900", "1.5q"]),
            ("bandpass", ["bandpass", "900", "1.5q"]), ("notch", ["bandreject", "900", "1.5q"]),
            ("allpass", ["allpass", "900", "1.5q"]), ("peak", ["equalizer", "900", "1.5q", "7"]),
            ("lowshelf", ["bass", "7", "900", "1.5q"]), ("highshelf", ["treble", "7", "900", "1.5q"]),
        ])
    func sox(_ kind: String, _ effect: [String]) async throws {
        let scratch = try Scratch()
        let input = Signal.noise(frames: 8000, seed: 12, amplitude: 0.1)
        try SoundFile(rate: 44100, samples: [input]).write(scratch.file("in.wav"))
        let made = try await runTool(
            ["sox", "-D", scratch.file("in.wav"), "-e", "floating-point", "-b", "32", scratch.file("out.wav")]
                + effect)
        #expect(made.status == 0, "\(made.output)")
        let expected = try SoundFile(scratch.file("out.wav")).samples[0]
        let harness = try makeFilter(kind, frequency: 900, q: 1.5, gain: 7, rate: 44100)
        #expect(Signal.difference(harness.run(8000, inputs: [input])[0], expected) < 2e-7)
    }

    @Test(
        "A slope is a Butterworth filter, and q its gain at the frequency", arguments: ["lowpass", "highpass"],
        [12, 24, 36, 48])
    func slopes(_ kind: String, _ slope: Int) throws {
        let settings: [String: SettingValue] = ["slope": .integer(Int64(slope))]
        let impulse = [Signal.impulse(at: 0, frames: 1)]
        let response = try makeFilter(kind, frequency: 1000, q: Float(0.5.squareRoot()), settings).run(
            24000, inputs: impulse)[0]
        for frequency in [50, 250, 500, 900, 1000, 1100, 2000, 4000, 16000] as [Double] {
            // The analog prototype's frequency under the bilinear transform.
            let ratio = tan(.pi * frequency / 48000) / tan(.pi * 1000 / 48000)
            let order = Double(slope / 6) * (kind == "lowpass" ? 2 : -2)
            let wanted = 1 / (1 + pow(ratio, order)).squareRoot()
            #expect(abs(magnitude(of: response, at: frequency / 48000) - wanted) < 2e-6, "\(frequency) Hz")
        }
        let resonant = try makeFilter(kind, frequency: 1000, q: 4, settings).run(24000, inputs: impulse)[0]
        #expect(abs(magnitude(of: resonant, at: 1000.0 / 48000) - 4) < 1e-4)
    }

    @Test("A frequency above 0.49 of the rate is held there, which is told once", arguments: Cookbook.kinds)
    func highFrequency(_ kind: String) throws {
        let input = Signal.noise(frames: 1000, seed: 5)
        let harness = try makeFilter(kind, frequency: 3920, q: 1, gain: 6, rate: 8000)
        _ = harness.run(64)
        #expect(harness.takeNotes().isEmpty)
        harness.set("frequency", 96000)
        let held = harness.run(1000, inputs: [input])[0]
        harness.set("frequency", 5000)
        _ = harness.run(64)
        let notes = harness.takeNotes()
        #expect(notes.map(\.value) == [3920] && notes.map(\.position) == [64])
        #expect(notes.first?.kind == VG_NOTICE_LOG.rawValue)
        let biquad = Cookbook(kind, frequency: 3920, q: 1, gain: 6, rate: 8000)
        let error = zip(held, biquad.filtered(input.map { Double($0) })).map { abs(Double($0) - $1) }.max() ?? 1
        #expect(error < 2e-6)
    }

    /// The steps of all ramps are exact in Float, so that the values do not depend on the blocks either.
    @Test("The signal does not depend on the blocks, moving or not", arguments: Cookbook.kinds, BlockPlan.all)
    func blocks(_ kind: String, _ plan: BlockPlan) throws {
        func run(_ plan: BlockPlan, maxBlock: Int) throws -> [[Float]] {
            let harness = try makeFilter(
                kind, frequency: 1000, q: 0.5, gain: -4, ["channels": .integer(2)], maxBlock: maxBlock)
            harness.set("frequency", 5096, over: 4096)
            harness.set("q", 1.5, over: 4096)
            if hasGain(kind) { harness.set("gain_db", 4, over: 4096) }
            return harness.run(8192, inputs: [Signal.noise(frames: 5000, seed: 1), [1, 1]], plan: plan)
        }
        let whole = try run(.fixed(8192), maxBlock: 8192)
        #expect(try run(plan, maxBlock: 1024) == whole)
        #expect(Signal.peak(whole[1]) > 0)
    }

    @Test("In place and beside give the same") func inPlace() throws {
        let settings: [String: SettingValue] = ["channels": .integer(3), "slope": .integer(24)]
        let inputs = (1...3).map { Signal.noise(frames: 2000, seed: UInt64($0)) }
        let beside = try makeFilter("lowpass", frequency: 700, q: 2, settings)
        let inPlace = try makeFilter("lowpass", frequency: 700, q: 2, settings)
        inPlace.inPlace = true
        for harness in [beside, inPlace] { harness.set("frequency", 5000, over: 480) }
        #expect(beside.run(2000, inputs: inputs) == inPlace.run(2000, inputs: inputs))
    }

    /// A biquad of direct form I whose coefficients move the same way grows without bound.
    @Test(
        "A frequency that moves in every frame keeps the signal bounded and smooth",
        arguments: [0.5, 0.7071, 4] as [Float])
    func modulation(_ q: Float) throws {
        let harness = try makeFilter("lowpass", frequency: 20, q: q)
        var random = TestRandom(seed: 8)
        let sine = Signal.sine(50, rate: 48000, frames: 24000)
        var output: [Float] = []
        for frame in sine.indices {
            harness.set("frequency", 20 * pow(1000, (random.sample() + 1) / 2))
            output += harness.run([1], inputs: [[sine[frame]]])[0]
        }
        #expect(Signal.peak(output) < 1.5)
        #expect(Signal.rms(output.suffix(20000)) > 0.6)
        #expect(Signal.largestStep(output) < 0.2)
    }

    @Test(
        "A move of ten milliseconds adds next to nothing above two kilohertz",
        arguments: [
            ("lowpass", "frequency", 500, 5000, -75), ("highpass", "frequency", 20, 500, -70),
            ("peak", "gain_db", 0, 12, -60),
        ] as [(String, String, Float, Float, Double)])
    func smoothMove(_ kind: String, _ parameter: String, _ from: Float, _ to: Float, _ limit: Double) throws {
        let harness = try makeFilter(kind, frequency: 200, q: 0.7071)
        harness.set(parameter, from)
        let sine = Signal.sine(100, rate: 48000, frames: 9600, amplitude: 0.5)
        var output = harness.run(4800, inputs: [Array(sine[..<4800])])[0]
        harness.set(parameter, to, over: 480)
        output += harness.run(4800, inputs: [Array(sine[4800...])])[0]
        let high = Cookbook("highpass", frequency: 2000, q: 0.7071, rate: 48000)
        let rest = (0..<4).reduce(output.map { Double($0) }) { signal, _ in high.filtered(signal) }
        // Not the beginning, where the sine begins.
        let level = Signal.decibels(rest[2400...].map(\.magnitude).max() ?? 1)
        #expect(level < limit, "\(level) dBFS")
    }

    @Test("Any response stays bounded when all its parameters jump in every frame", arguments: Cookbook.kinds)
    func jumps(_ kind: String) throws {
        let harness = try makeFilter(kind, frequency: 20, q: 1)
        var random = TestRandom(seed: 9)
        let noise = Signal.noise(frames: 12000, seed: 2)
        var output: [Float] = []
        for frame in noise.indices {
            harness.set("frequency", 10 * pow(2400, (random.sample() + 1) / 2))
            harness.set("q", pow(30, random.sample()))
            if hasGain(kind) { harness.set("gain_db", 12 * random.sample()) }
            output += harness.run([1], inputs: [[noise[frame]]])[0]
        }
        // Q jumps by a factor of up to 900, and what has built up at one Q is heard at another.
        #expect(Signal.peak(output) < 300)
        // It goes on as a filter that never moved does.
        harness.set("frequency", 1000)
        harness.set("q", 1)
        let after = harness.run(6000, inputs: [Array(noise[..<100])])[0]
        #expect(Signal.peak(after[4000...]) < 1e-6)
    }

    @Test("What is not a number or infinite counts as zero", arguments: [Float.nan, .infinity, -.infinity])
    func nonsense(_ bad: Float) throws {
        let noise = Signal.noise(frames: 2000, seed: 6)
        var (broken, zeroed) = (noise, noise)
        for frame in [0, 17, 500, 501] { (broken[frame], zeroed[frame]) = (bad, 0) }
        let expected = try makeFilter("peak", frequency: 300, q: 3, gain: 12).run(2000, inputs: [zeroed])
        #expect(try makeFilter("peak", frequency: 300, q: 3, gain: 12).run(2000, inputs: [broken]) == expected)
    }

    @Test("Silence is flagged when it has died away, and not before") func silence() throws {
        let harness = try makeFilter("lowpass", frequency: 1000, q: 0.7071, ["channels": .integer(2)])
        _ = harness.run(64, inputs: [[1], []])
        #expect(harness.silentOutputs.last == [false, true])
        let tail = harness.run(12800)
        #expect(tail[0][..<100].contains { $0 != 0 })
        #expect(harness.silentOutputs.last == [true, true])
        // Also while a parameter moves.
        harness.set("frequency", 2000, over: 480)
        _ = harness.run(64)
        #expect(harness.silentOutputs.last == [true, true])
        #expect(Signal.peak(harness.run(64, inputs: [[], [1]])[1]) > 0)
        #expect(harness.silentOutputs.last == [true, false])
    }

    @Test("Kinds without a gain have no such parameter") func parameters() throws {
        for kind in Cookbook.kinds {
            let keys = try makeFilter(kind, frequency: 1000, q: 1).instance.parameters.map(\.key)
            #expect(keys == (hasGain(kind) ? ["frequency", "q", "gain_db"] : ["frequency", "q"]))
        }
    }

    @Test(
        "Settings that make no sense are refused",
        arguments: [
            ("kind", ["kind": .string("lowpas")]), ("slope", ["kind": .string("lowpass"), "slope": .integer(30)]),
            ("slope", ["kind": .string("peak"), "slope": .integer(24)]),
            ("slope", ["kind": .string("lowpass"), "slope": .integer(60)]),
        ] as [(String, [String: SettingValue])])
    func refused(_ key: String, _ settings: [String: SettingValue]) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("filter"), settings) }
        #expect(error?.key == key)
        #expect(error?.hint.isEmpty == false)
    }
}
