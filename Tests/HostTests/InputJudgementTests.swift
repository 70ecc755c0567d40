// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import Drivers
@testable import Host

/// What comes from a microphone is judged and told. Row V4.
@Suite(.serialized, .timeLimit(.minutes(5))) struct InputJudgementTests {
    @Test(
        "V4: the loudest sample and the sources decide",
        arguments: [
            (Float(0.5), PortConnections.connected, InputJudgement.Verdict.plausible), (Float(0), .connected, .silent),
            (0.0005, .connected, .quiet), (1, .connected, .clipping), (1.5, .unknown, .clipping),
            (0, .unconnected(unmatched: []), .unconnected), (0, .missing, .missing), (0.002, .unknown, .plausible),
        ])
    func verdicts(_ peak: Float, _ sources: PortConnections, _ verdict: InputJudgement.Verdict) {
        let judgement = InputJudgement(peak: peak, sources: sources)
        #expect(judgement.verdict == verdict)
        #expect(judgement.peak.map { abs($0 - Signal.decibels(Double(peak))) < 1e-3 } ?? (peak == 0))
        #expect(!judgement.text.isEmpty && judgement.values["verdict"] == .string(verdict.rawValue))
        #expect(InputJudgement(peak: nil, sources: .connected).verdict == .unknown)
    }

    private func graph(_ node: String) -> String {
        """
        [graph]
        links = ["mic -> meter"]
        [node.mic]
        type = "input"
        \(node)
        [node.meter]
        type = "meter"

        """
    }

    @Test("V4: on a server it is told at the start, and whenever somebody asks") func live() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        for (node, verdict) in [
            ("connect = []", InputJudgement.Verdict.unconnected), ("connect = [\"system:capture_*\"]", .silent),
        ] {
            let host = Host()
            let events = host.subscribe(.lossless) { if case .event = $0 { true } else { false } }
            try await host.load(scratch.write("graph.conf", graph(node)))
            try await host.run(DriverRequest(kind: .jack, server: server.name))
            let judgement = try await host.judge("mic", seconds: 0.3)
            #expect(judgement.verdict == verdict)
            #expect(await host.inputs == ["mic"])
            await #expect(throws: Fault.self) { try await host.judge("meter") }
            await #expect(throws: Fault.self) { try await host.judge("nobody") }
            await #expect(throws: Fault.self) { try await host.judge("mic", seconds: .nan) }
            // The one of the start comes last, since it listens longer, and then the log.
            var told: [Event] = []
            for await published in events {
                guard case .event(let event) = published else { continue }
                if event.name == "input.judged" || event.name == "log" { told.append(event) }
                if event.name == "log" { break }
            }
            #expect(told.map(\.name) == ["input.judged", "input.judged", "log"])
            #expect(told.allSatisfy { $0.node == "mic" && $0.fields["text"] == .string(judgement.text) })
            await host.stop()
            await host.close()
        }
        server.stop()
    }

    @Test("V4: what stands before an input is not guessed while the driver waits for the server in another call")
    func busy() async throws {
        let server = try await Jackd.start()
        let ready = try prepared(graph("connect = []"), in: Scratch())
        let driver = try JackDriver(name: "busy", server: server.name)
        let running = try RunningGraph.start(ready, on: driver)
        defer { running.stop() }
        driver.lock.acquire()
        let judging = Task { try await Host.judge("mic", seconds: 0.1, in: running) }
        // Sound of several times that length has come. The thread that has the lock gives it back.
        try eventuallyNow("it plays") { running.engine.counters.position > 48_000 }
        driver.lock.release()
        #expect(try await judging.value.verdict == .unconnected)
        server.stop()
    }
}
