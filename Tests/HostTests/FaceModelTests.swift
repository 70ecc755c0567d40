// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NodeKit
import Testing

/// What nodes are for people, by what they declare.
@Suite("Faces") struct FaceModelTests {
    private static let catalog = NodeRegistry(search: .standard()).fullCatalog()

    private func model(_ nodes: [(name: String, type: String)]) throws -> FaceModel {
        FaceModel(
            try nodes.map { node in
                let type = try #require(Self.catalog.types[node.type]?.type)
                return FaceModel.Part(
                    node: node.name, declarations: NodeDeclarations(type),
                    parameters: Self.catalog.descriptor(node.type)?.layout.parameters ?? [])
            })
    }

    @Test(
        "A type has a role if it declares what the role asks for",
        arguments: [
            ("tts", [Role.speaks]), ("transcribe", [.transcribes]), ("agent", [.converses]), ("record", [.records]),
            ("visualizer", [.shows]), ("gain", []), ("meter", []), ("file", []), ("wake", []), ("vad", []),
        ])
    func roles(_ type: String, _ wanted: [Role]) throws {
        let found = NodeDeclarations(try #require(Self.catalog.types[type]?.type)).roles
        #expect(found == wanted)
        #expect(Self.catalog.descriptor(type)?.values["roles"] == .list(wanted.map { .string($0.rawValue) }))
    }

    @Test("A part of what a role asks for is no role") func parts() {
        let three = ["start", "stop", "toggle"].map { Action($0, "") }
        let text = EventType("a.text", "", role: .text(.whole))
        #expect(Role.of(actions: three, events: []) == [])
        #expect(Role.of(actions: three, events: [text]) == [.transcribes])
        #expect(Role.of(actions: Array(three.dropLast()), events: [text]) == [])
        #expect(Role.of(actions: [Action("send", "")], events: []) == [])
        let style = Field("style", VG_STRING, "")
        #expect(Role.of(actions: [], events: [EventType("look", "", fields: [style])]) == [])
        #expect(Role.of(actions: [], events: [EventType("look", "", fields: [style], retained: true)]) == [.shows])
    }

    @Test("The chosen node has a role, or else the first that has it; nobody dictates to an agent") func choice() throws
    {
        let two = [("level", "meter"), ("left", "record"), ("right", "record"), ("ear", "transcribe"), ("low", "gain")]
        let face = try model(two)
        #expect(face.first(.records) == "left" && face.first(.records, chosen: "right") == "right")
        #expect(face.first(.records, chosen: "ear") == "left" && face.first(.speaks) == nil)
        #expect(face.nodes(.records) == ["left", "right"])
        #expect(face.dictation() == "ear")
        #expect(try model(two + [("host", "agent")]).dictation(chosen: "ear") == nil)
        #expect(face["low"]?.hasGain == true && face["low"]?.hasLevels == false)
        #expect(face["level"]?.hasLevels == true && face["level"]?.hasGain == false && face["gone"] == nil)
    }

    @Test("An event is known by what its node declares, and not by its name") func events() throws {
        let face = try model([("voice", "tts"), ("tape", "record")])
        #expect(face.state(Event("speech.state", node: "voice")) == .speaks)
        #expect(face.state(Event("record.state", node: "tape")) == .records)
        // Of another node, of no node, or no state.
        for event in [
            Event("speech.state", node: "tape"), Event("speech.state"), Event("speech.word", node: "voice"),
            Event("health", node: "voice", fields: ["state": .string("ok")]),
        ] { #expect(face.state(event) == nil, "\(event.name)") }
        #expect(face.isOwn(Event("speech.word", node: "voice")) && !face.isOwn(Event("health", node: "voice")))
    }
}
