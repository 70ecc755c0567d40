// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A graph file that changes while its graph plays.
@Suite("Reloading", .serialized, .timeLimit(.minutes(5)))
struct ReloadTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write("graph.conf", endless)
    }

    private func count(_ event: String, _ run: Program) throws -> Int {
        try run.events().count { $0["event"] as? String == event }
    }

    /// Waits until the meter shows a peak near to this.
    private func shows(_ decibels: Double, _ run: Program) async throws {
        try await run.wait("the meter shows \(decibels) dB") { run in
            guard let peak = try run.events().last(where: { $0["event"] as? String == "series" })?["peak"] as? [Double]
            else { return false }
            return abs(Signal.decibels(peak[0]) - decibels) < 0.2
        }
    }

    @Test("With --watch the graph follows its file, however it is saved; a broken file changes nothing")
    func watched() async throws {
        let run = try voicegraph("run", graph, "--driver", "dummy", "--json", "--watch")
        try await shows(-6, run)
        let louder = endless.replacing("level_db = -6", with: "level_db = -20")
        #expect(louder != endless)
        try scratch.write("graph.conf", louder)
        try await shows(-20, run)
        try scratch.write("graph.conf", louder.replacing("type = \"gain\"", with: "type = \"gian\""))
        try await run.wait("it refuses") { try count("reload.failed", $0) == 1 }
        let failed = try #require(try run.events().first { $0["event"] as? String == "reload.failed" })
        #expect((failed["reason"] as? String)?.contains("unknown node type 'gian'") == true)
        let told = (failed["diagnostics"] as? [[String: Any]])?.first
        #expect(told?["line"] is Int)
        // Whoever hears events may not read the file.
        #expect(told?["text"] as? String == "")
        let levels = try count("series", run)
        try await run.wait("it plays on") { try count("series", $0) > levels + 10 }
        try await shows(-20, run)
        // As editors save that keep the old file until the new one is whole.
        let other = try scratch.write("other.conf", endless.replacing("level_db = -6", with: "level_db = -12"))
        #expect(rename(other, graph) == 0)
        try await shows(-12, run)
        run.signal(SIGINT)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("A SIGHUP has the file read again, and ends nothing")
    func hangup() async throws {
        let run = try voicegraph("run", graph, "--driver", "dummy", "--json")
        try await shows(-6, run)
        try scratch.write("graph.conf", endless.replacing("level_db = -6", with: "level_db = -20"))
        run.signal(SIGHUP)
        try await shows(-20, run)
        try scratch.write("graph.conf", "nothing of a graph")
        run.signal(SIGHUP)
        try await run.wait("it refuses") { try count("reload.failed", $0) == 1 }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }
}
