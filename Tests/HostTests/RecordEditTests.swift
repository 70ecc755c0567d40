// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import NodeKit
import TestSupport

@testable import Host

/// A recorder that is replaced while it records.
@Suite("Replacing a recorder", .timeLimit(.minutes(2)))
struct RecordEditTests {
    private static let block = 256

    /// Records, replaces the recorder, records on, and ends.
    private func record(_ path: String, _ overwrites: Bool) throws -> Subscription {
        let run = try OfflineRun(
            """
            [graph]
            name = "replacing"
            links = ["tone -> rec"]
            [node.tone]
            type = "tone"
            frequency = 200
            [node.rec]
            type = "record"
            path = "\(path)"
            overwrite = \(overwrites)

            """, block: Self.block)
        run.play(100 * Self.block)
        try run.edit { description in
            let rec = description.nodes.firstIndex { $0.name == "rec" }!
            description.nodes[rec].entries["channels"] = Entry(.integer(2))
            description.nodes[rec].keys.append("channels")
            description.links.append(LinkDescription(from: Endpoint("tone"), to: Endpoint("rec", "in_2")))
            description.links[0] = LinkDescription(from: Endpoint("tone"), to: Endpoint("rec", "in_1"))
        }
        run.play(50 * Self.block)
        return run.published
    }

    @Test(
        "One with the same path leaves its file complete, and the next one's is another",
        arguments: [false, true])
    func samePath(overwrites: Bool) throws {
        let scratch = try Scratch()
        let path = scratch.file("take.wav")
        try Data("an older take".utf8).write(to: URL(fileURLWithPath: path))
        let published = try record(path, overwrites)
        // Of the older take nothing is lost unless that was asked for, and of the two new ones nothing at all.
        let names = overwrites ? ["take.wav", "take-2.wav"] : ["take-2.wav", "take-3.wav"]
        if !overwrites { #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("an older take".utf8)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == (overwrites ? 2 : 3))
        let files = try names.map { try SoundFile(scratch.file($0)).samples }
        #expect(files.map(\.count) == [1, 2])
        // The tone has gone on from the one to the other: the first has at least what came before the edit, whole.
        let period = 48_000 / 200
        #expect(files[0][0].count >= 100 * Self.block && files[1][0].count >= 50 * Self.block)
        let first = files[0][0].prefix(100 * Self.block)
        #expect(zip(first, first.dropFirst(period)).allSatisfy { abs($0 - $1) < 1e-4 })
        #expect(Signal.peak(Array(first.prefix(period))) > 0.09 && Signal.peak(files[1][1].suffix(period)) > 0.09)
        let events = published.drain().compactMap { item -> Event? in
            if case .event(let event) = item, event.name.hasPrefix("record."), event.name != "record.state" {
                event
            } else {
                nil
            }
        }
        #expect(events.map(\.name) == ["record.started", "record.started", "record.finished", "record.finished"])
        #expect(events.compactMap { $0.text("path") } == (names + names).map { scratch.file($0) })
        #expect(events.compactMap { $0.integer("frames") } == files.map { $0[0].count })
    }
}
