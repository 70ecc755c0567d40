// SPDX-License-Identifier: Apache-2.0
import API
import Graph
import Host
import JSON
import NIOCore
import NodeKit
import Testing

@testable import Server

/// What clients are told of what happens.
@Suite struct LiveTests {
    private func lines(_ history: EventHistory, after number: Int) -> [Int] {
        var (numbers, last) = ([Int](), number)
        while let item = history.next(after: last) {
            last = item.number
            numbers.append(last)
        }
        return numbers
    }

    @Test("Events are numbered by one, and whoever comes back gets what came since") func numbers() throws {
        let host = Host()
        let history = EventHistory(host)
        for count in 1...5 { host.tell(HostEvent.eventsLost, ["count": .integer(Int64(count))]) }
        #expect(history.advance() && history.last == 5)
        #expect(lines(history, after: 0) == [1, 2, 3, 4, 5] && lines(history, after: 3) == [4, 5])
        #expect(lines(history, after: 5).isEmpty && history.reaches(5) && !history.reaches(6))
        let line = try JSON(Array(try #require(history.next(after: 2)).line.readableBytesView))
        #expect(line["number"]?.integer == 3 && line["event"]?.string == "events.lost" && line["count"]?.integer == 3)
    }

    @Test("What is too old is gone, and that is known") func bounded() {
        let host = Host()
        let history = EventHistory(host)
        for _ in 0..<3 {
            for count in 1...2000 { host.tell(HostEvent.eventsLost, ["count": .integer(Int64(count))]) }
            _ = history.advance()
        }
        #expect(history.last == 6000 && !history.reaches(1000) && history.reaches(6000 - Limits.events))
        #expect(lines(history, after: 0).count == Limits.events && lines(history, after: 0).first == 1905)
    }

    @Test("States are told to whoever comes, but not the link with the token") func states() throws {
        let host = Host()
        let history = EventHistory(host)
        host.tell(HostEvent.web, ["link": .string("secret")])
        host.tell(HostEvent.archive, ["state": .string("keeping")])
        host.tell(HostEvent.archive, ["state": .string("waiting")])
        #expect(history.advance() && history.last == 2)
        let states = try history.retained(for: .owner).map { try JSON(Array($0.readableBytesView)) }
        #expect(states.map { $0["state"]?.string } == ["waiting"])
    }

    @Test("Each parameter that was turned is a state of its own, and visitors are told of none") func turned() throws {
        let host = Host()
        let history = EventHistory(host)
        for (key, value) in [("low", 1), ("high", 2), ("low", 3)] {
            host.tell(HostEvent.parameterChanged, ["parameter": .string(key), "value": .integer(Int64(value))])
        }
        host.tell(HostEvent.settingChanged, ["setting": .string("low"), "value": .string("slow")])
        host.tell(HostEvent.switched, ["mute": .bool(true), "bypass": .bool(false)])
        #expect(history.advance() && history.last == 5)
        let states = try history.retained(for: .operator).map { try JSON(Array($0.readableBytesView)) }
        #expect(states.map { $0["parameter"]?.string } == ["high", "low", nil, nil])
        #expect(states.map { $0["value"]?.integer } == [2, 3, nil, nil])
        #expect(history.retained(for: .visitor).isEmpty)
        #expect((1...5).allSatisfy { history.next(after: $0 - 1)?.line(for: .visitor) == nil })
    }

    @Test("Places of series that nodes no longer give become free, and the others keep what they say") func places()
        throws
    {
        let bus = EventBus()
        let frames = LevelFrames(bus.subscribe(.latest))
        func give(_ node: String, _ value: Float) {
            bus.publish(.frame(SeriesFrame(node: node, time: 1, rows: [SeriesFrame.Row("peak", [value])])))
        }
        var told: [LevelFrames.Name] = []
        var most = 0
        var seen = LevelFrames.Reader()
        for count in 0..<5000 {
            // One that stays, and one that is gone after a moment, as where somebody edits for weeks.
            give("stays", Float(count))
            give("node\(count)", Float(count) + 0.5)
            let before = frames.edition
            frames.advance()
            #expect(frames.edition != before, "who reads learns of each new name")
            most = max(most, frames.names.count)
            told = frames.names
            var message = try #require(frames.message(for: seen))
            seen.seen = frames.turn
            message.moveReaderIndex(forwardBy: 16)
            var values: [String: Float] = [:]
            while let place = message.readInteger(endianness: .little, as: UInt16.self) {
                let count = message.readInteger(endianness: .little, as: UInt16.self)
                let bits = message.readInteger(endianness: .little, as: UInt32.self)
                #expect(count == 1)
                values[told[Int(place)].node] = bits.map(Float.init(bitPattern:))
            }
            #expect(values == ["stays": Float(count), "node\(count)": Float(count) + 0.5])
        }
        #expect(most <= 2 * (LevelFrames.patience + 1), "\(most) names at once")
        #expect(Set(told).count == told.count)
    }

    @Test("Visitors are told what belongs to talking, without the reasons of failures, and nothing else")
    func visitors() throws {
        func told(_ event: Event, to right: Right) throws -> JSON? {
            let line = EventHistory.Item(7, EventJSON.encode(event), event).line(for: right)
            return try line.map { try JSON(Array($0.readableBytesView)) }
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
