// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import WebAudio

@Suite struct InputTroubleTests {
    /// What a sine of 1 kHz and amplitude 0.5 moves from sample to sample, and a little for fades.
    private let step: Float = 0.067

    private func late(_ from: Int, _ count: Int) -> (Int) -> Double {
        { $0 >= from && $0 < from + count ? Double(from + count - $0) * 0.01 : 0 }
    }

    @Test("Audio that comes in bursts of 100 ms is heard without a gap after the first second") func bursts() throws {
        let world = try InputWorld(drift: 50e-6)
        world.lateness = { Double(9 - $0 % 10) * 0.01 }
        try world.open()
        world.run(1)
        let before = try #require(world.stream).status.underruns
        #expect(before <= 2)
        world.run(60)
        let status = try #require(world.stream).status
        #expect(status.underruns == before && status.dropped == 0 && status.lost == 0)
        #expect(status.target > 0.05 && status.target < 0.08)
        #expect(distortion(world.heard[0].suffix(65_536), rate: 48_000) < -80)
    }

    @Test("What waits grows with the jitter of the client, and shrinks when that is over") func adaptive() throws {
        let world = try InputWorld()
        var random = TestRandom(seed: 3)
        let noise = (0..<3000).map { _ in Double(random.sample() + 1) * 0.03 }
        world.lateness = { $0 < 3000 ? noise[$0] : 0 }
        try world.open()
        world.run(30)
        let status = try #require(world.stream).status
        #expect(status.target > 0.035 && status.target < 0.08)
        #expect(status.underruns <= 2)
        world.run(90)
        let later = try #require(world.stream).status
        #expect(later.target < 0.021 && later.underruns == status.underruns)
        #expect(abs(try #require(later.latency) - later.target - 0.005) < 0.002)
        #expect(largestStep(world.heard[0]) < step)
    }

    @Test("Where nothing comes in time it fades out, is silent, and fades in again", arguments: [64, 256, 1024])
    func underrun(_ block: Int) throws {
        let world = try InputWorld(maxBlock: block)
        world.lateness = late(500, 30)
        try world.open()
        world.run(4)
        world.forget()
        let blocks = world.harness.silentOutputs.count
        world.run(4)
        let status = try #require(world.stream).status
        #expect(status.underruns == 1 && status.lost == 0 && status.dropped == 0)
        #expect(largestStep(world.heard[0]) < step)
        #expect(world.harness.capture.counts["underruns"] == 1)
        let silent = world.harness.silentOutputs[blocks...].count { $0 == [true] }
        #expect(Double(silent * block) / 48_000 > 0.2)
        // Loud until 5 ms before silence, and within 5 ms after it: nothing fades longer.
        let heard = world.heard[0]
        let edges = heard.indices.dropFirst().filter {
            heard[$0] == 0 && heard[$0 - 1] != 0 && heard[$0...].prefix(480).allSatisfy { $0 == 0 }
        }
        let end = try #require(edges.first)
        #expect(edges.count == 1 && Signal.peak(heard[(end - 300)..<(end - 240)]) > 0.45)
        let begin = try #require(heard[end...].firstIndex { $0 != 0 })
        #expect(Signal.peak(heard[(begin + 240)..<(begin + 300)]) > 0.45)
        #expect(distortion(heard.suffix(65_536), rate: 48_000) < -80)
    }

    @Test("What is lost on the way is silence as long as it was, counted, with fades") func loss() throws {
        let world = try InputWorld()
        world.sends = { $0 < 500 || $0 >= 505 }
        try world.open()
        world.run(4)
        world.forget()
        world.run(4)
        let status = try #require(world.stream).status
        #expect(status.lost == 5 * 480 && status.underruns == 1)
        #expect(world.harness.capture.counts["lost"] == 2400)
        #expect(largestStep(world.heard[0]) < step)
        let quiet = world.heard[0].count { abs($0) < 1e-4 }
        #expect(quiet > 1500)
        #expect(try #require(status.latency) < 0.06)
        #expect(distortion(world.heard[0].suffix(65_536), rate: 48_000) < -80)
    }

