// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import GraphFile
import Isolation
import NodeKit
import TestSupport

@testable import Host

/// What is marked as to be kept, and what is not.
@Suite struct KeepTests {
    private static let types = NodeRegistry(
        builtIn: NodeRegistry.ownTypes + [makeNodeType(Minutes.self), makeNodeType(Relay.self)])

    /// What was published by nodes of a graph that plays a block.
    private func events(_ text: String, edit: ((RunningGraph) throws -> Void)? = nil) throws -> [Event] {
        let ready = try prepared(text, in: Scratch(), registry: Self.types)
        let published = ready.bus.subscribe(.lossless)
        let driver = OfflineDriver(rate: 48_000, maxBlock: 64)
        let graph = try RunningGraph.start(ready, on: driver)
        graph.context.keep(graph.description)
        driver.process(frames: 64)
        graph.pump()
        try edit?(graph)
        graph.stop()
        return published.drain().compactMap { if case .event(let event) = $0, event.node != nil { event } else { nil } }
    }

    @Test("Of a node that says keep, the texts and takes are to be kept, under the speaker's name, and nothing else")
    func kept() throws {
        let events = try events(
            """
            [node.a]
            type = "minutes"
            keep = true
            speaker = "Anna"

            [node.b]
            type = "minutes"
            keep = true

            [node.c]
            type = "minutes"
            """)
        func keeping(_ node: String, _ name: String) -> Event.Keeping? {
            events.first { $0.node == node && $0.name == name }?.keeping
        }
        #expect(keeping("a", "minutes.text") == Event.Keeping(.text(.whole), speaker: "Anna"))
        #expect(keeping("a", "minutes.draft") == Event.Keeping(.text(.partial), speaker: "Anna"))
        #expect(keeping("a", "minutes.void") == Event.Keeping(.text(.withdrawn), speaker: "Anna"))
        #expect(keeping("a", "minutes.take") == Event.Keeping(.take(.whole), speaker: "Anna"))
        #expect(keeping("a", "minutes.mood") == nil)
        #expect(keeping("b", "minutes.text") == Event.Keeping(.text(.whole), speaker: "b"))
        #expect(events.contains { $0.node == "c" && $0.name == "minutes.text" })
        #expect(keeping("c", "minutes.text") == nil)
    }

    @Test("Nothing is to be kept of a graph with archive = false, whatever its nodes say")
    func off() throws {
        let events = try events("[graph]\narchive = false\n[node.a]\ntype = \"minutes\"\nkeep = true\n")
        #expect(events.contains { $0.name == "minutes.text" })
        #expect(events.allSatisfy { $0.keeping == nil })
    }

    @Test("What a removed node tells at its end is kept as the rest of it was")
    func removed() throws {
        let ready = try prepared(
            "[node.a]\ntype = \"minutes\"\nkeep = true\n[node.b]\ntype = \"minutes\"\n", in: Scratch(),
            registry: Self.types)
        ready.context.keep(ready.description)
        ready.context.keep(GraphDescription(nodes: [ready.description.nodes[1]]))
        let published = ready.bus.subscribe(.lossless)
        for node in ready.graph.nodes {
            try node.instance.prepare(Preparation(rate: 48_000, maxBlock: 64, offline: true), activating: true)
            node.instance.finish()
        }
        let events = published.drain().compactMap { if case .event(let event) = $0 { event } else { nil } }
        #expect(events.last { $0.node == "a" && $0.name == "minutes.text" }?.keeping != nil)
        #expect(events.contains { $0.node == "b" && $0.name == "minutes.text" })
        #expect(events.allSatisfy { $0.node == "a" || $0.keeping == nil })
    }

