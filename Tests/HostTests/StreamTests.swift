// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit
import TestSupport

@testable import Host

/// Sound of clients, as a server asks a host for it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct StreamTests {
    private static let graph = """
        [graph]
        name = "streamed"
        links = ["phone -> ears"]
        [node.ears]
        type = "web-output"
        [node.phone]
        type = "web-input"
        [node.tone]
        type = "tone"
        """

    @Test("Clients find the nodes whose sound they may stream, and those that refuse them say why")
    func streams() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host(registry: testRegistry)
        #expect(await host.streams.isEmpty)
        await #expect(throws: Fault.self) { try await host.openStream("phone", channels: 1, client: "early") }
        try await host.load(try scratch.write("graph.conf", Self.graph))
        try await host.run(DriverRequest(kind: .dummy, client: "streamed"))
        #expect(await host.streams.map(\.node) == ["phone", "ears"])
        #expect(await host.streams.map(\.direction) == [VG_INPUT, VG_OUTPUT])
        func refusal(
            _ node: String, rate: Double = 48_000, channels: Int = 1
        ) async -> (message: String, hint: String) {
            do throws(Fault) {
                _ = try await host.openStream(node, rate: rate, channels: channels, client: "x")
                return ("", "")
            } catch { return (error.message, error.hint) }
        }
        #expect(await refusal("nobody").message == "there is no node 'nobody'")
        #expect(
            await refusal("tone") == (
                "clients cannot stream the sound of the node 'tone'", "those that can: phone, ears"
            ))
        #expect(
            await refusal("phone", rate: 7999) == ("7999.0 Hz is no rate of a stream", "use 8000 to 192000 Hz"))
        #expect(await refusal("phone", rate: .nan).hint == "use 8000 to 192000 Hz")
        for channels in [0, 9] {
            #expect(
                await refusal("phone", channels: channels)
                    == ("a stream cannot have \(channels) channels", "use 1 to 8"))
        }
        // What one client sends, another one hears.
        let (sent, heard) = (
            try await host.openStream("phone", channels: 1, client: "a"),
            try await host.openStream("ears", channels: 1, client: "b")
        )
        let samples = [Float](repeating: 0.5, count: 480)
        func send(_ message: Int) -> Bool {
            samples.withUnsafeBufferPointer { sent.push(position: UInt32(480 * message), frames: $0) }
        }
        func hear() -> Float? {
            withUnsafeTemporaryAllocation(of: Float.self, capacity: 4096) { room in
                heard.pull(into: room).map { Signal.peak(room[..<$0.frames]) }
            }
        }
        var (messages, peak) = (0, Float(0))
        while peak < 0.4, messages < 6000 {
            #expect(send(messages))
            messages += 1
            try await Task.sleep(for: .milliseconds(10))
            peak = max(peak, try #require(hear()))
        }
        #expect(peak > 0.4)
        await host.close()
        #expect(hear() == nil && !send(messages))
        turn.end()
    }
}