    @Test("A short loss does not move what comes after it") func timing() throws {
        // With enough waiting, what is lost is known before it is to be heard.
        func play(_ sends: @escaping (Int) -> Bool) throws -> [Float] {
            let world = try InputWorld(["buffer_ms": .integer(200)])
            world.sends = sends
            try world.open()
            world.run(8)
            #expect(world.stream?.status.underruns == 0)
            return Array(world.heard[0].suffix(48_000))
        }
        let (whole, lossy) = (try play { _ in true }, try play { $0 < 400 || $0 >= 405 })
        let (one, other) = (
            Signal.partial(1000, of: whole, rate: 48_000), Signal.partial(1000, of: lossy, rate: 48_000)
        )
        #expect(abs(one.phase - other.phase) < 0.3 && abs(one.amplitude - other.amplitude) < 0.001)
    }

    @Test("When a client pauses, its silence is not made up for") func pause() throws {
        let world = try InputWorld()
        world.sends = { $0 < 300 || $0 >= 800 }
        try world.open()
        world.run(20)
        let status = try #require(world.stream).status
        #expect(status.lost == 500 * 480 && status.underruns == 1 && status.dropped == 0)
        #expect(try #require(status.latency) < 0.05)
        #expect(largestStep(world.heard[0]) < step)
    }

    @Test("More than waits in time is dropped, the oldest first, counted, without a click") func overrun() throws {
        let world = try InputWorld()
        try world.open()
        world.run(4)
        let message = world.messages
        world.forget()
        // The clock of the client jumps: it sends half a second more than there was.
        let extra = Signal.sine(1000, rate: 48_000, frames: 24_000, amplitude: 0.5)
        extra.withUnsafeBufferPointer {
            _ = world.stream?.push(position: UInt32(message * 480), frames: $0)
        }
        world.shift = 24_000
        world.run(4)
        let status = try #require(world.stream).status
        #expect(status.dropped > 20_000 && status.dropped < 30_000 && status.lost == 0)
        #expect(world.harness.capture.counts["dropped"] == UInt64(status.dropped))
        #expect(try #require(status.latency) < 0.3)
        #expect(largestStep(world.heard[0]) < step)
    }

    @Test("Frames that were sent twice are heard once") func twice() throws {
        let world = try InputWorld()
        try world.open()
        world.run(2)
        world.repeats = true
        world.run(20)
        let status = try #require(world.stream).status
        #expect(status.lost == 0 && status.dropped == 0 && status.underruns == 0)
        #expect(distortion(world.heard[0].suffix(65_536), rate: 48_000) < -80)
    }

    @Test("Samples that are no numbers or too loud are not let through, and counted") func unfit() throws {
        let world = try InputWorld()
        var bad = 0
        world.sound = { time, _ in
            let value = 0.5 * sin(2 * .pi * 1000 * time)
            guard time > 2, Int(time * 48_000) % 100 == 0 else { return value }
            bad += 1
            return [.nan, .infinity, -.infinity, 16, -1e30][bad % 5]
        }
        try world.open()
        world.run(4)
        #expect(world.heard[0].allSatisfy { $0.isFinite } && Signal.peak(world.heard[0]) < 1)
        let status = try #require(world.stream).status
        #expect(status.unfit > 800 && status.unfit <= bad)
        #expect(world.harness.capture.counts["unfit"] == UInt64(status.unfit))
    }

    @Test("A message that is no whole number of frames is counted and not heard") func crooked() throws {
        let world = try InputWorld(["channels": .integer(2)], channels: 2)
        try world.open()
        let odd: [Float] = [0.5, 0.5, 0.5]
        odd.withUnsafeBufferPointer { #expect(world.stream?.push(position: 0, frames: $0) == true) }
        odd.withUnsafeBufferPointer { frames in
            #expect(world.stream?.push(position: 0, frames: UnsafeBufferPointer(rebasing: frames[..<0])) == true)
        }
        #expect(world.stream?.status.unfit == 2)
    }
}
