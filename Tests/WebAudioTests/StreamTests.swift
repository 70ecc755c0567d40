// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import WebAudio

@Suite struct StreamTests {
    @Test("Nodes are in the table while they live") func table() throws {
        let streams = WebStreams()
        var input: NodeHarness? = try NodeHarness(streams.type("web-input"), name: "mic")
        let output = try NodeHarness(streams.type("web-output"), rate: 44_100, name: "ears")
        #expect(streams.list().map(\.node) == ["mic", "ears"])
        #expect(streams.list().map(\.direction) == [.input, .output])
        #expect(streams.list().map(\.channels) == [1, 2] && streams.list().map(\.rate) == [48_000, 44_100])
        #expect(streams.list().map(\.clients) == [[], []])
        input = nil
        #expect(streams.list().map(\.node) == ["ears"])
        output.instance.finish()
        #expect(streams.list().isEmpty)
        _ = input
    }

    @Test("The types of the program have a table of their own") func shared() {
        #expect(webNodeTypes.map { String(cString: $0.pointee.name) } == ["web-input", "web-output"])
        #expect(webNodeTypes == webNodeTypes)
    }

    @Test("What cannot be opened says why, and what to do") func refused() throws {
        let world = try InputWorld()
        func error(_ open: () throws -> WebInputStream) -> String {
            var message = "it was opened"
            do { _ = try open() } catch { message = "\(error)" }
            return message
        }
        func open(_ node: String = "mic", graph: String? = nil, rate: Double = 48_000, channels: Int = 1) throws
            -> WebInputStream
        {
            try world.streams.openInput(node, graph: graph, rate: rate, channels: channels, client: "me")
        }
        #expect(
            error { try open("nobody") }.hasPrefix("there is no node 'nobody' that takes audio over the web (its type"))
        #expect(error { try open(graph: "other") }.contains("in the graph 'other'"))
        #expect(error { try open(rate: 7999) } == "7999.0 Hz is no rate of a stream (use 8000 to 192000 Hz)")
        #expect(error { try open(rate: .nan) }.contains("8000"))
        #expect(error { try open(channels: 0) } == "a stream cannot have 0 channels (use 1 to 8)")
        #expect(error { try open(channels: 9) }.contains("use 1 to 8"))
        let other = try NodeHarness(world.streams.type("web-output"), name: "ears")
        #expect(error { try open("ears") } == "the node 'ears' is for the other direction: it gives audio")
        let wide = try NodeHarness(world.streams.type("web-input"), ["channels": .integer(4)], name: "wide")
        #expect(error { try open("wide", channels: 3) }.contains("send 1 channel or 4"))
        _ = (other, wide)
    }

    @Test("One client at a time sends to a node; the next is told who, and may when that has left") func taken() throws
    {
        let world = try InputWorld()
        try world.open("a phone")
        #expect(world.streams.list().first?.clients == ["a phone"])
        let error = #expect(throws: Fault.self) { try world.open("a tablet") }
        #expect(error?.message == "'mic' is taken by another client: a phone")
        let first = world.stream
        first?.close()
        try world.open("a tablet")
        // The first one's end is not the end of the second.
        #expect(first?.isOpen == false && world.stream?.isOpen == true)
        first?.close()
        #expect(world.streams.list().first?.clients == ["a tablet"])
        world.stream = nil
        #expect(world.streams.list().first?.clients == [])
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

    @Test("The latest node of a name is meant, and the graph where it is given") func names() throws {
        let streams = WebStreams()
        let old = try NodeHarness(streams.type("web-input"), name: "mic")
        let new = try NodeHarness(streams.type("web-input"), ["channels": .integer(2)], name: "mic")
        let stream = try streams.openInput("mic", rate: 48_000, channels: 2, client: "me")
        #expect(streams.list().map(\.clients) == [[], ["me"]])
        new.instance.finish()
        #expect(!stream.isOpen)
        #expect(try streams.openInput("mic", rate: 48_000, channels: 1, client: "me").isOpen)
        _ = old
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
        #expect(world.streams.list().first?.rate == 44_100)
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
        #expect(streams.list().isEmpty)
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
