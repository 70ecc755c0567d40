// SPDX-License-Identifier: Apache-2.0
import CNode

// Every field of what is declared, with its name in tables. A stored property that is missing here fails a test.

extension Port: Declared {
    package static let blank = Port(VG_AUDIO_PORT, VG_INPUT, "")
    package static let fields: [DeclaredField<Port>] = [
        .text("symbol", \.symbol), .text("doc", \.doc), .word("kind", \.kind), .word("direction", \.direction),
        .text("bus", \.bus), .number("default", \.defaultValue), .bits("takes", \.takes, takeable),
    ]

    private static let takeable: KeyValuePairs = [
        VG_TAKES_TEXT: "text", VG_TAKES_NUMBER: "number", VG_TAKES_BYTES: "bytes",
    ]
}

extension Parameter: Declared {
    package static let blank = Parameter("", "", 0...0, default: 0)
    package static let fields: [DeclaredField<Parameter>] = [
        .text("key", \.key), .text("doc", \.doc), .text("unit", \.unit),
        .range(\.range, write: { SettingValue($0) }, read: Float.init), .number("default", \.defaultValue),
        .word("scale", \.scale), .bits("flags", \.flags, natures), .text("label", \.label, unlessEmpty: true),
        .list("points", \.points, unlessEmpty: true),
    ]

    private static let natures: KeyValuePairs = [
        VG_PARAM_STEPPED: "stepped", VG_PARAM_TOGGLE: "toggle", VG_PARAM_ABRUPT: "abrupt", VG_PARAM_TRIGGER: "trigger",
    ]
}

extension Parameter.Point: Declared {
    package static let blank = Parameter.Point("", 0)
    package static let fields: [DeclaredField<Parameter.Point>] = [.text("label", \.label), .number("value", \.value)]
}

extension Setting: Declared {
    package static let blank = Setting("", VG_SET_BOOL, "")
    package static let fields: [DeclaredField<Setting>] = [
        .text("key", \.key), .text("doc", \.doc), .word("kind", \.kind), .bool("required", \.required),
        .text("default", \.defaultText), .range(\.range), .text("unit", \.unit), .texts("choices", \.choices),
        .bool("live", \.isLive),
        .value("names", \.reach, write: { $0.map { .string($0.name) } }) {
            if case .string(let name) = $0 { Reach(name: name) } else { nil }
        },
    ]
}

extension Field: Declared {
    package static let blank = Field("", VG_BOOL, "")
    package static let fields: [DeclaredField<Field>] = [
        .text("name", \.name), .text("doc", \.doc), .word("kind", \.kind), .text("unit", \.unit),
    ]
}

extension Action: Declared {
    package static let blank = Action("", "")
    package static let fields: [DeclaredField<Action>] = [
        .text("name", \.name), .text("doc", \.doc), .list("arguments", \.arguments), .list("results", \.results),
        .bool("urgent", \.isUrgent), .bool("lasting", \.isLasting), .bool("public", \.isPublic),
    ]
}

extension EventType: Declared {
    package static let blank = EventType("", "")
    package static let fields: [DeclaredField<EventType>] = [
        .text("name", \.name), .text("doc", \.doc), .list("fields", \.fields), .bool("retained", \.isRetained),
        .bool("public", \.isPublic),
        DeclaredField {
            $1["role"] = ($0.role?.subject).map(SettingValue.string)
            $1["stage"] = ($0.role?.stage.name).map(SettingValue.string)
        } read: { event, values in
            guard case .string(let subject) = values["role"], case .string(let name) = values["stage"] else { return }
            event.role = EventRole.Stage(name: name).flatMap { EventRole(subject, $0) }
        },
        .value("end", \.end, write: { $0.map { .string($0.name) } }) {
            if case .string(let name) = $0 { SourceEnd(name: name) } else { nil }
        },
        .value("kind", \.kind, write: { $0.map { .string($0.name) } }) {
            if case .string(let name) = $0 { EventKind(name: name) } else { nil }
        },
        .text("sentence", \.sentence),
    ]
}

extension EventKind: Worded {
    package static let words: [(value: EventKind, name: String)] = [
        (.failure, "failure"), (.loss, "loss"), (.word, "word"), (.sentence, "sentence"),
    ]
}

extension SourceEnd: Worded {
    package static let words: [(value: SourceEnd, name: String)] = [(.played, "played"), (.heard, "heard")]
}

extension EventRole {
    fileprivate var subject: String { if case .text = self { "text" } else { "take" } }

    fileprivate init?(_ subject: String, _ stage: Stage) {
        switch subject {
        case "text": self = .text(stage)
        case "take": self = .take(stage)
        default: return nil
        }
    }
}

extension EventRole.Stage: Worded {
    package static let words: [(value: EventRole.Stage, name: String)] = [
        (.partial, "partial"), (.whole, "whole"), (.withdrawn, "withdrawn"),
    ]
}

extension Need: Declared {
    package static let blank = Need([])
    package static let fields: [DeclaredField<Need>] = [
        .texts("models", \.models), .text("setting", \.setting), .text("value", \.value),
        .bool("better", \.isBetter), .bool("alone", \.isAlone),
    ]
}

extension Series: Declared {
    package static let blank = Series("", "")
    package static let fields: [DeclaredField<Series>] = [
        .text("name", \.name), .text("doc", \.doc), .text("unit", \.unit), .number("rate", \.rate),
        .integer("width", \.width), .bool("on_request", \.isOnRequest),
    ]
}

extension Layout: Declared {
    package static let blank = Layout()
    package static let fields: [DeclaredField<Layout>] = [
        .list("ports", \.ports), .list("parameters", \.parameters),
    ]
}

extension NodeDescriptor {
    /// All that is declared of the type. [any]
    package var values: [String: SettingValue] {
        func list<Item: Declared>(_ items: [Item]) -> SettingValue { .list(items.map { .table($0.values) }) }
        return layout.values.merging([
            "type": .string(name), "summary": .string(summary), "doc": .string(doc), "settings": list(settings),
            "actions": list(actions), "events": list(events), "series": list(series), "needs": list(needs),
            "other_names": .list(otherNames.map(SettingValue.string)),
            "roles": .list(Role.of(actions: actions, events: events).map { .string($0.rawValue) }),
        ]) { $1 }
    }
}
