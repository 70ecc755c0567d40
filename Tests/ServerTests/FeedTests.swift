// SPDX-License-Identifier: Apache-2.0
import Host
import JSON
import NodeKit
import Testing

@testable import API

/// What clients of all transports are told of what happens.
@Suite struct FeedTests {
    private let host = Host()
    private let feed: EventFeed
    private let owner = Caller(.owner)

    init() { feed = EventFeed(host) }

    private func tell(_ counts: ClosedRange<Int>) {
        for count in counts { host.tell(HostEvent.eventsLost, ["count": .integer(Int64(count))]) }
    }

    private func reader(_ given: [String: SettingValue] = [:], for caller: Caller? = nil) throws -> EventReader {
        try EventReader(feed, for: caller ?? owner, given)
    }

    private func since(_ number: Int, run: String? = nil) throws -> EventReader {
        try reader(["since": .integer(Int64(number)), "run": .string(run ?? feed.run)])
    }

    private func read(_ reader: inout EventReader) throws -> [JSON] {
        feed.advance()
        var lines: [JSON] = []
        while let line = reader.next() { lines.append(try JSON(Array(line.utf8))) }
        return lines
    }

    @Test("Events are numbered by one, and whoever comes back gets what came since") func numbers() throws {
        var first = try reader()
        tell(1...5)
        let lines = try read(&first)
        #expect(lines.map { $0["number"]?.integer } == [1, 2, 3, 4, 5])
        #expect(lines.map { $0["count"]?.integer } == [1, 2, 3, 4, 5])
        #expect(try read(&first).isEmpty && first.missed == 0)
        var back = try since(3)
        #expect(back.isResumed && back.answer.map(\.1) == ["\"\(feed.run)\"", "3", "true"])
        #expect(try read(&back).map { $0["number"]?.integer } == [4, 5])
        #expect(try since(5).isResumed)
        for (number, run) in [(6, nil), (-1, nil), (3, "another")] as [(Int, String?)] {
            #expect(try !since(number, run: run).isResumed, "\(number)")
        }
    }

    @Test("What is too old is gone, which is counted and told, with the states that there are now") func bounded()
        throws
    {
        var slow = try reader()
        host.tell(HostEvent.archive, ["state": .string("keeping")])
        for _ in 0..<3 {
            tell(1...2000)
            feed.advance()
        }
        #expect(feed.last == 6001 && slow.missed == 6001 - EventFeed.most)
        #expect(try !since(1000).isResumed)
        #expect(try since(6001 - EventFeed.most).isResumed)
        let lines = try read(&slow)
        #expect(lines.count == EventFeed.most + 2 && slow.missed == 6001 - EventFeed.most)
        #expect(
            lines[0]["event"]?.string == "events.lost" && lines[0]["count"]?.integer == 6001 - EventFeed.most)
        #expect(lines[1]["state"]?.string == "keeping" && lines[1]["number"] == nil)
        #expect(lines[2]["number"]?.integer == 6002 - EventFeed.most)
        // What is wanted alone does not hide that something was lost.
        var other = try reader(["only": .list([.string("xrun")])])
        for _ in 0..<3 {
            tell(1...2000)
            feed.advance()
        }
        #expect(try read(&other).first?["event"]?.string == "events.lost")
    }

    @Test("Nobody is told what was lost before anybody asked") func begins() throws {
        tell(1...20_000)
        var first = try reader()
        #expect(try read(&first).isEmpty && first.missed == 0)
    }

    @Test("States are told to whoever comes, but the links with their tokens only to who is trusted") func states()
        throws
    {
        feed.advance()
        host.tell(HostEvent.web, ["link": .string("secret")])
        host.tell(HostEvent.archive, ["state": .string("keeping")])
        host.tell(HostEvent.archive, ["state": .string("waiting")])
        var other = try reader()
        #expect(try read(&other).map { $0["state"]?.string } == ["waiting"])
        var user = try reader(for: .user)
        #expect(try read(&user).map { $0["link"]?.string } == ["secret", nil])
        host.tell(HostEvent.web, ["link": .string("secret")])
        #expect(try read(&other).isEmpty)
        #expect(try read(&user).map { $0["link"]?.string } == ["secret"])
    }

    @Test("Of names that are asked for, all else is left out, states too") func chosen() throws {
        host.tell(HostEvent.archive, ["state": .string("keeping")])
        var reader = try reader(["only": .list([.string("graph.changed")])])
        host.tell(HostEvent.archive, ["state": .string("waiting")])
        host.tell(HostEvent.changed)
        #expect(try read(&reader).map { $0["event"]?.string } == ["graph.changed"])
        #expect(throws: Fault.self) { try self.reader(["only": .integer(1)]) }
        #expect(throws: Fault.self) { try self.reader(["onyl": .list([])]) }
    }

    @Test("Each parameter that was turned is a state of its own, and visitors are told of none") func turned() throws {
        var visitor = try reader(for: Caller(.visitor))
        for (key, value) in [("low", 1), ("high", 2), ("low", 3)] {
            host.tell(HostEvent.parameterChanged, ["parameter": .string(key), "value": .integer(Int64(value))])
        }
        host.tell(HostEvent.settingChanged, ["setting": .string("low"), "value": .string("slow")])
        host.tell(HostEvent.switched, ["mute": .bool(true), "bypass": .bool(false)])
        var reader = try reader(for: Caller(.operator))
        let states = try read(&reader)
        #expect(states.map { $0["parameter"]?.string } == ["high", "low", nil, nil])
        #expect(states.map { $0["value"]?.integer } == [2, 3, nil, nil])
        #expect(try read(&visitor).isEmpty)
        var late = try self.reader(for: Caller(.visitor))
        #expect(try read(&late).isEmpty)
    }

    @Test("Visitors are told what belongs to talking, without the reasons of failures, and nothing else")
    func visitors() throws {
        func told(_ event: Event, to right: Right) throws -> JSON? {
            let line = ToldEvent(event, EventJSON.encode(event), number: 7).line(for: Caller(right))
            return try line.map { try JSON(Array($0.utf8)) }
        }
        let state = Event(
            "agent.state", node: "agent", fields: ["state": .string("error"), "reason": .string("secret")],
            retained: true, public: true)
        let seen = try #require(try told(state, to: .visitor))
        #expect(seen["state"]?.string == "error" && seen["number"]?.integer == 7 && seen["node"]?.string == "agent")
        #expect(seen["reason"] == nil)
        #expect(try told(state, to: .operator)?["reason"]?.string == "secret")
        let text = Event("said", node: "agent", fields: ["text": .string("hello")], public: true)
        #expect(try told(text, to: .visitor)?["text"]?.string == "hello")
        let changed = Event(HostEvent.changed.name, fields: ["added": .list([.string("secret")])])
        #expect(try told(changed, to: .visitor)?.fields.keys.sorted() == ["event", "number"])
        for event in [HostEvent.log, HostEvent.health, HostEvent.running, EventType("record.finished", "")] {
            #expect(try told(Event(event.name, node: "n"), to: .visitor) == nil, "\(event.name)")
        }
        // Every text is for them, and a take is not.
        #expect(EventType("a", "", role: .text(.partial)).isPublic && !EventType("a", "", role: .take(.whole)).isPublic)
    }
}
