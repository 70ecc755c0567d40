// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct LFOTests {
    private static let waves = ["sine", "triangle", "saw", "square", "random"]

    private func make(_ wave: String, _ more: [String: SettingValue] = [:], rate: Double = 48000) throws -> NodeHarness
    {
        try NodeHarness(type("lfo"), more.merging(["wave": .string(wave)]) { $1 }, rate: rate, maxBlock: 8192)
    }

    /// The values at the ends of blocks.
    private func values(_ harness: NodeHarness, _ frames: Int, _ plan: BlockPlan) -> [Float] {
        let before = harness.controlOutputs.count
        _ = harness.run(frames, plan: plan)
        return harness.controlOutputs[before...].map { $0[0] }
    }

    /// A cycle of each wave, from its definition; t in cycles.
    private func expected(_ wave: String, _ t: Double) -> Double {
        let part = t - floor(t)
        return switch wave {
        case "sine": sin(2 * .pi * part)
        case "triangle": 2 / .pi * asin(sin(2 * .pi * part))
        case "saw": 2 * part - 1
        default: part < 0.5 ? 1 : -1
        }
    }

    @Test(
        "A block's value is that of the wave at its end", arguments: ["sine", "triangle", "saw", "square"],
        [8000, 44100, 48000, 96000, 384_000] as [Double])
    func waveforms(_ wave: String, _ rate: Double) throws {
        let harness = try make(wave, rate: rate)
        harness.set("rate", 7.3)
        harness.set("depth", 3)
        harness.set("offset", 10)
        for (block, value) in values(harness, 50_000, .fixed(101)).enumerated() {
            let t = Double(Float(7.3)) * Double(min(101 * (block + 1), 50_000)) / rate
            // Not where it jumps: there the last bit of the rate decides.
            if wave == "saw" || wave == "square", abs(2 * t - (2 * t).rounded()) < 1e-5 { continue }
            #expect(abs(Double(value) - 10 - 3 * expected(wave, t)) < 2e-6, "at \(t) cycles")
        }
    }

    @Test("The value at a frame does not depend on the blocks", arguments: waves, BlockPlan.all)
    func blocks(_ wave: String, _ plan: BlockPlan) throws {
        func run(_ plan: BlockPlan) throws -> [Int: Float] {
            let harness = try make(wave)
            harness.set("rate", 31)
            var ends: [Int: Float] = [:]
            var end = 0
            for (size, value) in zip(plan.sizes(8192), values(harness, 8192, plan)) {
                end += size
                ends[end] = value
            }
            return ends
        }
        let single = try run(.fixed(1))
        for (frame, value) in try run(plan) { #expect(value == single[frame], "frame \(frame)") }
    }

    @Test("A rate on its way to another keeps the phase") func rateRamp() throws {
        let harness = try make("saw")
        harness.set("rate", 1)
        harness.set("rate", 9, over: 24000)
        // On average 5 cycles a second for half a second; then 9.
        let half: Float = values(harness, 24000, .fixed(1024)).last!
        #expect(abs(half) < 0.01)
        let later: Float = values(harness, 4800, .fixed(480)).last!
        let ideal: Float = 2 * 0.4 - 1
        #expect(abs(later - ideal) < 0.01)
    }

    @Test("The phase moves it ahead in its cycle") func phase() throws {
        for (degrees, value) in [(0, 0), (90, 1), (180, 0), (270, -1), (360, 0)] as [(Float, Float)] {
            let harness = try make("sine")
            harness.set("phase", degrees)
            harness.set("rate", 1)
            #expect(abs(values(harness, 48000, .fixed(1000)).last! - value) < 1e-5)
        }
    }

    @Test("Random has a new value each cycle, even between -1 and 1, and another seed others") func random() throws {
        let harness = try make("random")
        harness.set("rate", 100)
        // A value in the middle of each cycle, and one near its end.
        _ = values(harness, 120, .fixed(120))
        let all = values(harness, 480_000, .fixed(240))
        let cycles = stride(from: 1, to: all.count - 1, by: 2).map { (all[$0], all[$0 + 1]) }
        #expect(cycles.allSatisfy { $0 == $1 })
        let held = cycles.map(\.0)
        #expect(Set(held).count > held.count - 3)
        #expect(held.allSatisfy { (-1...1).contains($0) })
        let mean: Float = held.reduce(0, +) / Float(held.count)
        #expect(abs(mean) < 0.06)
        let ideal: Double = 1 / 3.0.squareRoot()
        #expect(abs(Signal.rms(held) - ideal) < 0.04)
        let other = try make("random", ["seed": .integer(2)])
        other.set("rate", 100)
        #expect(values(other, 120, .fixed(120)) != values(try make("random"), 120, .fixed(120)))
    }

    @Test("With beats it follows the transport's tempo, and its beats while it rolls") func beats() throws {
        let harness = try make("saw", ["beats": .number(4)])
        harness.set("rate", 50)
        harness.transport.bpm = 120
        harness.transport.rolling = true
        harness.transport.beat = 9
        // 100 ms at 120 beats a minute are 0.2 beats.
        #expect(abs(values(harness, 4800, .fixed(4800))[0] - (2 * 1.2 / 4 - 1)) < 1e-6)
        harness.transport.rolling = false
        // From there on another 0.4 beats.
        #expect(abs(values(harness, 9600, .fixed(4800)).last! - (2 * 1.6 / 4 - 1)) < 1e-6)
        // Without a tempo the rate counts: half a cycle in 10 ms.
        harness.transport.bpm = 0
        #expect(abs(values(harness, 480, .fixed(480))[0] - (2 * (0.4 + 0.5) - 1)) < 1e-5)
    }

    @Test(
        "Settings that make no sense are refused",
        arguments: [("wave", .string("sinus")), ("beats", .number(-1))] as [(String, SettingValue)])
    func refused(_ key: String, _ value: SettingValue) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("lfo"), [key: value]) }
        #expect(error?.key == key)
    }
}
