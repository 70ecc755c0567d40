// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import GraphFile

/// Whole graphs as signals, over rates and blocks.
@Suite("Signals through a graph", .timeLimit(.minutes(2)))
struct SignalTests {
    struct Format: CustomTestStringConvertible {
        var rate: Double
        var plan: BlockPlan
        var testDescription: String { "\(rate) Hz, \(plan)" }
        static let all = testRates.flatMap { rate in BlockPlan.all.map { Format(rate: rate, plan: $0) } }
    }

    /// Runs a tenth of a second; returns what each port of `out` got.
    private func run(_ format: Format, _ links: [String], _ nodes: [NodeDescription]) throws -> [[Float]] {
        let graph = try makeGraph(links, nodes, rate: format.rate, maxBlock: format.plan.longest)
        let player = GraphPlayer(rate: format.rate, maxBlock: format.plan.longest)
        let schedule = try player.publish(graph)
        player.run(format.plan.sizes(Int(format.rate / 10)))
        return schedule.externals.filter { $0.node == "out" }.map { player.heard($0.name) }
    }

    @Test("A sine and its opposite are silence, through whatever nodes they come", arguments: Format.all)
    func cancelling(format: Format) throws {
        let heard = try run(
            format, ["a -> out", "b -> minus", "minus -> late", "late -> out", "c -> later", "later -> out"],
            [
                node("a", "sine", ["frequency": .number(997), "level": .number(0.5)]),
                node("b", "sine", ["frequency": .number(997)]),
                node("c", "sine", ["frequency": .number(997), "level": .number(0.5)]),
                node("minus", "latent", ["gain": .number(-1)]), node("late", "latent", ["latency": .integer(100)]),
                node("later", "latent", ["latency": .integer(250)]), node("out", "playback"),
            ])
        #expect(heard[0].count == Int(format.rate / 10))
        #expect(heard[0].allSatisfy { $0 == 0 })
    }

    @Test("A sine comes out with its level and its frequency", arguments: Format.all)
    func level(format: Format) throws {
        let heard = try run(
            format, ["a -> out.in_1", "a -> half", "half -> out.in_2", "a -> out.in_3", "a -> out.in_3"],
            [
                node("a", "sine", ["frequency": .number(1000), "level": .number(0.5)]),
                node("half", "latent", ["gain": .number(0.5)]), node("out", "playback", ["channels": .integer(3)]),
            ])
        let expected = Signal.sine(1000, rate: format.rate, frames: heard[0].count, amplitude: 0.5)
        #expect(Signal.difference(heard[0], expected) < 1e-6)
        // Whole periods: an RMS of amplitude / sqrt 2, to a thousandth of a dB.
        #expect(abs(Signal.decibels(Signal.rms(heard[0])) - -9.0309) < 1e-3)
        #expect(abs(Signal.decibels(Signal.rms(heard[1])) - -15.0515) < 1e-3)
        #expect(Signal.upwardCrossings(heard[0]) >= 98 && Signal.upwardCrossings(heard[0]) <= 100)
    }

    @Test("Two tones add up: the sum has the power of both", arguments: Format.all)
    func sum(format: Format) throws {
        let heard = try run(
            format, ["a -> out", "b -> out -6.020599913279624"],
            [
                node("a", "sine", ["frequency": .number(500), "level": .number(0.5)]),
                node("b", "sine", ["frequency": .number(1500), "level": .number(0.5)]), node("out", "playback"),
            ])
        let a = Signal.sine(500, rate: format.rate, frames: heard[0].count, amplitude: 0.5)
        let b = Signal.sine(1500, rate: format.rate, frames: heard[0].count, amplitude: 0.25)
        #expect(Signal.difference(heard[0], zip(a, b).map { $0 + $1 }) < 1e-6)
        #expect(abs(Signal.rms(heard[0]) - (0.125 + 0.03125).squareRoot()) < 1e-4)
    }

    @Test("What comes in goes out unchanged, bit by bit", arguments: Format.all)
    func unchanged(format: Format) throws {
        let graph = try makeGraph(
            ["mic -> a", "a -> b", "b -> out"],
            [node("mic", "capture"), node("a", "latent"), node("b", "latent"), node("out", "playback")],
            rate: format.rate, maxBlock: format.plan.longest)
        let player = GraphPlayer(rate: format.rate, maxBlock: format.plan.longest)
        try player.publish(graph)
        let signal = Signal.noise(frames: 5000, seed: 11)
        player.feed("mic_1", signal)
        player.run(format.plan.sizes(5000))
        let same = player.heard("out_1") == signal
        #expect(same)
    }
}
