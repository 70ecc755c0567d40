// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import Host
@testable import Isolation

/// What events say to people, and that they carry what their types declare.
@Suite("Sentences of events") struct SentenceTests {
    @Test(
        "A sentence is filled from the fields of its event",
        arguments: [
            ("plain", [:], "plain"),
            ("to {path}", ["path": .string("a.wav")], "to a.wav"),
            ("to {path}", [:], "to "),
            ("{n:frame} lost", ["n": .integer(1)], "1 frame lost"),
            ("{n:MIDI event} lost", ["n": .integer(3)], "3 MIDI events lost"),
            ("{n:frame}", ["n": .integer(0)], "0 frames"),
            ("{x:1} dB, {x:0}, {x}", ["x": .number(1.25)], "1.3 dB, 1, 1.25"),
            ("{x:time} and {y:time}", ["x": .number(61.5), "y": .integer(3700)], "1:01 and 1:01:40"),
            ("{x:time}", ["x": .string("soon")], "soon"),
            ("got[ {n} of][ {path}]", ["path": .string("a")], "got a"),
            ("[{s:1} s behind|in time]", ["s": .number(0)], "in time"),
            ("[{s:1} s behind|in time]", ["s": .number(2)], "2.0 s behind"),
            ("[{typed?}typed: {text}]", ["typed": .bool(true), "text": .string("hi")], "typed: hi"),
            ("[{typed?}typed: {text}]", ["typed": .bool(false), "text": .string("hi")], ""),
            ("[{a}|{b}|none] is", ["a": .string(""), "b": .string("B")], "B is"),
            ("[a [{b}|c]|d]", [:], "a c"),
            ("x | y", [:], "x | y"),
        ] as [(String, [String: SettingValue], String)])
    func filled(declared: String, fields: [String: SettingValue], text: String) throws {
        #expect(try Sentence(declared).text(fields) == text)
    }

    @Test(
        "What is no sentence is refused",
        arguments: [
            ("{a", "has a { without a }"), ("[a", "has a [ without a ]"), ("a]", "has a ] without a ["),
            ("[a|{b", "has a { without a }"),
        ])
    func refused(declared: String, reason: String) {
        #expect(throws: Sentence.Fault(reason: reason)) { try Sentence(declared) }
    }

    @Test("A plugin whose event says what it does not carry is refused") func ofPlugins() {
        func fault(_ sentence: String?) -> String? {
            sentenceFault(of: EventType("said", "", fields: [Field("text", VG_STRING, "")], says: sentence).c)
        }
        #expect(fault(nil) == nil && fault("") == nil && fault("[{text}|nothing] was said") == nil)
        #expect(fault("{word} was said") == "the sentence of its event said has an unknown field word")
        #expect(fault("{text was said") == "the sentence of its event said has a { without a }")
    }

    @Test("Whatever the host tells, and is no state, has a sentence") func said() {
        for type in HostEvent.all where !type.isRetained { #expect(type.sentence != nil, "\(type.name)") }
    }

    @Test("A change says what it did") func change() throws {
        var change = GraphDifference()
        #expect(change.text == "nothing changed")
        (change.added, change.removed) = (["low", "echo"], ["old", "echo"])
        (change.linked, change.unlinked, change.settings) = (2, 1, 1)
        change.switched = ["b": .muted, "a": .unbypassed]
        change.times = ChangeTimes(firstBlock: 0.00266, done: 0.0132)
        let text =
            "-old, +low, echo anew, unbypassed a, muted b, 2 links added, 1 link removed, 1 setting changed; "
            + "heard after 2.7 ms, done after 13.2 ms"
        #expect(change.text == text)
        var event = Event(HostEvent.changed)
        event.fields = change.fields
        #expect(event.sentence == "graph: " + text)
    }

    @Test("The fields that a sentence names are known") func names() throws {
        #expect(try Sentence("[{a?}{b:1}|{c:time}] {d:noun}").names == ["a", "b", "c", "d"])
    }

    @Test("An isolated node's process is told of") func isolated() throws {
        func text(_ name: String, _ fields: [String: SettingValue]) throws -> String? {
            Event(try #require(Isolator.events.first { $0.name == name }), fields: fields).sentence
        }
        #expect(
            try text("plugin.late", ["blocks": .integer(1), "plugin": .string("fil4#mono")])
                == "1 block went past it: the plugin fil4#mono did not answer in time")
        #expect(try text("plugin.started", [:]) == "its plugin runs again")
    }

    @Test("Every sentence of the host names fields that its event has") func ofTheHost() throws {
        for type in HostEvent.all + Isolator.events {
            guard let sentence = type.sentence else { continue }
            #expect(try Sentence(sentence).names.isSubset(of: type.fields.map(\.name)), "\(type.name)")
        }
    }

    @Test("What an event says to people stands in its JSON, and a field of that name beside it") func encoded() {
        let lost = Event(HostEvent.eventsLost, time: 1, fields: ["count": .integer(2)])
        #expect(
            EventJSON.encode(lost)
                == #"{"event":"events.lost","time":1.000000,"#
                + #""says":"2 events lost: they came faster than they were read","count":2}"#)
        // One that says nothing, and one that does not say what it says.
        for type in [HostEvent.running, EventType("own", "", fields: [])] {
            #expect(!EventJSON.encode(Event(type)).contains("says"))
        }
        #expect(EventJSON.encode(Event("own", fields: ["says": .string("x")])).contains(#""says_":"x""#))
    }

    @Test("What an event has beyond its declaration is left out and told once") func held() throws {
        let events = DeclaredEvents([
            EventType(
                "said", "",
                fields: [Field("text", VG_STRING, ""), Field("level", VG_NUMBER, ""), Field("x", VG_ANY, "")])
        ])
        var told: [String] = []
        func read(_ name: String, _ fields: [(String, SettingValue)]) -> [String: SettingValue]? {
            withEvent(name, fields) { event in events.read(event) { told.append($0) }?.fields }
        }
        #expect(read("said", [("text", .string("a")), ("level", .integer(1)), ("x", .bool(true))])?.count == 3)
        #expect(told.isEmpty)
        for _ in 0..<3 {
            #expect(read("said", [("text", .integer(1)), ("level", .number(2))]) == ["level": .number(2)])
            #expect(read("said", [("other", .integer(1))]) == [:])
            #expect(read("unsaid", []) == nil)
        }
        #expect(
            told == [
                "publishes 'said' with 'text', which is no text: that is left out",
                "publishes 'said' with 'other', which its type does not declare: that is left out",
                "publishes 'unsaid', which its type does not declare: it is left out",
            ])
    }

    private func withEvent<R>(
        _ name: String, _ fields: [(String, SettingValue)], _ body: (vg_event) -> R
    ) -> R {
        SettingValue.table(Dictionary(fields, uniquingKeysWith: { $1 })).withCValue { table in
            name.withCString { name in
                var event = vg_event()
                event.name = name
                event.fields = table.pointee.items
                event.field_count = table.pointee.count
                return body(event)
            }
        }
    }
}
