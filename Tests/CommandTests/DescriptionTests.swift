// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Testing

@testable import Reference

/// What `describe` prints of what a type declares.
@Suite struct DescriptionTests {
    private static let field = Field("level", VG_NUMBER, "how loud", unit: "dBFS")
    private static let setting = Setting(
        "form", VG_SET_STRING, "which", required: true, default: "\"one\"", range: -2...3.5, unit: "Hz",
        choices: ["one", "two"], live: true, names: .program)
    private static let parameter = Parameter(
        "shape", "its form", -1.5...3.5, default: 0.5, unit: "Hz", scale: VG_LOGARITHMIC,
        flags: VG_PARAM_STEPPED | VG_PARAM_ABRUPT, label: "Form", points: [Parameter.Point("Saw", 2)])
    private static let port = Port(
        VG_MESSAGE_PORT, VG_OUTPUT, "said", doc: "what is said", bus: "side", defaultValue: 0.25, takes: VG_TAKES_TEXT)
    private static let action = Action(
        "stop", "ends it", arguments: [setting], results: [field], urgent: true, lasting: true, public: true)
    private static let event = EventType(
        "speech.ended", "it ended", fields: [field], retained: true, role: .take(.withdrawn), ends: .heard,
        kind: .failure, public: true)
    private static let series = Series("rms", "its mean", unit: "dBFS", rate: 12.5, width: 3, onRequest: true)
    private static let need = Need(["silero-vad"], setting: "detector", value: "silero", better: true, alone: true)

    /// Without each of the things that it says, the text is another one.
    private func check<Item: Declared>(_ item: Item, but shown: String = "", _ text: (Item) -> String) {
        for said in item.values.keys where said != shown {
            var less = Item(item.values.filter { $0.key != said })
            if less == item { less = Item(item.values.merging([said: .bool(false)]) { $1 }) }
            #expect(less != item, "\(Item.self).\(said) is not said in this test")
            #expect(text(less) != text(item), "\(Item.self).\(said) is not in the text")
        }
    }

    private func text(
        ports: [Port] = [], parameters: [Parameter] = [], settings: [Setting] = [], actions: [Action] = [],
        events: [EventType] = [], series: [Series] = [], needs: [Need] = []
    ) -> String {
        let type = NodeDescriptor(
            "synth", "plays", ports: ports, parameters: parameters, settings: settings, actions: actions,
            events: events, series: series, needs: needs)
        return NodeListing.description(type, origin: "built in")
    }

    @Test("Everything that a type declares is in its description") func everyField() {
        check(Self.port) { text(ports: [$0]) }
        check(Self.parameter) { text(parameters: [$0]) }
        // The choices stand in place of the kind.
        check(Self.setting, but: "kind") { text(settings: [$0]) }
        check(Self.setting, but: "kind") { text(actions: [Action("stop", "", arguments: [$0])]) }
        let free = { Setting("form", $0, "which") }
        #expect(text(settings: [free(VG_SET_STRING)]) != text(settings: [free(VG_SET_NUMBER)]))
        check(Self.field) { text(actions: [Action("stop", "", results: [$0])]) }
        check(Self.field) { text(events: [EventType("ended", "", fields: [$0])]) }
        check(Self.action) { text(actions: [$0]) }
        check(Self.event) { text(events: [$0]) }
        check(Self.series) { text(series: [$0]) }
        check(Self.need) { text(needs: [$0]) }
    }

    @Test("What is said in a row reads as people write it") func rows() {
        #expect(
            range(Self.parameter)
                == "-1.5 to 3.5 Hz, default 0.5, stepped, abrupt, label Form, 2 Saw, logarithmic")
        #expect(range(Self.setting) == "one | two -2 to 3.5 Hz, default \"one\", live, names a program, required")
        #expect(kind(Self.port) == "message out, bus side, default 0.25, takes text")
        #expect(nature(Self.event) == "void take, a failure, an end, as heard, public, retained")
        let toggle = Parameter("on", "", 0...1, default: 1, unit: "dB", scale: VG_DECIBEL, flags: VG_PARAM_TOGGLE)
        #expect(range(toggle) == "0 or 1, default 1")
    }
}
