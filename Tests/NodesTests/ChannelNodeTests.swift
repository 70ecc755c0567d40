// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite struct PanLawTests {
    private func make(_ law: String) throws -> NodeHarness {
        try NodeHarness(type("pan"), ["law": .string(law)], maxBlock: 8192)
    }

    @Test(
        "The law says how far the centre is down",
        arguments: [("-3dB", -3.0103), ("-4.5dB", -4.5154), ("-6dB", -6.0206)])
    func centre(_ law: String, _ level: Double) throws {
        for output in try make(law).run(64, inputs: [Signal.constant(1, frames: 64)]) {
            #expect(abs(Signal.decibels(Double(output[0])) - level) < 1e-3)
        }
    }

    @Test(
        "Positions are symmetrical, and lie between power and sum", arguments: [-1, -0.7, -0.2, 0, 0.4, 1] as [Float])
    func positions(_ position: Float) throws {
        func sides(_ law: String, _ position: Float) throws -> [Double] {
            let harness = try make(law)
            harness.set("position", position)
            return harness.run(8, inputs: [Signal.constant(1, frames: 8)]).map { Double($0[7]) }
        }
        let (power, between, sum) = (
            try sides("-3dB", position), try sides("-4.5dB", position), try sides("-6dB", position)
        )
        #expect(abs(power[0] * power[0] + power[1] * power[1] - 1) < 1e-6)
        #expect(abs(sum[0] + sum[1] - 1) < 1e-6)
        for side in 0...1 { #expect(abs(between[side] - (power[side] * sum[side]).squareRoot()) < 1e-6) }
        for (law, found) in [("-3dB", power), ("-4.5dB", between), ("-6dB", sum)] {
            let mirrored = try sides(law, -position)
            #expect(abs(mirrored[0] - found[1]) < 1e-6 && abs(mirrored[1] - found[0]) < 1e-6)
        }
        if position.magnitude == 1 { #expect(between == power && sum == power) }
    }

    @Test("A movement gives each position's levels, in any blocks", arguments: ["-4.5dB", "-6dB"], BlockPlan.all)
    func movement(_ law: String, _ plan: BlockPlan) throws {
        func run(_ plan: BlockPlan) throws -> [[Float]] {
            let harness = try make(law)
            harness.set("position", -1)
            harness.set("position", 1, over: 4096)
            return harness.run(5000, inputs: [Signal.constant(1, frames: 5000)], plan: plan)
        }
        let whole = try run(.fixed(8192))
        #expect(try run(plan) == whole)
        for frame in stride(from: 0, to: 4096, by: 512) {
            let x = 0.5 - 0.5 * cos(.pi * Double(frame) / 4096)
            let wanted = law == "-6dB" ? x : (x * sin(x * .pi / 2)).squareRoot()
            #expect(abs(Double(whole[1][frame]) - wanted) < 1e-6)
        }
        #expect(whole[0][4999] == 0 && whole[1][4999] == 1)
    }

    @Test("An unknown law is refused with the list") func unknown() throws {
        let error = #expect(throws: NodeError.self) { try make("-2dB") }
        #expect(error?.key == "law" && error?.hint.contains("-4.5dB") == true)
    }
}

@Suite struct BalanceTests {
    @Test(
        "Only the other side gets quieter",
        arguments: [(-1, 1, 0), (-0.25, 1, 0.75), (0, 1, 1), (0.5, 0.5, 1), (1, 0, 1)] as [(Float, Float, Float)],
        [false, true])
    func sides(_ values: (position: Float, left: Float, right: Float), _ inPlace: Bool) throws {
        let harness = try NodeHarness(type("balance"))
        harness.inPlace = inPlace
        harness.set("position", values.position)
        let inputs = (1...2).map { Signal.noise(frames: 500, seed: $0) }
        let outputs = harness.run(500, inputs: inputs, plan: .fixed(100))
        #expect(outputs == [inputs[0].map { $0 * values.left }, inputs[1].map { $0 * values.right }])
        #expect(harness.silentOutputs.last == [values.left == 0, values.right == 0])
    }

    @Test("A movement does not jump and does not depend on the blocks", arguments: BlockPlan.all)
    func movement(_ plan: BlockPlan) throws {
        func run(_ plan: BlockPlan) throws -> [[Float]] {
            let harness = try NodeHarness(type("balance"), maxBlock: 8192)
            harness.set("position", -1)
            harness.set("position", 1, over: 4096)
            let ones = Signal.constant(1, frames: 5000)
            return harness.run(5000, inputs: [ones, ones], plan: plan)
        }
        let whole = try run(.fixed(8192))
        #expect(try run(plan) == whole)
        #expect(whole.allSatisfy { Signal.largestStep($0) < 0.0008 })
        #expect(whole[0][0] == 1 && whole[1][0] == 0 && whole[0][4999] == 0 && whole[1][4999] == 1)
    }
}

@Suite struct PolarityTests {
    @Test("Every sample changes its sign, of the channels that shall", arguments: [false, true])
    func signs(_ inPlace: Bool) throws {
        let harness = try NodeHarness(type("polarity"), ["channels": .integer(2)])
        harness.inPlace = inPlace
        harness.set("inverted_2", 0)
        let inputs = (1...2).map { Signal.noise(frames: 500, seed: $0) }
        #expect(harness.run(500, inputs: inputs) == [inputs[0].map { -$0 }, inputs[1]])
    }

    @Test("A change takes ten milliseconds, without a corner", arguments: testRates, BlockPlan.all)
    func change(_ rate: Double, _ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("polarity"), rate: rate)
        let ones = Signal.constant(1, frames: 2000)
        var signal = harness.run(2000, inputs: [ones], plan: plan)[0]
        harness.set("inverted", 0)
        signal += harness.run(2000, inputs: [ones], plan: plan)[0]
        let fade = Int(rate * 0.01)
        #expect(signal[..<2000].allSatisfy { $0 == -1 })
        #expect(signal[(2000 + fade)...].allSatisfy { $0 == 1 })
        for frame in 0..<fade {
            #expect(abs(Double(signal[2000 + frame]) + cos(.pi * Double(frame + 1) / Double(fade))) < 1e-6)
        }
    }
}

