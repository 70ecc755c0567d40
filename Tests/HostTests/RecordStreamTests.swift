// SPDX-License-Identifier: Apache-2.0
import Drivers
import TestSupport

@testable import Host

@Suite("What is recorded, for a program", .timeLimit(.minutes(2))) struct RecordStreamTests {
    /// The audio of one recording.
    private func stream(_ host: Host) -> Subscription {
        host.subscribe(
            .lossless,
            where: { if case .audio(let audio) = $0 { audio.node == "rec" } else { false } },
            until: {
                guard case .event(let event) = $0 else { return false }
                return event.node == "rec" && event.name == "record.state" && event.text("state") == "finished"
            })
    }

    /// From which frame of the recording to which a stream goes; nil: there is nothing in it.
    private func range(_ stream: Subscription) async -> Range<Int>? {
        var range: Range<Int>?
        for await case .audio(let audio) in stream {
            let (begin, count) = (Int(audio.frame), audio.channels[0].count)
            #expect(range == nil || range?.upperBound == begin)
            range = (range?.lowerBound ?? begin)..<begin + count
        }
        return range
    }

    @Test("R3: A stream ends with its recording, and one that is asked for afterwards ends at once")
    func end() async throws {
        let scratch = try Scratch()
        let path = try scratch.write(
            "graph.conf",
            """
            [graph]
            links = ["tone -> rec"]
            [node.tone]
            type = "tone"
            [node.rec]
            type = "record"
            path = "take.wav"
            publish = true
            autostart = false
            """)
        let server = try await Jackd.start(block: 256)
        let host = Host()
        try await host.load(path)
        try await host.run(DriverRequest(kind: .jack, client: "stream", server: server.name))
        for take in ["take.wav", "take-2.wav"] {
            let heard = host.subscribe(.lossless, where: { if case .audio = $0 { true } else { false } })
            try await host.perform("start", on: "rec")
            let (first, second) = (stream(host), stream(host))
            try await eventually("something is recorded") { heard.poll() != nil }
            let told = try await host.perform("finish", on: "rec")
            let count = try SoundFile(scratch.file(take)).samples[0].count
            #expect(told["frames"] == .integer(Int64(count)))
            // They begin with what came after them.
            for stream in [first, second] { #expect(await range(stream)?.upperBound == count) }
            #expect(await range(stream(host)) == nil)
        }
        await host.close()
        server.stop()
    }
}
