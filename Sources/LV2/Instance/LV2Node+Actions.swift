// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime

/// A call that waits for a plugin to tell a property.
struct PropertyQuestion {
    let property: String
    /// As whoever asks calls it.
    let key: String
    let call: PendingCall
    /// By the counter of `vg_nanoseconds`.
    let deadline = vg_nanoseconds() &+ UInt64(Self.patience) * 1_000_000_000

    /// Seconds.
    static let patience = 2
}

/// What can be done to a plugin while it plays. [control]
extension LV2Node {
    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        let key = arguments.string("key") ?? ""
        switch action {
        case VG_ACTION_PRESET: try loadPreset(arguments.string("preset") ?? "")
        case VG_ACTION_SAVE: try save(to: host.resolve(arguments.string("folder") ?? ""))
        case VG_ACTION_PROPERTY:
            if let value = arguments.values["value"] { try setProperty(key, to: value) } else { try ask(key, call) }
        default: call.put("properties", .table(properties))
        }
    }

    private func save(to folder: String) throws(NodeError) {
        guard let instance else { throw NodeError("\(info.name) has not started, so it has no state", key: "state") }
        try instance.save(to: folder)
    }

    private func loadPreset(_ preset: String) throws(NodeError) {
        let instance = try started()
        let state = try PluginState.preset(preset, of: info, world)
        let values = state.parameterValues(info, ports).filter {
            $0.value.isFinite && !layout.parameters[$0.key].isTrigger
        }
        let range = { (place: Int) in self.layout.parameters[place].range }
        instance.change(
            LiveChange(
                state: instance.hasState && state.hasProperties ? state : nil,
                values: Dictionary(
                    uniqueKeysWithValues: values.map {
                        ($0, max(range($0).lowerBound, min($1, range($0).upperBound)))
                    })), turn: turn)
    }

    private func setProperty(_ key: String, to value: SettingValue) throws(NodeError) {
        let property = try property(key)
        guard property.isWritable else { throw NodeError("\(key) of \(info.name) can only be read") }
        let instance = try started()
        try instance.send(try PatchMessage(property, value, key: key, resolve: host.resolve))
    }

    /// The call ends when the plugin tells the property, or some time after that it has not.
    private func ask(_ key: String, _ call: ActionCall) throws(NodeError) {
        let property = try property(key)
        let instance = try started()
        guard instance.answers != nil else { throw NodeError("\(info.name) does not tell its properties") }
        try instance.send(PatchMessage(asking: property))
        questions.append(PropertyQuestion(property: property.uri, key: key, call: call.later()))
    }

    private var properties: [String: SettingValue] {
        let entries = info.properties.map { property in
            var entry: [String: SettingValue] = [
                "uri": .string(property.uri), "label": .string(property.label), "kind": .string("\(property.kind)"),
                "writable": .bool(property.isWritable),
            ]
            entry["value"] = instance?.answers?.known[property.uri]
            return (property.key, SettingValue.table(entry))
        }
        return Dictionary(entries, uniquingKeysWith: { first, _ in first })
    }

    private func property(_ key: String) throws(NodeError) -> PluginProperty {
        if let property = info.properties.first(where: { $0.isCalled(key) }) { return property }
        let known = info.properties.map(\.key)
        var hint = didYouMean(key, among: known)
        if hint.isEmpty { hint = known.isEmpty ? "it has none" : "it has: \(known.joined(separator: ", "))" }
        throw NodeError("\(info.name) has no property \"\(key)\"", hint: hint)
    }

    private func started() throws(NodeError) -> PluginInstance {
        guard let instance else { throw NodeError("\(info.name) has not started") }
        return instance
    }

    /// Takes what the plugin tells of its properties: as the end of calls that wait for it, and as events.
    func hear(_ answers: PropertyAnswers) {
        answers.drain { property, value, isNew in
            for question in takeQuestions(where: { $0.property == property.uri }) {
                question.call.put("value", value)
                question.call.finish()
            }
            guard isNew else { return }
            host.publish(
                "property",
                [
                    ("key", .string(property.key)), ("uri", .string(property.uri)),
                    ("label", .string(property.label)), ("value", value),
                ])
        }
        let now = vg_nanoseconds()
        for question in takeQuestions(where: { now > $0.deadline }) {
            question.call.fail(
                NodeError(
                    "\(info.name) did not tell \(question.key) within \(PropertyQuestion.patience) s",
                    hint: "not every plugin answers"))
        }
    }

    private func takeQuestions(where isMeant: (PropertyQuestion) -> Bool) -> [PropertyQuestion] {
        if questions.isEmpty { return [] }
        defer { questions.removeAll(where: isMeant) }
        return questions.filter(isMeant)
    }
}
