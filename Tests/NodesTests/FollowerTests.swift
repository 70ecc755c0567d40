// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct FollowerTests {
    private func make(
        _ settings: [String: SettingValue] = [:], attack: Float = 0, release: Float = 0, rate: Double = 48000,
        maxBlock: Int = 1024
    ) throws -> NodeHarness {
        let harness = try NodeHarness(type("follower"), settings, rate: rate, maxBlock: maxBlock)
        harness.set("attack", attack)
        harness.set("release", release)
        return harness
    }

    @Test("Attack and release are time constants", arguments: [8000, 44100, 48000, 96000, 384_000] as [Double])
    func timeConstants(_ rate: Double) throws {
        let harness = try make(attack: 20, release: 50, rate: rate)
        let (rise, fall) = (Int(rate * 0.02), Int(rate * 0.05))
        _ = harness.run(rise, inputs: [Signal.constant(-0.5, frames: rise)], plan: .fixed(100))
        let top = Double(harness.controlOutputs.last![0])
        let risen: Double = 0.5 * (1 - exp(-1))
        #expect(abs(top - risen) < 1e-5)
        _ = harness.run(fall, plan: .fixed(100))
        let fallen: Double = top * exp(-1)
        #expect(abs(Double(harness.controlOutputs.last![0]) - fallen) < 1e-5)
    }

    @Test("Without times it is the last frame's magnitude, of the loudest channel") func instant() throws {
        let harness = try make(["channels": .integer(2)])
        harness.set("depth", 100)
        harness.set("offset", 7)
        _ = harness.run(3, inputs: [[1, 0.25, -0.75], [0, 0, 0.5]])
        #expect(harness.controlOutputs == [[7 + 75]])
    }

    @Test("RMS of a sine is 3.01 dB below its peak", arguments: [44100, 48000, 96000] as [Double])
    func rms(_ rate: Double) throws {
        let harness = try make(
            ["detector": .string("rms"), "scale": .string("db"), "window": .number(100)], rate: rate)
        _ = harness.run(
            Int(rate), inputs: [Signal.sine(1000, rate: rate, frames: Int(rate), amplitude: 0.5)], plan: .fixed(500))
        #expect(abs(Double(harness.controlOutputs.last![0]) - 20 * log10(0.5 / 2.0.squareRoot())) < 0.03)
    }

    @Test("Decibels are twenty times the logarithm, -120 at least") func decibels() throws {
        let harness = try make(["scale": .string("db")])
        for (level, wanted) in [(1, 0), (0.1, -20), (0.001, -60), (1e-7, -120), (0, -120)] as [(Float, Float)] {
            _ = harness.run(1, inputs: [[level]])
            #expect(abs(harness.controlOutputs.last![0] - wanted) < 1e-4)
        }
    }

    @Test("The level at a frame does not depend on the blocks", arguments: ["peak", "rms"], BlockPlan.all)
    func blocks(_ detector: String, _ plan: BlockPlan) throws {
        let noise = Signal.noise(frames: 5000, seed: 3)
        func run(_ plan: BlockPlan) throws -> [Int: Float] {
            let harness = try make(["detector": .string(detector)], attack: 3, release: 40, maxBlock: 8192)
            _ = harness.run(8192, inputs: [noise], plan: plan)
            var ends: [Int: Float] = [:]
            var end = 0
            for (size, values) in zip(plan.sizes(8192), harness.controlOutputs) {
                end += size
                ends[end] = values[0]
            }
            return ends
        }
        let single = try run(.fixed(1))
        for (frame, value) in try run(plan) { #expect(value == single[frame], "frame \(frame)") }
    }

    @Test("What is not a number or infinite counts as zero", arguments: [Float.nan, .infinity, -.infinity])
    func nonsense(_ bad: Float) throws {
        let harness = try make(["detector": .string("rms")], attack: 5, release: 5)
        _ = harness.run(3, inputs: [[0.5, bad, 0.25]])
        let clean = try make(["detector": .string("rms")], attack: 5, release: 5)
        _ = clean.run(3, inputs: [[0.5, 0, 0.25]])
        #expect(harness.controlOutputs == clean.controlOutputs)
    }

    @Test("After the end of the sound it falls to exactly nothing") func end() throws {
        let harness = try make(attack: 1, release: 10)
        _ = harness.run(480, inputs: [Signal.constant(1, frames: 480)])
        _ = harness.run(48000 * 2)
        #expect(harness.controlOutputs.last! == [0])
    }

    @Test("Settings that make no sense are refused", arguments: ["detector", "scale"])
    func refused(_ key: String) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("follower"), [key: .string("vu")]) }
        #expect(error?.key == key)
        #expect(error?.hint.isEmpty == false)
    }
}
