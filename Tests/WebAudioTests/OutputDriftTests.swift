// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import WebAudio

@Suite struct OutputDriftTests {
    struct Case: Sendable {
        var drift: Double
        var rate: Double
        var block: Int
        var graphRate = 48_000.0
    }

    @Test(
        "Minutes of a sine are that sine by the clock of whoever listens, without a gap",
        arguments: [
            Case(drift: 0, rate: 48_000, block: 256), Case(drift: 300e-6, rate: 48_000, block: 256),
            Case(drift: -300e-6, rate: 44_100, block: 64), Case(drift: 1000e-6, rate: 48_000, block: 1024),
            Case(drift: -1000e-6, rate: 48_000, block: 1024), Case(drift: 50e-6, rate: 96_000, block: 512),
            Case(drift: -50e-6, rate: 16_000, block: 256, graphRate: 44_100),
        ])
    func drift(_ one: Case) throws {
        let world = try OutputWorld(["channels": .integer(1)], graphRate: one.graphRate, maxBlock: one.block)
        let listener = try world.listen(rate: one.rate, drift: one.drift)
        world.run(60)
        listener.forget()
        world.run(60)
        let status = try #require(listener.stream.status)
        #expect(listener.underruns == 0 && status.dropped == 0)
        let waits = listener.waits.map { Double($0) / one.rate }
        // A message of 10 ms and a block lie between the least and the most.
        let half = 0.5 * (0.011 + Double(one.block) / one.graphRate) + 0.006
        #expect(waits.allSatisfy { abs($0 - status.target) < half }, "\(waits.min()!) \(waits.max()!) \(status.target)")
        #expect(abs(waits.reduce(0, +) / Double(waits.count) - status.target) < 0.004)
        let tail = Array(listener.heard.suffix(one.rate < 40_000 ? 65_536 : 262_144))
        // Of its own time, which goes faster.
        let sine = 1000 / (1 + one.drift)
        #expect(abs(frequency(of: tail, rate: one.rate, near: sine) - sine) < 0.1)
        #expect(distortion(tail, rate: one.rate) < -90)
        #expect(abs(Signal.rms(tail) - 0.5 * 0.5.squareRoot()) < 1e-3)
        var next = try #require(listener.positions.first).position
        for pulled in listener.positions {
            #expect(pulled.position == next)
            next = pulled.position &+ UInt32(pulled.frames)
        }
    }

    @Test("Two who listen hear the same at rates and clocks of their own") func two() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        let one = try world.listen("one", rate: 44_100, drift: 200e-6)
        let other = try world.listen("other", rate: 96_000, channels: 2, drift: -200e-6)
        world.run(60)
        for (listener, rate, drift, channels) in [(one, 44_100.0, 200e-6, 1), (other, 96_000, -200e-6, 2)] {
            let tail = listener.heard.suffix(65_536 * channels)
            let left = stride(from: tail.startIndex, to: tail.endIndex, by: channels).map { tail[$0] }
            #expect(abs(frequency(of: left, rate: rate) - 1000 / (1 + drift)) < 0.1)
            #expect(distortion(left, rate: rate) < -80)
            #expect(listener.underruns == 0)
        }
        #expect(world.streams.clients(of: "ears") == ["one", "other"])
    }

    @Test("What waits at a client grows with its jitter, and shrinks when that is over") func adaptive() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        let listener = try world.listen()
        listener.lateness = { $0 % 200 < 5 && $0 < 6000 ? 0.05 : 0 }
        // Reports that meet what is late, as they do sooner or later.
        listener.reportEvery = 0.21
        world.run(40)
        let underruns = listener.underruns
        #expect(try #require(listener.stream.status).target > 0.05)
        world.run(20)
        #expect(listener.underruns == underruns)
        world.run(90)
        #expect(try #require(listener.stream.status).target < 0.031 && listener.underruns == underruns)
    }

    @Test("What waits at a client is as long as the file says") func fixed() throws {
        let world = try OutputWorld(["channels": .integer(1), "buffer_ms": .integer(100)])
        let listener = try world.listen()
        #expect(listener.stream.targetFrames == 4800)
        world.run(60)
        #expect(abs(try #require(listener.stream.status?.latency) - 0.105) < 0.003)
    }

    @Test("Heard on the same machine, it is out of the client's buffer within 60 ms") func latency() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        world.sound = { time, _ in abs(time - 20) < 0.001 ? 0.5 : 0 }
        let listener = try world.listen()
        world.run(21)
        let heard = try #require(listener.heard.firstIndex { $0 > 0.25 })
        let late = try #require(listener.started) + Double(heard) / 48_000 - 19.999
        #expect(late > 0.03 && late < 0.06 && listener.underruns == 0, "\(late)")
    }
}
