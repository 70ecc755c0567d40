// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@Suite struct ToneTests {
    @Test("The default is 440 hertz at minus 20 DBFS", arguments: testRates) func defaults(_ rate: Double) throws {
        let output = try NodeHarness(type("tone"), rate: rate).run(Int(rate))[0]
        let expected = Signal.sine(440, rate: rate, frames: Int(rate), amplitude: 0.1)
        #expect(Signal.difference(output, expected) < 1e-7)
        #expect(Signal.upwardCrossings(output) == 439)  // the one at frame 0 has nothing before it
    }

    @Test(
        "The signal does not depend on the blocks",
        arguments: ["sine", "square", "saw", "triangle", "sweep", "noise", "pink", "impulse"], BlockPlan.all)
    func blocks(_ wave: String, _ plan: BlockPlan) throws {
        let settings: [String: SettingValue] = [
            "wave": .string(wave), "channels": .integer(2), "seconds": .number(0.07), "period": .number(0.011),
            "end": .number(5000),
        ]
        let whole = try NodeHarness(type("tone"), settings, maxBlock: 8000).run(8000, plan: .fixed(8000))
        #expect(try NodeHarness(type("tone"), settings).run(8000, plan: plan) == whole)
        #expect(Signal.peak(whole[1]) > 0)
    }

    @Test("The peak is the level", arguments: [("sine", 0.01), ("triangle", 0.02), ("noise", 0.01)])
    func peak(_ wave: String, _ tolerance: Double) throws {
        let harness = try NodeHarness(type("tone"), ["wave": .string(wave)])
        harness.set("level_db", -6)
        harness.set("frequency", 997)
        let level = Signal.decibels(Double(Signal.peak(harness.run(48000)[0])))
        #expect(abs(level + 6) < tolerance * 10)
    }

    @Test("A ramp of the frequency does not jump") func frequencyRamp() throws {
        let harness = try NodeHarness(type("tone"))
        harness.set("level_db", 0)
        var signal = harness.run(1000)[0]
        harness.set("frequency", 880, over: 480)
        signal += harness.run(2000)[0]
        #expect(Signal.largestStep(signal) < Float(2 * Double.pi * 881 / 48000))
        harness.set("level_db", -120)
        #expect(Signal.peak(harness.run(100)[0]) == 0)
        #expect(harness.silentOutputs.last == [true])
    }

    @Test(
        "What is beyond half the rate is silent, which is told once",
        arguments: ["sine", "square", "saw", "triangle"])
    func beyondNyquist(_ wave: String) throws {
        let harness = try NodeHarness(type("tone"), ["wave": .string(wave)], rate: 44100)
        harness.set("level_db", 0)
        harness.set("frequency", 22051)
        #expect(Signal.peak(harness.run(4410)[0]) == 0)
        #expect(!harness.silentOutputs.contains([false]))
        let notes = harness.takeNotes()
        #expect(notes.map(\.text) == ["a frequency beyond half the sample rate is silent (Hz)"])
        #expect(notes.first?.kind == VG_NOTICE_LOG.rawValue && notes.first?.value == 22051)
        // There and back: it comes and goes by a fade.
        harness.set("frequency", 441)
        let back = harness.run(2205)[0]
        #expect(Signal.peak(back[..<2]) < 1e-4)
        #expect(Signal.peak(back[1000...]) > 0.99)
        harness.set("frequency", 30000)
        let away = harness.run(2205)[0]
        #expect(Signal.peak(away[..<10]) > 0.01)
        #expect(Signal.peak(away[221...]) == 0)
        #expect(harness.takeNotes().isEmpty)
    }

    /// Frequencies that fit into the signal a whole, odd number of times, so that no alias falls on a harmonic.
    @Test(
        "Band-limited waves have the harmonics of the ideal wave, and aliases below -80 dB",
        arguments: ["square", "saw", "triangle"], [8000, 44100, 48000, 96000, 384_000])
    func harmonics(_ wave: String, _ rate: Double) throws {
        let frames = 16384
        for wanted in [rate / 900, 997, 0.104 * rate, 0.2083 * rate, 0.31 * rate] {
            let cycles = Int(wanted * Double(frames) / rate) | 1
            let harness = try NodeHarness(type("tone"), ["wave": .string(wave)], rate: rate)
            harness.set("level_db", 0)
            harness.set("frequency", Float(Double(cycles) * rate / Double(frames)))
            let spectrum = Spectrum(harness.run(frames, plan: .fixed(1024))[0])
            var rest = spectrum.amplitudes
            for harmonic in 1..<frames where harmonic * cycles <= frames / 2 {
                let bin = harmonic * cycles
                if Double(bin) < 0.45 * Double(frames) {
                    let ideal = amplitude(wave, harmonic)
                    #expect(
                        abs(spectrum.amplitudes[bin] - ideal) < 5e-5, "harmonic \(harmonic) of \(cycles) cycles")
                }
                rest[bin] = 0
            }
            let alias = Signal.decibels(rest.max()! / amplitude(wave, 1))
            #expect(alias < -80, "\(alias) dB at \(Double(cycles) * rate / Double(frames)) Hz")
        }
    }

    /// The Fourier series of an ideal wave of peak 1.
    private func amplitude(_ wave: String, _ harmonic: Int) -> Double {
        let k = Double(harmonic)
        switch wave {
        case "saw": return 2 / (.pi * k)
        case "square": return harmonic % 2 == 1 ? 4 / (.pi * k) : 0
        default: return harmonic % 2 == 1 ? 8 / (.pi * .pi * k * k) : 0
        }
    }

    @Test("Band-limited waves are the first partials of their Fourier series, sample by sample", arguments: testRates)
    func series(_ rate: Double) throws {
        // All partials are below 0.455 of the rate or beyond half of it.
        let cases: [(String, Double, (Double) -> Double)] = [
            ("square", 0.14, { 4 / .pi * (sin($0) + sin(3 * $0) / 3) }),
            ("saw", 0.14, { 2 / .pi * (sin($0) - sin(2 * $0) / 2 + sin(3 * $0) / 3) }),
            ("triangle", 0.14, { 8 / (.pi * .pi) * (sin($0) - sin(3 * $0) / 9) }),
            ("square", 0.4, { 4 / .pi * sin($0) }),
        ]
        for (wave, share, formula) in cases {
            let frequency = Float(share * rate)
            let harness = try NodeHarness(type("tone"), ["wave": .string(wave)], rate: rate)
            harness.set("level_db", 0)
            harness.set("frequency", frequency)
            let output = harness.run(2000)[0]
            let expected = (0..<2000).map { Float(formula(2 * .pi * Double(frequency) * Double($0) / rate)) }
            #expect(Signal.difference(output, expected) < 1e-4, "\(wave) at \(frequency) Hz")
        }
    }

    @Test("A sweep goes from start to end") func sweep() throws {
        let settings: [String: SettingValue] = [
            "wave": .string("sweep"), "start": .number(100), "end": .number(1600), "seconds": .number(4),
            "repeat": .bool(false),
        ]
        let harness = try NodeHarness(type("tone"), settings)
        #expect(!harness.instance.isIdle)
        let output = harness.run(48000 * 4)[0]
        for second in 0..<4 {
            // An octave a second: 100 Hz * 2^second to twice that, so 100 * 2^second / ln 2 crossings.
            let crossings = Signal.upwardCrossings(Array(output[(second * 48000)..<((second + 1) * 48000)]))
            #expect(abs(Double(crossings) - 100 * pow(2, Double(second)) / log(2)) < 1.5)
        }
        #expect(Signal.peak(harness.run(1000)[0]) == 0)
        #expect(harness.silentOutputs.last == [true])
        #expect(harness.instance.isIdle)
    }

    @Test(
        "A sweep follows its law to the sample, and fades at its end",
        arguments: [(20, 20_000, 10), (8000, 50, 3), (1000, 1000, 2), (440, 440.0001, 5)], [44100.0, 96000])
    func sweepLaw(_ law: (start: Double, end: Double, seconds: Double), _ rate: Double) throws {
        let settings: [String: SettingValue] = [
            "wave": .string("sweep"), "start": .number(law.start), "end": .number(law.end),
            "seconds": .number(law.seconds), "repeat": .bool(false),
        ]
        let harness = try NodeHarness(type("tone"), settings, rate: rate)
        harness.set("level_db", 0)
        let frames = Int(law.seconds * rate)
        let output = harness.run(frames + 100, plan: .fixed(1000))[0]
        let fade = Int(rate * 0.005)
        // The integral of start * (end / start)^(t / T) from 0 to t, with expm1 for ends that are close.
        let octaves = log(law.end / law.start)
        var worst = 0.0
        for frame in 0..<frames - fade - 1 {
            let t = Double(frame) / rate
            let cycles =
                octaves == 0 ? law.start * t : law.start * law.seconds / octaves * expm1(octaves * t / law.seconds)
            worst = max(worst, abs(Double(output[frame]) - sin(2 * .pi * cycles)))
        }
        #expect(worst < 1e-6)
        #expect(Signal.peak(output[frames...]) == 0)
        #expect(Signal.peak(output[(frames - fade / 2)..<frames]) < 0.51)
        #expect(Signal.peak(output[(frames - fade / 10)..<frames]) < 0.03)
    }

    @Test("The phase of a sweep goes on when it begins again") func repeatedSweep() throws {
        let settings: [String: SettingValue] = [
            "wave": .string("sweep"), "start": .number(100), "end": .number(300), "seconds": .number(0.1),
        ]
        let harness = try NodeHarness(type("tone"), settings)
        harness.set("level_db", 0)
        let output = harness.run(48000, plan: .random(max: 700, seed: 3))[0]
        #expect(Signal.largestStep(output) < Float(2 * Double.pi * 301 / 48000))
        let period = 100 * 0.1 / log(3) * 2
        let cycles = 9 * period + 0
        #expect(abs(Double(output[9 * 4800]) - sin(2 * .pi * cycles)) < 1e-6)
    }

    @Test("A sweep beyond half the rate is silent there, which is told") func sweepBeyond() throws {
        let settings: [String: SettingValue] = [
            "wave": .string("sweep"), "start": .number(1000), "end": .number(16000), "seconds": .number(1),
        ]
        let harness = try NodeHarness(type("tone"), settings, rate: 8000)
        harness.set("level_db", 0)
        let output = harness.run(8000)[0]
        // 4000 Hz come after half a second.
        #expect(Signal.peak(output[3800..<3990]) > 0.9)
        #expect(Signal.peak(output[4050...]) == 0)
        #expect(harness.takeNotes().count == 1)
    }

    @Test("Pink noise falls by 3 dB an octave", arguments: [8000.0, 44100, 48000, 96000, 384_000])
    func pinkSlope(_ rate: Double) throws {
        // What is made pink is the white noise of the same seed: their quotient is the slope, without chance.
        let frames = rate > 100_000 ? 1 << 18 : 1 << 16
        func spectrum(_ wave: String) throws -> Spectrum {
            let harness = try NodeHarness(type("tone"), ["wave": .string(wave), "seed": .integer(7)], rate: rate)
            harness.set("level_db", 0)
            return Spectrum.windowed(harness.run(frames, plan: .fixed(1024))[0])
        }
        let (pink, white) = (try spectrum("pink").amplitudes, try spectrum("noise").amplitudes)
        var levels: [Double] = []
        var frequency = 20.0
        while frequency * 1.2 < min(20_000, 0.475 * rate) {
            let bins = Int(frequency / rate * Double(frames))...Int(1.2 * frequency / rate * Double(frames))
            let flat = bins.reduce(0) { $0 + pink[$1] * pink[$1] * Double($1) }
            levels.append(10 * log10(flat / bins.reduce(0) { $0 + white[$1] * white[$1] }))
            frequency *= 1.2
        }
        let (lowest, highest) = (levels.min()!, levels.max()!)
        #expect(highest - lowest < 0.9, "\(levels)")
    }

    @Test("Pink noise is 15 dB below the level, and other for other channels and seeds", arguments: testRates)
    func pinkLevel(_ rate: Double) throws {
        let settings: [String: SettingValue] = ["wave": .string("pink"), "channels": .integer(2)]
        let harness = try NodeHarness(type("tone"), settings, rate: rate)
        harness.set("level_db", -6)
        let noise = harness.run(Int(8 * rate), plan: .fixed(1024))
        for channel in noise {
            #expect(abs(Signal.decibels(Signal.rms(channel)) + 21) < 0.3)
            #expect(Signal.peak(channel) < 0.5)
        }
        #expect(noise[0] != noise[1])
        let other = try NodeHarness(type("tone"), settings.merging(["seed": .integer(2)]) { $1 }, rate: rate)
        other.set("level_db", -6)
        #expect(other.run(100)[0] != Array(noise[0][..<100]))
    }

    @Test("Noise is white, even, and different per channel and seed") func noise() throws {
        let settings: [String: SettingValue] = ["wave": .string("noise"), "channels": .integer(2)]
        let harness = try NodeHarness(type("tone"), settings)
        harness.set("level_db", 0)
        let noise = harness.run(48000)
        #expect(abs(Signal.rms(noise[0]) - 1 / 3.0.squareRoot()) < 0.01)
        #expect(abs(noise[0].reduce(0, +) / 48000) < 0.01)
        func correlation(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) -> Float {
            zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } / 16000
        }
        #expect(abs(correlation(noise[0][...], noise[1][...])) < 0.02)
        for lag in [1, 2, 7, 64] { #expect(abs(correlation(noise[0].dropLast(lag), noise[0].dropFirst(lag))) < 0.03) }
        let other = try NodeHarness(type("tone"), settings.merging(["seed": .integer(2)]) { $1 })
        other.set("level_db", 0)
        #expect(other.run(100)[0] != Array(noise[0][..<100]))
    }

    @Test("Impulses come once a period") func impulses() throws {
        let harness = try NodeHarness(type("tone"), ["wave": .string("impulse"), "period": .number(0.01)])
        harness.set("level_db", 0)
        let output = harness.run(1500, plan: .random(max: 300, seed: 6))[0]
        let loud = output.indices.filter { output[$0] != 0 }
        #expect(loud == [0, 480, 960, 1440])
        #expect(output[480] == 1)
    }

    @Test("An unknown wave is refused with the list") func unknownWave() throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("tone"), ["wave": .string("saws")]) }
        #expect(error?.key == "wave")
        #expect(error?.hint.contains("sweep") == true)
    }
}
