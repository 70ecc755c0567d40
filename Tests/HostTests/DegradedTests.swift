// SPDX-License-Identifier: Apache-2.0
import Drivers
import Foundation
import NodeKit
import TestSupport

@testable import Host

/// What fails takes nothing else with it.
@Suite(.timeLimit(.minutes(2))) struct DegradedTests {
    /// What the graph's outputs hold after half a second.
    private func loudness(_ run: OfflineRun, _ port: String) throws -> Float {
        run.play(24_000)
        return Signal.peak(try #require(run.driver.buffer(of: port)))
    }

    private let good = """
        [node.tone]
        type = "tone"
        level_db = -6
        [node.out]
        type = "output"
        channels = 1

        """

    @Test("A node that cannot be prepared is bypassed, and told") func bypassed() throws {
        let run = try OfflineRun(
            "[graph]\nlinks = [\"tone -> bad -> out\"]\n[node.bad]\ntype = \"broken-effect\"\n" + good)
        #expect(run.graph.status.degraded == ["bad": "the device is on fire"])
        let failed = run.events("health")
        #expect(
            failed.map(\.node) == ["bad"] && failed.first?.text("state") == "failed"
                && failed.first?.text("reason") == "the device is on fire")
        #expect(abs(try loudness(run, "out_1") - 0.5012) < 1e-3)
    }

    @Test("A required node that cannot be prepared ends the start") func required() throws {
        let error = #expect(throws: Fault.self) {
            try OfflineRun("[node.bad]\ntype = \"relay\"\nfails = true\nrequired = true\n" + good)
        }
        #expect(error == Fault("node 'bad' failed: the device is on fire", hint: "put it out"))
    }

    @Test("A recording that cannot be opened leaves the sound alone") func recording() throws {
        let scratch = try Scratch()
        // A folder where the file should be: not even root can write that.
        try FileManager.default.createDirectory(atPath: scratch.file("take.wav"), withIntermediateDirectories: false)
        let run = try OfflineRun(
            """
            [graph]
            links = ["tone -> rec", "tone -> out"]
            [node.rec]
            type = "record"
            path = "\(scratch.file("take.wav"))"
            overwrite = true

            """ + good)
        #expect(try loudness(run, "out_1") > 0.5)
        #expect(
            run.graph.status.degraded == [
                "rec": "the recording ended: cannot record to \(scratch.file("take.wav")): Is a directory"
            ])
        #expect(run.events("record.failed").map(\.node) == ["rec"])
    }

    @Test("A plugin that cannot be loaded is left out") func missingPlugin() throws {
        let scratch = try Scratch()
        try scratch.write("libvg-crystal.so", "nonsense")
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let text = "[graph]\nlinks = [\"tone -> crystal -> out\"]\n[node.crystal]\ntype = \"crystal\"\n" + good
        let ready = try prepared(text, in: scratch, registry: registry)
        let told = ready.bus.subscribe(.lossless)
        let driver = OfflineDriver(rate: 48_000, maxBlock: 256)
        let graph = try RunningGraph.start(ready, on: driver)
        defer { graph.stop() }
        #expect(graph.status.degraded.keys.sorted() == ["crystal"])
        #expect(graph.status.degraded["crystal"]?.contains("not a shared object") == true)
        #expect(
            told.drain().contains {
                if case .event(let event) = $0 { event.name == "health" && event.node == "crystal" } else { false }
            })
        for _ in 0..<20 { driver.process(frames: 256) }
        // What went into it goes to what it fed.
        #expect(Signal.peak(try #require(driver.buffer(of: "out_1"))) > 0.4)
    }

    @Test("What recovers is not degraded any more, and nothing is read out of the names of events") func recovered()
        throws
    {
        let run = try OfflineRun(good)
        run.graph.bus.publish(.event(Event("speech.failed", node: "tone", fields: ["reason": .string("no voice")])))
        run.graph.pump()
        #expect(run.graph.status.degraded.isEmpty)
        run.graph.reports.set("tone", .degraded("no voice"))
        #expect(run.graph.status.degraded == ["tone": "no voice"])
        run.graph.reports.set("tone", .ok)
        #expect(run.graph.status.degraded.isEmpty)
    }
}
