// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct EqualizerTests {
    private static let bands: [(kind: String, frequency: Float, q: Float, gain: Float)] = [
        ("highpass", 80, 0.7071, 0), ("lowshelf", 200, 0.7071, -6), ("peak", 800, 2, 5), ("notch", 1000, 8, 0),
        ("peak", 2500, 1, -9), ("highshelf", 6000, 0.7071, 8), ("lowpass", 14000, 0.7071, 0),
    ]

    private func make(rate: Double = 48000, channels: Int = 1, maxBlock: Int = 1024) throws -> NodeHarness {
        let harness = try NodeHarness(
            type("eq"),
            [
                "kinds": .list(Self.bands.map { .string($0.kind) }), "channels": .integer(Int64(channels)),
            ], rate: rate, maxBlock: maxBlock)
        for (index, band) in Self.bands.enumerated() {
            harness.set("band\(index + 1)_frequency", band.frequency)
            harness.set("band\(index + 1)_q", band.q)
            if band.gain != 0 { harness.set("band\(index + 1)_gain_db", band.gain) }
        }
        return harness
    }

    private func biquads(rate: Double) -> [Cookbook] {
        Self.bands.map {
            Cookbook($0.kind, frequency: Double($0.frequency), q: Double($0.q), gain: Double($0.gain), rate: rate)
        }
    }

    @Test("The magnitude is the product of the bands'") func magnitudes() throws {
        let response = try make().run(24000, inputs: [Signal.impulse(at: 0, frames: 1)])[0]
        let biquads = biquads(rate: 48000)
        for step in 0..<60 {
            let frequency = 20 * pow(1150, Double(step) / 59) / 48000
            let wanted = biquads.reduce(1) { $0 * $1.magnitude(at: frequency) }
            #expect(abs(magnitude(of: response, at: frequency) - wanted) < 5e-6, "\(frequency * 48000) Hz")
        }
    }

    @Test("Noise comes out as from biquads in a row", arguments: [44100, 48000, 96000, 384_000] as [Double])
    func noise(_ rate: Double) throws {
        let input = Signal.noise(frames: 4000, seed: 3, amplitude: 0.5)
        let expected = biquads(rate: rate).reduce(input.map { Double($0) }) { $1.filtered($0) }
        let output = try make(rate: rate).run(4000, inputs: [input], plan: .random(max: 700, seed: 1))[0]
        #expect((zip(output, expected).map { abs(Double($0) - $1) }.max() ?? 1) < 1e-6)
    }

    @Test("The signal does not depend on the blocks, moving or not", arguments: BlockPlan.all)
    func blocks(_ plan: BlockPlan) throws {
        func run(_ plan: BlockPlan, maxBlock: Int) throws -> [[Float]] {
            let harness = try make(channels: 2, maxBlock: maxBlock)
            harness.set("band3_frequency", 800 + 2048, over: 2048)
            harness.set("band5_gain_db", -1, over: 4096)
            return harness.run(8192, inputs: (1...2).map { Signal.noise(frames: 8192, seed: $0) }, plan: plan)
        }
        #expect(try run(plan, maxBlock: 1024) == run(.fixed(8192), maxBlock: 8192))
    }

    @Test("Blocks of many frames give what single frames give, bit by bit, with any number of bands", arguments: 1...32)
    func counts(_ bands: Int) throws {
        let noise = Signal.noise(frames: 700, seed: UInt64(bands))
        func run(_ block: Int) throws -> [[Float]] {
            let harness = try NodeHarness(type("eq"), ["bands": .integer(Int64(bands))], maxBlock: 1024)
            for band in 1...bands { harness.set("band\(band)_gain_db", band % 2 == 0 ? -7 : 5) }
            return harness.run(700, inputs: [noise], plan: .fixed(block))
        }
        let single = try run(1)
        for block in [bands, bands + 1, bands + 2, 700] { #expect(try run(block) == single, "blocks of \(block)") }
    }

    @Test("A flat equalizer passes every sample unchanged") func flat() throws {
        let noise = Signal.noise(frames: 3000, seed: 5)
        #expect(try NodeHarness(type("eq"), ["bands": .integer(10)]).run(3000, inputs: [noise])[0] == noise)
    }

    @Test("Ten bands are an octave apart, and there are up to 32") func defaults() throws {
        let ten = try NodeHarness(type("eq"), ["bands": .integer(10)]).instance.parameters
        let frequencies = ten.filter { $0.key.hasSuffix("frequency") }.map(\.defaultValue)
        #expect(frequencies == (0..<10).map { 31.25 * pow(2, Float($0)) })
        #expect(ten.count == 30 && ten.prefix(3).map(\.key) == ["band1_frequency", "band1_q", "band1_gain_db"])
        let most = try NodeHarness(type("eq"), ["bands": .integer(32)]).instance.parameters
        #expect(most.last?.key == "band32_gain_db")
        #expect(most.allSatisfy { $0.range.contains($0.defaultValue) })
    }

    @Test("Silence is flagged when it has died away") func silence() throws {
        let harness = try make()
        _ = harness.run(64, inputs: [[1]])
        #expect(harness.silentOutputs.last == [false])
        _ = harness.run(96000)
        #expect(harness.silentOutputs.last == [true])
    }

    @Test(
        "Bands that do not fit are refused",
        arguments: [
            ("bands", ["bands": .integer(33)]), ("bands", ["bands": .integer(0)]), ("kinds", ["kinds": .list([])]),
            ("kinds", ["kinds": .string("bell")]), ("kinds", ["kinds": .string("peak"), "bands": .integer(2)]),
        ] as [(String, [String: SettingValue])])
    func refused(_ key: String, _ settings: [String: SettingValue]) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("eq"), settings) }
        #expect(error?.key == key)
        #expect(error?.hint.isEmpty == false)
    }
}