@Suite struct DownmixTests {
    /// What an impulse of 1 in each channel becomes in each output.
    private func factors(_ settings: [String: SettingValue], inPlace: Bool = false) throws -> [[Float]] {
        let inputs = try NodeHarness(type("downmix"), settings).instance.ports.count { $0.direction == VG_INPUT }
        return try (0..<inputs).map { channel in
            let harness = try NodeHarness(type("downmix"), settings)
            harness.inPlace = inPlace
            var signals = [[Float]](repeating: [], count: inputs)
            signals[channel] = Signal.constant(1, frames: 10)
            return harness.run(10, inputs: signals).map { $0[9] }
        }
    }

    /// ITU-R BS.775-3, Annex 4, Table 2.
    @Test("5.1 to stereo and mono is by the table of BS.775", arguments: [false, true]) func table(_ inPlace: Bool)
        throws
    {
        let stereo = try factors([:], inPlace: inPlace)
        let wanted: [[Float]] = [[1, 0], [0, 1], [0.7071, 0.7071], [0, 0], [0.7071, 0], [0, 0.7071]]
        for (found, wanted) in zip(stereo, wanted) { #expect(Signal.difference(found, wanted) < 1e-4) }
        let mono = try factors(["to": .string("mono")], inPlace: inPlace).flatMap(\.self)
        #expect(Signal.difference(mono, [0.7071, 0.7071, 1, 0, 0.5, 0.5]) < 1e-4)
        let two = try factors(["from": .string("stereo")], inPlace: inPlace).flatMap(\.self)
        #expect(Signal.difference(two, [0.7071, 0.7071]) < 1e-4)
    }

    @Test("LFE comes in at the level that is given") func lfe() throws {
        let stereo = try factors(["lfe_db": .number(-6.0206)])
        #expect(Signal.difference(stereo[3], [0.5, 0.5]) < 1e-5)
        #expect(try factors(["lfe_db": .number(-120)])[3] == [0, 0])
    }

    @Test("Normalized, full scale in all channels is full scale", arguments: ["stereo", "mono"])
    func normalized(_ to: String) throws {
        let factors = try factors(["to": .string(to), "normalize": .bool(true), "lfe_db": .number(0)])
        for output in factors[0].indices { #expect(abs(factors.reduce(0) { $0 + $1[output] } - 1) < 1e-6) }
        // The table's proportions stay.
        #expect(abs(factors[2][0] / factors[0][0] - (to == "mono" ? 1.41421 : 0.70711)) < 1e-4)
    }

    @Test("Noise does not depend on the blocks, and in place is the same", arguments: BlockPlan.all)
    func blocks(_ plan: BlockPlan) throws {
        let inputs = (1...6).map { Signal.noise(frames: 3000, seed: $0) }
        let whole = try NodeHarness(type("downmix"), maxBlock: 8192).run(3000, inputs: inputs, plan: .fixed(8192))
        let harness = try NodeHarness(type("downmix"))
        harness.inPlace = true
        #expect(harness.run(3000, inputs: inputs, plan: plan) == whole)
    }

    @Test("An output is silent when all that goes into it is") func silence() throws {
        let harness = try NodeHarness(type("downmix"))
        let ones = Signal.constant(1, frames: 64)
        _ = harness.run(64, inputs: [ones])
        _ = harness.run(64, inputs: [[], [], [], [], [], ones])
        _ = harness.run(64, inputs: [[], [], [], ones])
        #expect(harness.silentOutputs == [[false, true], [true, false], [true, true]])
    }

    @Test(
        "Settings that make no sense are refused",
        arguments: [
            ("from", ["from": .string("7.1")]), ("to", ["to": .string("5.1")]),
            ("to", ["from": .string("stereo"), "to": .string("stereo")]),
            ("lfe_db", ["from": .string("stereo"), "lfe_db": .number(0)]), ("lfe_db", ["lfe_db": .number(20)]),
        ] as [(String, [String: SettingValue])])
    func refused(_ key: String, _ settings: [String: SettingValue]) throws {
        let error = #expect(throws: NodeError.self) { try NodeHarness(type("downmix"), settings) }
        #expect(error?.key == key)
        #expect(error?.hint.isEmpty == false)
    }
}