    @Test("A node that has nothing to keep, and a name that cannot be a speaker's, are errors")
    func faults() throws {
        func faults(_ text: String) throws -> [String] {
            let scratch = try Scratch()
            let path = try scratch.write("graph.conf", text)
            let (_, diagnostics) = try PreparedGraph.load(path: path, registry: Self.types)
            return diagnostics.filter { $0.severity == .error }.map { "\($0.location.line): \($0.message); \($0.hint)" }
        }
        #expect(
            try faults("[node.a]\ntype = \"gain\"\nkeep = true\n") == [
                "1: there is nothing to keep of node 'a': nodes of type 'gain' tell neither texts nor takes; "
                    + "what can be kept: that of minutes"
            ])
        #expect(
            try faults("[node.a]\ntype = \"minutes\"\nspeaker = 3\n").first?
                .hasPrefix("3: 'speaker' must be a name, not a whole number") == true)
        #expect(
            try faults("[node.a]\ntype = \"minutes\"\nspeaker = \"\"\n").first?
                .hasPrefix("3: 'speaker' must be a name, not ''") == true)
        #expect(
            try faults("[node.a]\ntype = \"minutes\"\nkeep = \"yes\"\n").first
                == "3: 'keep' must be true or false, not a string; write true")
        #expect(
            try faults("[graph]\narchive = 1\n[node.a]\ntype = \"minutes\"\n").first?
                .hasPrefix("2: 'archive' must be true or false, not a whole number") == true)
        #expect(try faults("[node.a]\ntype = \"minutes\"\nspeaker = \"Anna\"\n") == [])
    }

    @Test("A type that is isolated tells the same roles")
    func isolated() throws {
        let own = makeNodeType(Minutes.self)
        let type = try #require(Isolator().isolated(own, path: "", isGroup: false))
        let roles = NodeDeclarations(type).events.filter { $0.role != nil }.map { ($0.name, $0.role) }
        #expect(roles.map(\.0) == ["minutes.draft", "minutes.text", "minutes.void", "minutes.take"])
        #expect(roles.map(\.1) == [.text(.partial), .text(.whole), .text(.withdrawn), .take(.whole)])
    }

    @Test("A plugin whose events promise a text or a take that they do not have is refused")
    func unsound() {
        func fault(_ event: EventType, flags: Int = 0) -> String? {
            let fields = event.fields.map {
                vg_field(name: strdup($0.name), doc: strdup(""), kind: $0.kind, unit: nil)
            }
            let list = UnsafeMutablePointer<vg_field>.allocate(capacity: max(1, fields.count))
            list.initialize(from: fields, count: fields.count)
            let c = vg_event_type(
                name: strdup(event.name), doc: strdup(""),
                fields: vg_list(
                    items: list, count: UInt32(fields.count), size: UInt32(MemoryLayout<vg_field>.stride)),
                flags: UInt32(flags) | (event.role?.flags ?? 0), sentence: nil)
            return roleFault(of: c) ?? kindFault(of: c)
        }
        let (item, text) = (Field("item", VG_INTEGER, ""), Field("text", VG_STRING, ""))
        #expect(fault(EventType("a", "", fields: [item, text], role: .text(.whole))) == nil)
        #expect(fault(EventType("a", "", fields: [item], role: .text(.withdrawn))) == nil)
        #expect(fault(EventType("a", "", fields: [item], role: .text(.whole)))?.contains("no field text") == true)
        #expect(fault(EventType("a", "", fields: [text], role: .text(.whole)))?.contains("no field item") == true)
        #expect(fault(EventType("a", "", role: .take(.whole)))?.contains("no field path") == true)
        #expect(fault(EventType("a", ""), flags: VG_EVENT_PARTIAL)?.contains("neither") == true)
        #expect(fault(EventType("a", ""), flags: VG_EVENT_TEXT | VG_EVENT_TAKE)?.contains("both") == true)
        let (reason, offset) = (Field("reason", VG_STRING, ""), Field("offset", VG_INTEGER, ""))
        #expect(fault(EventType("a", "", fields: [reason]), flags: VG_EVENT_FAILURE) == nil)
        #expect(fault(EventType("a", ""), flags: VG_EVENT_LOSS) == nil)
        #expect(fault(EventType("a", ""), flags: VG_EVENT_FAILURE)?.contains("no field reason") == true)
        #expect(fault(EventType("a", "", fields: [offset]), flags: VG_EVENT_WORD)?.contains("no field length") == true)
        #expect(fault(EventType("a", ""), flags: VG_EVENT_SENTENCE)?.contains("no field offset") == true)
        #expect(fault(EventType("a", ""), flags: VG_EVENT_LOSS | VG_EVENT_WORD)?.contains("several kinds") == true)
    }
}

/// Tells an item and a take when it is prepared, and another item at its end.
final class Minutes: Node {
    static let descriptor = NodeDescriptor(
        "minutes", "for tests",
        events: [
            EventType("minutes.draft", "so far", fields: [item, text], role: .text(.partial)),
            EventType("minutes.text", "in the end", fields: [item, text], role: .text(.whole)),
            EventType("minutes.void", "nothing", fields: [item], role: .text(.withdrawn)),
            EventType("minutes.take", "a take", fields: [Field("path", VG_STRING, "the file")], role: .take(.whole)),
            EventType("minutes.mood", "how it is", retained: true),
        ])
    private static let item = Field("item", VG_INTEGER, "which")
    private static let text = Field("text", VG_STRING, "what")

    private let host: NodeHost
    init(settings: Settings, host: NodeHost) throws(NodeError) { self.host = host }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }

    func activate() {
        host.publish("minutes.mood")
        host.publish("minutes.draft", [("item", .integer(1)), ("text", .string("good"))])
        host.publish("minutes.text", [("item", .integer(1)), ("text", .string("good morning"))])
        host.publish("minutes.void", [("item", .integer(2))])
        host.publish("minutes.take", [("path", .string("/sound/a.wav"))])
    }

    func finish() { host.publish("minutes.text", [("item", .integer(3)), ("text", .string("goodbye"))]) }
}
