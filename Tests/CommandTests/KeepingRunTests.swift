// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// `voicegraph run` with nodes that say keep. Where there is no jackd to find, a timer calls.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KeepingRunTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write(
            "tape.conf",
            """
            [graph]
            name = "tape"
            links = ["tone -> tape"]
            [node.tone]
            type = "tone"
            [node.tape]
            type = "record"
            path = "%H-%M-%S.wav"
            keep = true
            speaker = "Anna"
            """)
    }

    private func run(_ arguments: String..., data: String = "data") throws -> Program {
        try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy", "--json"] + arguments,
            environment: ["PATH": "/nowhere", "XDG_DATA_HOME": scratch.file(data)])
    }

    private func objects(_ arguments: String...) async throws -> [[String: Any]] {
        let program = try Program(
            [Program.voicegraph] + arguments + ["--json"], environment: ["XDG_DATA_HOME": scratch.file("data")])
        #expect(try await program.end() == 0, "\(program.errors)")
        return try program.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("A run keeps its takes; one that is killed leaves what it had, and the next run closes its session")
    func kept() async throws {
        let first = try run()
        try await first.wait("it records") { $0.output.contains("\"event\":\"record.started\"") }
        try await eventually("that is kept") { try await objects("takes", "list").count == 1 }
        first.signal(SIGKILL)
        #expect(try await first.end() == -SIGKILL)
        #expect(try await objects("takes", "list").first?["state"] as? String == "growing")
        let second = try run("--duration", "0.3")
        #expect(try await second.end() == 0, "\(second.errors)")
        let states = try second.events().filter { $0["event"] as? String == "archive.state" }
        #expect(states.map { $0["state"] as? String } == ["keeping", "ended"])
        let takes = try await objects("takes", "list")
        #expect(takes.map { $0["state"] as? String } == ["cut", "whole"])
        #expect(takes.map { $0["speaker"] as? String } == ["Anna", "Anna"])
        #expect(takes.allSatisfy { $0["exists"] as? Bool == true })
    }

    @Test("A take is played to its end")
    func play() async throws {
        let recorded = try run("--duration", "0.3")
        #expect(try await recorded.end() == 0, "\(recorded.errors)")
        let play = try Program(
            [Program.voicegraph, "takes", "play", "--driver", "dummy"],
            environment: ["PATH": "/nowhere", "XDG_DATA_HOME": scratch.file("data")])
        #expect(try await play.end() == 0, "\(play.errors)")
        let take = try await objects("takes", "list")[0]
        try scratch.write(
            (try #require(take["path"] as? String).split(separator: "/").last.map(String.init))!, "no sound")
        let broken = try Program(
            [Program.voicegraph, "takes", "play", "--driver", "dummy"],
            environment: ["PATH": "/nowhere", "XDG_DATA_HOME": scratch.file("data")])
        #expect(try await broken.end() == 1)
        #expect(broken.errors.hasPrefix("voicegraph: "), "\(broken.errors)")
    }

    @Test("Where nothing can be kept the graph plays all the same, that is told, and the run ends with 1")
    func refused() async throws {
        try scratch.write("data", "")
        let run = try run("--duration", "0.3")
        #expect(try await run.end() == 1)
        #expect(run.errors.contains("1 of what is to be kept could not be written into the archive: "), "\(run.errors)")
        #expect(run.errors.contains("Not a directory"))
        let events = try run.events()
        #expect(events.contains { $0["event"] as? String == "archive.state" && $0["state"] as? String == "waiting" })
        #expect(events.contains { $0["event"] as? String == "record.finished" })
    }

    @Test("With archive = false, or without keep, no archive is made", arguments: ["off", "not asked for"])
    func off(_ which: String) async throws {
        let text = try String(contentsOfFile: graph, encoding: .utf8)
        try scratch.write(
            "tape.conf",
            which == "off"
                ? text.replacing("[graph]", with: "[graph]\narchive = false") : text.replacing("keep = true", with: ""))
        let run = try run("--duration", "0.3")
        #expect(try await run.end() == 0, "\(run.errors)")
        #expect(!run.output.contains("archive.state"))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("data")))
    }
}
