// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import WebAudio

@Suite struct StreamTests {
    @Test("Nodes say how their streams are, and clients reach them, over the boundary") func boundary() throws {
        let types = webNodeTypes
        #expect(types.map { String(cString: $0.pointee.name) } == ["web-input", "web-output"] && types == webNodeTypes)
        let input = try NodeHarness(types[0], ["channels": .integer(2)], name: "mic").instance
        let output = try NodeHarness(types[1], rate: 44_100, name: "ears").instance
        #expect(input.streamDirection == VG_INPUT && output.streamDirection == VG_OUTPUT)
        #expect(input.streamState == StreamState(channels: 2, rate: 48_000) && output.streamState?.rate == 44_100)
        let sent = try input.openStream(rate: 96_000, channels: 2, client: "a phone")
        #expect(input.streamState == StreamState(channels: 2, rate: 48_000, clients: 1, isFull: true))
        let error = #expect(throws: NodeError.self) { try input.openStream(rate: 96_000, channels: 2, client: "x") }
        #expect(error?.message == "'mic' is taken by another client: a phone")
        let samples = [Float](repeating: 0.5, count: 960)
        #expect(samples.withUnsafeBufferPointer { sent.push(position: 0, frames: $0) } && sent.channels == 2)
        #expect(sent.push(position: 480, frames: UnsafeBufferPointer(start: nil, count: 0)))
        var room = [Float](repeating: 1, count: 960)
        #expect(room.withUnsafeMutableBufferPointer { sent.pull(into: $0) } == nil, "the other direction")
        var heard: NodeStream? = try output.openStream(rate: 44_100, channels: 2, client: "a tablet")
        #expect(room.withUnsafeMutableBufferPointer { heard?.pull(into: $0) } == PulledFrames(frames: 0, position: 0))
        heard?.report(waiting: 100)
        #expect(output.streamState?.clients == 1 && output.streamState?.isFull == false)
        heard = nil
        #expect(output.streamState?.clients == 0)
        input.finish()
        #expect(
            input.streamState?.rate == 0 && !samples.withUnsafeBufferPointer { sent.push(position: 480, frames: $0) })
        #expect(throws: NodeError.self) { try input.openStream(rate: 96_000, channels: 2, client: "late") }
        sent.close()
        #expect(!samples.withUnsafeBufferPointer { sent.push(position: 480, frames: $0) })
    }

    @Test("Channels that cannot be made of others are refused, with what can") func refused() throws {
        let streams = WebStreams()
        let wide = try NodeHarness(streams.type("web-input"), ["channels": .integer(4)], name: "wide")
        let error = #expect(throws: Fault.self) {
            try streams.openInput("wide", rate: 48_000, channels: 3, client: "me")
        }
        #expect(error?.hint == "send 1 channel or 4")
        _ = wide
    }

    @Test("One client at a time sends to a node; the next is told who, and may when that has left") func taken() throws
    {
        let world = try InputWorld()
        try world.open("a phone")
        #expect(world.streams.clients(of: "mic") == ["a phone"])
        let error = #expect(throws: Fault.self) { try world.open("a tablet") }
        #expect(error?.message == "'mic' is taken by another client: a phone")
        let first = world.stream
        first?.close()
        try world.open("a tablet")
        // The first one's end is not the end of the second.
        #expect(first?.isOpen == false && world.stream?.isOpen == true)
        first?.close()
        #expect(world.streams.clients(of: "mic") == ["a tablet"])
        world.stream = nil
        #expect(world.streams.clients(of: "mic") == [])
    }

    @Test("What one client left is not heard of the next") func next() throws {
        let world = try InputWorld(["buffer_ms": .integer(200)])
        world.sound = { _, _ in 0.5 }
        try world.open("one")
        world.run(2)
        world.stream = nil
        world.sound = { _, _ in 0 }
        try world.open("other")
        world.forget()
        world.run(2)
        // What was heard falls within 5 ms.
        #expect(Signal.peak(world.heard[0][256...]) < 1e-6 && largestStep(world.heard[0]) < 0.01)
        #expect(world.harness.capture.counts["underruns"] == nil)
    }

    @Test("A node that ends, ends the stream") func ended() throws {
        let world = try InputWorld()
        try world.open()
        world.run(1)
        world.harness.instance.finish()
        let stream = try #require(world.stream)
        let sample: [Float] = [0]
        #expect(!stream.isOpen && sample.withUnsafeBufferPointer { !stream.push(position: 0, frames: $0) })
        #expect(throws: Fault.self) { try world.open() }
        // The audio thread may come once more.
        _ = world.harness.run([256])
        stream.close()
    }

    @Test("The stream goes on when rate and block of the graph change") func format() throws {
        let world = try InputWorld(drift: 100e-6, maxBlock: 256)
        try world.open()
        world.run(10)
        try world.prepare(rate: 44_100, maxBlock: 512)
        #expect(world.harness.instance.streamState?.rate == 44_100)
        world.forget()
        world.run(40)
        #expect(world.stream?.isOpen == true)
        #expect(world.stream?.status.underruns == 0 && world.stream?.status.lost == 0)
        #expect(abs(frequency(of: Array(world.heard[0].suffix(65_536)), rate: 44_100) - 1000) < 0.1)
        #expect(distortion(world.heard[0].suffix(65_536), rate: 44_100) < -80)
    }

    @Test("Channels are kept, added up to one, or given to all") func channels() throws {
        func last(_ node: Int, _ client: Int) throws -> [Float] {
            let world = try InputWorld(["channels": .integer(Int64(node))], channels: client)
            world.sound = { _, channel in 0.1 + 0.2 * Double(channel) }
            try world.open()
            world.run(1)
            return world.heard.map { ($0.last! * 1000).rounded() / 1000 }
        }
        #expect(try last(2, 2) == [0.1, 0.3])
        #expect(try last(1, 2) == [0.2])
        #expect(try last(3, 1) == [0.1, 0.1, 0.1])
        #expect(try last(8, 8).last == 1.5)
    }

    @Test("Offline there is no stream, and an input is silent", arguments: ["web-input", "web-output"])
    func offline(_ name: String) throws {
        let streams = WebStreams()
        let harness = try NodeHarness(streams.type(name), offline: true, name: "node")
        #expect(harness.instance.streamState?.rate == 0)
        #expect(harness.run(1000).allSatisfy { $0 == Array(repeating: 0, count: 1000) })
        #expect(harness.silentOutputs.allSatisfy { $0.allSatisfy { $0 } })
    }

    @Test("How a stream is, is told when it changes, and once a second at most") func states() throws {
        let world = try InputWorld()
        func states() -> [CapturedEvent] { world.harness.capture.events.filter { $0.name == "web.state" } }
        world.run(3)
        #expect(states().map { $0.fields["connected"] } == [.bool(false)])
        try world.open("a phone")
        world.run(0.05)
        #expect(states().count == 2 && states().last?.fields["client"] == .string("a phone"))
        world.run(20)
        let count = states().count
        #expect(count > 3 && count < 24)
        let last = try #require(states().last)
        guard case .number(let latency) = last.fields["latency"] else { throw NeverHappened(description: "no latency") }
        #expect(latency > 20 && latency < 40)
        world.run(20)
        let still = states().count
        world.run(20)
        #expect(states().count == still)
        world.stream = nil
        world.run(0.05)
        #expect(states().count == still + 1 && states().last?.fields["connected"] == .bool(false))
    }

    @Test("How late it is, is a series for whoever asks, ten times a second") func series() throws {
        let world = try InputWorld()
        try world.open()
        world.run(5)
        #expect(world.harness.capture.frames.isEmpty)
        world.harness.capture.wanted = [0]
        world.run(10)
        let frames = world.harness.capture.frames
        #expect(abs(frames.count - 100) < 10)
        #expect(frames.allSatisfy { (15...50).contains($0.rows[0]?.first ?? 0) })
        #expect(frames.last.map { abs(Double($0.position) / 48_000 - 15) < 0.2 } == true)
    }
}
