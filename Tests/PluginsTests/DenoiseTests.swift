// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

/// The node that takes noise away, with the real model.
@Suite(.serialized) struct DenoiseTests {
    private static let isInstalled = TestModels.have("gtcrn", "onnxruntime")

    private func harness(rate: Double = 48_000, maxBlock: Int = 256, offline: Bool = true) throws -> NodeHarness {
        try NodeHarness(pluginType("denoise"), rate: rate, maxBlock: maxBlock, offline: offline)
    }

    /// What comes out of a signal, without the latency.
    private func cleaned(_ signal: [Float], by node: NodeHarness) -> [Float] {
        let latency = node.instance.latency
        let block = node.preparation.maxBlock
        let padded = signal + [Float](repeating: 0, count: latency + block)
        var output: [Float] = []
        for start in stride(from: 0, to: padded.count - block + 1, by: block) {
            output += node.run([block], inputs: [Array(padded[start..<start + block])])[0]
            node.instance.wait(frames: block)
        }
        return Array(output[latency..<min(output.count, latency + signal.count)])
    }

    /// A voice at a rate, and noise at so many dB below it.
    private func scene(rate: Double, ratio: Double) throws -> (voice: [Float], noisy: [Float]) {
        let spoken = try spoken("The quick brown fox jumps over the lazy dog, and then it sleeps.")
        let factor = rate / 16_000
        let count = Int(Double(spoken.count - 1) * factor)
        let voice = (0..<count).map { index -> Float in
            let place = Double(index) / factor
            let (low, part) = (Int(place), Float(place - place.rounded(.down)))
            return 0.5 * (spoken[low] * (1 - part) + spoken[low + 1] * part)
        }
        var random = TestRandom(seed: 3)
        let noise = (0..<count).map { _ in Float.random(in: -1...1, using: &random) }
        let level = Float(pow(10, -ratio / 20))
        let gain: Float = level * Float(Signal.rms(voice) / Signal.rms(noise))
        return (voice, zip(voice, noise).map { (voice: Float, noise: Float) -> Float in voice + gain * noise })
    }

    /// Signal to distortion in dB, whatever the gain (J. Le Roux and others, SDR: half-baked or well done?, 2019).
    private func quality(_ signal: [Float], of voice: [Float]) -> Double {
        let pairs = zip(signal, voice).map { (Double($0), Double($1)) }
        var (power, dot, rest) = (0.0, 0.0, 0.0)
        for (sample, wanted) in pairs {
            power += wanted * wanted
            dot += sample * wanted
        }
        let gain = dot / power
        for (sample, wanted) in pairs {
            let difference = sample - gain * wanted
            rest += difference * difference
        }
        return 10 * log10(gain * gain * power / rest)
    }

    @Test(
        "Noise goes and the voice stays, at every rate", .enabled(if: isInstalled),
        arguments: [(8000.0, 2.0), (16_000, 5), (44_100, 5), (96_000, 5)])
    func voice(rate: Double, least: Double) throws {
        let (voice, noisy) = try scene(rate: rate, ratio: 5)
        let output = cleaned(noisy, by: try harness(rate: rate))
        let (before, after) = (quality(noisy, of: voice), quality(output, of: voice))
        print("figure: denoise at \(Int(rate)) Hz: \(Float(before)) to \(Float(after)) dB")
        #expect(after - before > least)
    }

    @Test("Where nobody speaks it becomes quiet, which is told", .enabled(if: isInstalled)) func noise() throws {
        var random = TestRandom(seed: 4)
        let noise = (0..<144_000).map { _ in Float.random(in: -0.1...0.1, using: &random) }
        let node = try harness()
        let left = Array(cleaned(noise, by: node).suffix(48_000))
        let reduction = -Signal.decibels(Signal.rms(left) / Signal.rms(noise))
        #expect(reduction > 15)
        let told = try #require(node.capture.frames.last?.rows[0]?.first)
        #expect(node.capture.frames.count > 25 && told > 15, "\(told) and \(reduction) dB")
    }

    @Test(
        "Without it the sound is what it was, as late as is told, also while the mix moves", .enabled(if: isInstalled))
    func mix() throws {
        let (_, noisy) = try scene(rate: 48_000, ratio: 10)
        let node = try harness(maxBlock: 128)
        node.set("mix", 0)
        _ = node.run([128])
        #expect(cleaned(noisy, by: node) == noisy)
        let half = try harness(maxBlock: 128)
        half.set("mix", 0.5)
        _ = half.run([128])
        let whole = try harness(maxBlock: 128)
        _ = whole.run([128])
        let expected = zip(noisy, cleaned(noisy, by: whole)).map { ($0 + $1) / 2 }
        #expect(Signal.peak(zip(cleaned(noisy, by: half), expected).map { $0 - $1 }) < 1e-5)
    }

    @Test("Samples that are no numbers are counted, and what comes after them is heard", .enabled(if: isInstalled))
    func broken() throws {
        let (voice, noisy) = try scene(rate: 48_000, ratio: 10)
        let node = try harness()
        var signal = noisy
        for place in 4800..<4900 { signal[place] = place % 2 == 0 ? .nan : .infinity }
        let output = cleaned(signal, by: node)
        #expect(node.capture.counts["not a number"] == 100)
        #expect(output.allSatisfy { $0.isFinite })
        #expect(quality(Array(output[48_000...]), of: Array(voice[48_000..<output.count])) > 8)
    }

    @Test("A stream that is prepared again begins anew, and is the same", .enabled(if: isInstalled)) func again() throws
    {
        let (_, noisy) = try scene(rate: 48_000, ratio: 5)
        let node = try harness()
        let first = cleaned(noisy, by: node)
        try node.prepare(node.preparation)
        #expect(cleaned(noisy, by: node) == first)
    }

    @Test("Without the model the error says how to get it") func missing() async throws {
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            setenv(VG_TEST_USER_DATA, folder, 1)
            let type = try pluginType("denoise")
            var hint = ""
            do { _ = try NodeHarness(type) } catch { hint = (error as? NodeError)?.hint ?? "" }
            #expect(hint == "voicegraph models install gtcrn")
        }
    }
}
