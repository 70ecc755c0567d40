// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Clients that mean no good, or are many.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ClientTests {
    @Test func aThousandClientsThatStallKeepNobodyOut() async throws {
        let run = try await Playing()
        let before = try run.nodes()
        var stalled: [Wire] = []
        for number in 0..<1000 {
            let wire = try run.client()
            // Some begin a call and never end it.
            if number % 2 == 0 { wire.send("{\"call\":\"set\",\"node\":\"gain\",\"par".utf8) }
            stalled.append(wire)
            // Descriptors are few.
            if stalled.count > 200 { stalled.removeFirst(100) }
        }
        let answer = try run.client().call(
            "{\"id\":7,\"call\":\"set\",\"node\":\"gain\",\"parameter\":\"gain_db\",\"value\":0}")
        #expect(answer["ok"] as? Bool == true && answer["id"] as? Int == 7)
        #expect(try run.nodes() == before, "nothing that was begun was done")
        let blocks = try #require(try run.status()["blocks"] as? Int)
        try await eventually("the audio goes on") { try run.status()["blocks"] as? Int ?? 0 > blocks + 20 }
        let first = try #require(stalled.first)
        #expect(try first.line().map { $0["ok"] as? Bool == false } != false, "it was told, or let go")
        stalled = []
        try await run.end()
    }

    @Test func onlyTheUserCanOpenTheSocketAndItIsGoneAtTheEnd() async throws {
        let run = try await Playing()
        var entry = stat()
        #expect(lstat(run.socket, &entry) == 0 && entry.st_mode & 0o777 == 0o600)
        #expect(
            lstat((run.socket as NSString).deletingLastPathComponent, &entry) == 0 && entry.st_mode & 0o777 == 0o700)
        try await run.end()
        #expect(lstat(run.socket, &entry) != 0)
    }

    @Test func aFolderThatOthersCanOpenIsNotUsedAndTheGraphPlaysAllTheSame() async throws {
        let scratch = try Scratch()
        #expect(mkdir(scratch.file("voicegraph"), 0o755) == 0)
        let run = try await Playing(toneGraph, in: scratch)
        #expect(!FileManager.default.fileExists(atPath: run.socket))
        try await run.program.wait("it is told why") { ($0.output + $0.errors).contains("is open to other users") }
        try await run.end()
    }
}
