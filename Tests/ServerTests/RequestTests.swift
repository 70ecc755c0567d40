// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import GraphFile
import Host
import JSON
import NIOCore
import NodeKit
import Synchronization
import TestSupport
import Testing

@testable import Server

/// What requests say, and what they are answered.
@Suite struct RequestTests {
    @Test("A target is read as it is meant, and one that leaves its place is none") func targets() {
        #expect(Target("/api/get?node=a%20b&parameter=x+y&flag")?.query.map(\.value) == ["a b", "x y", ""])
        #expect(Target("/a%2Fb")?.path == "/a/b")
        for text in [
            "", "*", "http://x/", "/../x", "/a/../b", "/%2e%2e/x", "/a/./b", "/%", "/%zz", "/%ff", "/a%00b", "/a%0Ab",
            "/a\\..\\b", "/%5c..", "/?a=%",
        ] {
            #expect(Target(text) == nil, "\(text)")
        }
    }

    @Test("A client has its share of the calls under way, and what only looks makes room") func callPlaces() throws {
        let places = CallPlaces()
        let ended = Mutex<[Int]>([])
        let (one, other) = (Party(address: "192.0.2.1", right: .visitor), Party(address: "192.0.2.1", right: .owner))
        func look(_ party: Party) throws -> Int {
            let number = try #require(places.begin(party))
            places.look(number) { ended.withLock { $0.append(number) } }
            return number
        }
        let first = try (0..<Limits.callsOfOne).map { _ in try look(one) }
        #expect(ended.withLock { $0 } == [])
        // Its own oldest one ends.
        _ = try look(one)
        #expect(ended.withLock { $0 } == [first[0]])
        // There is room for another, first beside it and then in its place.
        for _ in 0..<(Limits.calls - Limits.callsOfOne + 1) { _ = try look(other) }
        #expect(ended.withLock { $0 } == [first[0], first[1]])
        // Who has left has no place.
        places.end(first[2])
        _ = try look(other)
        #expect(ended.withLock { $0 } == [first[0], first[1]])
        // A change does not end before its time.
        let changes = CallPlaces()
        for _ in 0..<Limits.callsOfOne { _ = try #require(changes.begin(one)) }
        #expect(changes.begin(one) == nil && changes.begin(other) != nil)
    }

    @Test("A client that asks too often leaves calls to others") func callRate() {
        let places = CallPlaces()
        let (one, other) = (Party(address: "192.0.2.1", right: .owner), Party(address: "192.0.2.2", right: .owner))
        var count = 0
        while let number = places.begin(one), count < 100_000 {
            places.end(number)
            count += 1
        }
        #expect(count >= Int(Limits.callBurstOfOne) && count < 100_000)
        #expect(places.begin(other) != nil)
    }

    @Test("A range of a file is what lies in it") func ranges() throws {
        func part(_ text: String) -> Range<Int>? { TakeFile.part(text, of: 1000) }
        #expect(part("bytes=0-99") == 0..<100)
        #expect(part("bytes=900-") == 900..<1000)
        #expect(part("bytes=-100") == 900..<1000)
        #expect(part("bytes=-5000") == 0..<1000)
        #expect(part("bytes=990-2000") == 990..<1000)
        for text in [
            "bytes=", "bytes=-", "bytes=5-1", "bytes=1000-", "bytes=0-1,5-6", "lines=0-1", "bytes=-0", "bytes=a-b",
        ] {
            #expect(part(text) == nil, "\(text)")
        }
        let scratch = try Scratch()
        let path = try scratch.write("take.wav", "0123456789")
        let file = try #require(TakeFile(path, range: "bytes=3-6"))
        #expect(String(buffer: file.read(0, 100)) == "3456" && String(buffer: file.read(2, 1)) == "5")
        #expect(TakeFile(scratch.path, range: nil) == nil)
        #expect(TakeFile(path + ".none", range: nil) == nil)
    }

    @Test("Every call is described, and changes only by POST") func description() throws {
        let table = CallTable(ArchiveCalls.table() + WebServer.ownCalls(Tokens(), try Look(WebDescription())))
        let document = try JSON(OpenAPI.description(table, isReadOnly: false).utf8)
        let paths = try #require(document["paths"]?.fields)
        // What happens is asked for there, too.
        #expect(paths.count == table.calls.count + 1 && paths["/api/events"]?["get"] != nil)
        for call in table.calls {
            let path = try #require(paths["/api/\(call.name)"])
            let operation = try #require(path[call.isChange ? "post" : "get"], "\(call.name)")
            #expect(path.fields.count == 1 && operation["summary"]?.string == call.doc)
        }
        #expect(paths["/api/set"]?["post"]?["requestBody"]?["required"]?.bool == true)
        let shown = try JSON(OpenAPI.description(table, isReadOnly: true).utf8)["paths"]?.fields ?? [:]
        #expect(shown.count == table.calls.count { !$0.isChange } + 1)
    }

    @Test("So much may be done at once, and so much a second") func rate() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var rate = Rate(burst: 3, perSecond: 10, at: start)
        #expect((0..<4).map { _ in rate.take(at: start) } == [true, true, true, false])
        #expect((0..<2).map { _ in rate.take(at: start + .milliseconds(100)) } == [true, false])
        #expect((0..<4).map { _ in rate.take(at: start + .seconds(60)) } == [true, true, true, false])
    }

    @Test("Changes are made one after another, looks beside them, and too many are refused") func queue() throws {
        var queue = CallQueue()
        func request(_ id: Int) throws -> Request {
            var request = Request()
            try request.read("{\"id\":\(id),\"call\":\"x\"}".utf8)
            return request
        }
        for id in 1...3 { #expect(queue.add(try request(id), isChange: true)) }
        #expect(queue.add(try request(4), isChange: false))
        #expect(queue.next()?.request.id == .integer(1))
        #expect(queue.next()?.request.id == .integer(4))
        #expect(queue.next() == nil)
        queue.done(isChange: true)
        #expect(queue.next()?.request.id == .integer(2))
        for _ in 0..<(Limits.waiting - 1) { #expect(queue.add(try request(5), isChange: false)) }
        #expect(!queue.add(try request(6), isChange: true))
    }
}
