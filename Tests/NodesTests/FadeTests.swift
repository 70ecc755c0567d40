// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

/// What is heard of a movement beside the movement itself: a constant is given, and all above 2 kHz is a click.
@Suite struct FadeTests {
    /// The largest sample of what is above 2 kHz, in dBFS, by a filter of 2001 taps (a Blackman window: Oppenheim,
    /// Schafer, "Discrete-Time Signal Processing").
    private func click(_ signal: [Float], rate: Double) -> Double {
        let half = 1000
        let taps = (-half...half).map { index -> Double in
            let place = Double(index + half) / Double(2 * half)
            let window = 0.42 - 0.5 * cos(2 * .pi * place) + 0.08 * cos(4 * .pi * place)
            let x = 2 * 2000 / rate
            let low = index == 0 ? x : sin(.pi * x * Double(index)) / (.pi * Double(index))
            return (index == 0 ? 1 : 0) - low * window
        }
        let samples = signal.map(Double.init)
        var largest = 0.0
        for center in stride(from: half, to: signal.count - half, by: 1) {
            largest = max(largest, abs(Signal.product(taps[...], samples[(center - half)...(center + half)])))
        }
        return Signal.decibels(max(largest, 1e-9))
    }

    /// A parameter goes there and back within 10 ms each; every output, at 48 kHz.
    private func moved(_ name: String, _ key: String, _ from: Float, _ to: Float, over frames: Int) throws -> [[Float]]
    {
        let harness = try NodeHarness(type(name))
        let ones = Array(repeating: Signal.constant(1, frames: 1500), count: name == "balance" ? 2 : 1)
        harness.set(key, from)
        var outputs = harness.run(1500, inputs: ones, plan: .fixed(64))
        for value in [to, from] {
            harness.set(key, value, over: frames)
            let more = harness.run(1500, inputs: ones, plan: .fixed(64))
            for channel in outputs.indices { outputs[channel] += more[channel] }
        }
        return outputs
    }

    @Test(
        "A movement of 10 ms is heard as nothing else",
        arguments: [
            ("gain", "gain_db", 0, -120), ("gain", "gain_db", 0, -6), ("gain", "gain_db", 0, -40),
            ("mute", "muted", 0, 1),
            ("pan", "position", -1, 1), ("pan", "position", 0, 1), ("balance", "position", -1, 0),
        ] as [(String, String, Float, Float)])
    func movement(_ name: String, _ key: String, _ from: Float, _ to: Float) throws {
        for (channel, output) in try moved(name, key, from, to, over: name == "mute" ? 0 : 480).enumerated() {
            let level = click(output, rate: 48_000)
            print(
                "figure: \(name) \(key) \(from) to \(to), output \(channel): \(Int(level.rounded())) dBFS above 2 kHz")
            #expect(level < -80)
        }
    }

    @Test(
        "A move that begins in the middle of another goes on from what is heard, at any block", arguments: BlockPlan.all
    )
    func interrupted(_ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("gain"))
        harness.set("gain_db", 0)
        harness.set("gain_db", -40, over: 480)
        var output = harness.run(200, inputs: [Signal.constant(1, frames: 200)], plan: .fixed(50))[0]
        harness.set("gain_db", 6, over: 480)
        output += harness.run(1000, inputs: [Signal.constant(1, frames: 1000)], plan: plan)[0]
        #expect(Signal.largestStep(output) < 0.01)
        #expect(abs(Double(output[1199]) - pow(10, 0.3)) < 1e-5)
    }
}
