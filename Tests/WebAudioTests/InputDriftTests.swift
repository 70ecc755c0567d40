// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import WebAudio

@Suite struct InputDriftTests {
    struct Case: Sendable {
        var drift: Double
        var message: Int
        var block: Int
        var rate = 48_000.0
        var graphRate = 48_000.0
    }

    @Test(
        "Minutes of a sine by another clock are that sine, without a gap",
        arguments: [
            Case(drift: 0, message: 480, block: 256), Case(drift: 50e-6, message: 512, block: 512),
            Case(drift: 300e-6, message: 480, block: 256), Case(drift: -300e-6, message: 512, block: 64),
            Case(drift: 1000e-6, message: 480, block: 1024), Case(drift: -1000e-6, message: 1024, block: 1024),
            Case(drift: -300e-6, message: 441, block: 256, rate: 44_100),
            Case(drift: 300e-6, message: 160, block: 256, rate: 16_000, graphRate: 44_100),
        ])
    func drift(_ one: Case) throws {
        let world = try InputWorld(
            rate: one.rate, graphRate: one.graphRate, message: one.message, drift: one.drift, maxBlock: one.block)
        try world.open()
        world.run(100)
        // From here on it is near where it shall be, and it stays there.
        world.forget()
        world.run(60)
        let status = try #require(world.stream?.status)
        #expect(status.underruns == 0 && status.lost == 0 && status.dropped == 0)
        #expect(abs(status.drift - one.drift * 1e6) < 20)
        let resampler = try VariableResampler(from: one.rate, to: one.graphRate, channels: 1).delay
        let target = status.target + resampler
        #expect(world.delays.allSatisfy { abs($0 - target) < 0.006 }, "\(world.delays.min()!) \(world.delays.max()!)")
        #expect(abs(world.delays.last! - target) < 0.0005)
        let tail = Array(world.heard[0].suffix(262_144))
        #expect(abs(frequency(of: tail, rate: one.graphRate) - 1000) < 0.01)
        #expect(distortion(tail, rate: one.graphRate) < -95)
        #expect(abs(Signal.rms(tail) - 0.5 * 0.5.squareRoot()) < 1e-3)
        #expect(!world.harness.silentOutputs.suffix(1000).contains([true]))
    }

    @Test("Five milliseconds are made up for in a second, and no more", arguments: [0.02, 0.2, -0.2])
    func limit(_ error: Double) {
        var control = DriftControl()
        for _ in 0..<1000 {
            control.add(0.05 + error, target: 0.05, over: 0.01)
            #expect(abs(control.correction) <= DriftControl.limit)
        }
        #expect((control.correction > 0) == (error > 0))
    }

    @Test("The clock is found again when the stream was interrupted") func remembered() throws {
        let world = try InputWorld(drift: 300e-6)
        try world.open()
        world.run(120)
        let message = world.messages
        world.sends = { $0 < message + 10 || $0 > message + 110 }
        world.run(2)
        #expect(abs(try #require(world.stream).status.drift - 300) < 30)
        #expect(try #require(world.stream).status.underruns == 1)
    }

    @Test("What waits is as long as the file says", arguments: [40, 150, 400])
    func fixed(_ buffer: Int) throws {
        let world = try InputWorld(["buffer_ms": .integer(Int64(buffer))])
        try world.open()
        world.run(90)
        #expect(abs(try #require(world.delays.last) - Double(buffer) / 1000 - 0.005) < 0.001)
    }

    @Test("Spoken on the same machine, it is in the graph within 45 ms") func latency() throws {
        let world = try InputWorld()
        world.sound = { time, _ in abs(time - 20) < 0.001 ? 0.5 : 0 }
        try world.open()
        world.run(21)
        let heard = try #require(world.heard[0].firstIndex { $0 > 0.25 })
        let late = Double(heard) / 48_000 - 19.999
        #expect(late > 0.02 && late < 0.045, "\(late)")
    }
}
