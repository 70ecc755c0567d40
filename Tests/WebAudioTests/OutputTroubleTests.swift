// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import WebAudio

@Suite struct OutputTroubleTests {
    private let step: Float = 0.067

    @Test("Who stops reading costs nobody anything, and what he missed is counted and told by the position")
    func stopped() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        let (one, other) = (try world.listen("one"), try world.listen("other"))
        world.run(10)
        let pulls = other.pulls
        other.lateness = { $0 == pulls ? 3 : 0 }
        world.run(2)
        other.forget()
        one.forget()
        world.run(28)
        #expect(one.underruns == 0 && one.stream.status?.dropped == 0)
        #expect(distortion(one.heard.suffix(65_536), rate: 48_000) < -80)
        let status = try #require(other.stream.status)
        #expect(abs(status.dropped - 3 * 48_000) < 4800)
        #expect(world.harness.capture.counts["dropped"] == UInt64(status.dropped))
        // All but what is held back was pulled or is told by a jump.
        let end = try #require(other.positions.last)
        #expect(abs(Int(end.position) + end.frames - 40 * 48_000) < 4800)
        #expect(largestStep(other.heard) < step)
        #expect(distortion(other.heard.suffix(65_536), rate: 48_000) < -80)
        other.stream.close()
        world.run(1)
        #expect(world.harness.capture.counts["dropped"] == UInt64(status.dropped))
    }

    @Test("What waits too long to be pulled is not heard any more, without a click") func slow() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        let listener = try world.listen()
        world.run(5)
        let pulls = listener.pulls
        listener.lateness = { $0 == pulls ? 0.4 : 0 }
        world.run(20)
        let dropped = try #require(listener.stream.status).dropped
        #expect(dropped > 14_000 && dropped < 20_000)
        #expect(largestStep(listener.heard) < step)
    }

    @Test("Nobody hears what was before him") func before() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        world.sound = { time, _ in time < 4.99 ? 0.5 : 0 }
        let one = try world.listen("one")
        world.run(4.8)
        // The same place, in which a fifth of a second was left.
        one.lateness = { _ in 1 }
        world.run(0.2)
        world.remove(one)
        one.stream.close()
        let other = try world.listen("other")
        world.run(2)
        #expect(other.heard.count > 48_000 && Signal.peak(other.heard) < 1e-6)
    }

    @Test("A place is free again when a client leaves; more than there are places are refused") func places() throws {
        let world = try OutputWorld()
        var streams = try (0..<OutputFeed.slots).map {
            try world.streams.openOutput("ears", rate: 48_000, channels: 2, client: "\($0)")
        }
        let error = #expect(throws: Fault.self) {
            try world.streams.openOutput("ears", rate: 48_000, channels: 2, client: "more")
        }
        #expect(error?.message.contains("16 clients") == true)
        streams.removeFirst()
        _ = try world.streams.openOutput("ears", rate: 48_000, channels: 2, client: "more")
    }

    @Test("Channels are kept, added up to one, or given to all") func channels() throws {
        let world = try OutputWorld(["channels": .integer(2)])
        world.sound = { _, channel in channel == 0 ? 0.5 : 0.1 }
        let (mono, stereo) = (try world.listen("one", channels: 1), try world.listen("two", channels: 2))
        world.run(2)
        #expect(abs(try #require(mono.heard.last) - 0.3) < 1e-4)
        #expect(abs(stereo.heard[stereo.heard.count - 2] - 0.5) < 1e-4 && abs(stereo.heard.last! - 0.1) < 1e-4)
        let error = #expect(throws: Fault.self) { try world.listen("three", channels: 3) }
        #expect(error?.hint == "play 1 channel or 2")
    }

    @Test("A node that ends, ends its streams") func ended() throws {
        let world = try OutputWorld()
        let listener = try world.listen(channels: 2)
        world.run(1)
        world.harness.instance.finish()
        #expect(!listener.stream.isOpen && listener.stream.status == nil && listener.stream.targetFrames == 0)
        var buffer = [Float](repeating: 0, count: 128)
        #expect(buffer.withUnsafeMutableBufferPointer { listener.stream.pull(into: $0) } == nil)
        listener.stream.report(waiting: 100)
        #expect(throws: Fault.self) { try world.listen() }
    }

    @Test("Streams go on when rate and block of the graph change") func format() throws {
        let world = try OutputWorld(["channels": .integer(1)])
        let listener = try world.listen()
        world.run(10)
        try world.prepare(rate: 44_100, maxBlock: 512)
        #expect(world.harness.instance.streamState?.rate == 44_100)
        listener.forget()
        world.run(60)
        #expect(listener.stream.isOpen && listener.stream.status?.dropped == 0)
        #expect(abs(frequency(of: Array(listener.heard.suffix(65_536)), rate: 48_000) - 1000) < 0.1)
        #expect(distortion(listener.heard.suffix(65_536), rate: 48_000) < -80)
    }

    @Test("Without anybody who listens nothing is kept, and there is no ring") func idle() throws {
        let world = try OutputWorld()
        world.run(2)
        let listener = try world.listen(channels: 2)
        var buffer = [Float](repeating: 0, count: 4096)
        let pulled = buffer.withUnsafeMutableBufferPointer { listener.stream.pull(into: $0) }
        #expect(pulled == PulledFrames(frames: 0, position: 0))
        #expect(world.harness.capture.counts == [:])
    }
}
