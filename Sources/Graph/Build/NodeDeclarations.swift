// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// What a node type declares beyond ports and parameters, read once.
public final class NodeDeclarations: Sendable {
    /// Settings, of which some may be live.
    public let settings: [Setting]
    /// What can be done.
    public let actions: [Action]
    /// What is published now and then.
    public let events: [EventType]
    /// What is measured regularly.
    public let series: [Series]

    /// Reads what a type declares. [control]
    public init(_ type: UnsafePointer<vg_node_type>) {
        settings = readSettings(type.pointee.settings)
        actions = readActions(type.pointee.actions)
        events = readEvents(type.pointee.events)
        series = readSeries(type.pointee.series)
    }

    /// An action by name; what there is not is told with what there is.
    func action(_ name: String, of node: NodeInstance) throws(NodeError) -> Action {
        if let action = actions.first(where: { $0.name == name }) { return action }
        var suggester = Suggester()
        let known = actions.map(\.name)
        throw NodeError(
            "nodes of type \(node.typeName) have no action '\(shortened(name))'",
            hint: known.isEmpty
                ? "they have no actions" : suggester.hint(name, among: known, otherwise: listing(known)))
    }

    /// Refuses arguments that an action does not take, with the words with which a file is refused.
    public func check(_ arguments: [String: SettingValue], of action: Action) throws(NodeError) {
        try checkValues(arguments, against: action.arguments, of: "'\(action.name)'", noun: "argument")
    }

    /// Refuses a value that a live setting cannot take.
    public func check(live key: String, _ value: SettingValue) throws(NodeError) {
        guard let setting = settings.first(where: { $0.key == key }), setting.isLive else {
            let live = settings.filter(\.isLive).map(\.key)
            throw NodeError(
                "'\(shortened(key))' cannot be changed while it plays",
                hint: live.isEmpty ? "" : "what can: \(listing(live))")
        }
        try checkValues([key: value], against: [setting], of: "", noun: "setting")
    }
}

/// The elements that make sense: a plugin's are checked when it is loaded.
func readSettings(_ list: vg_list) -> [Setting] {
    elements(of: list, as: vg_setting.self).compactMap { Setting($0) }
}

private func readFields(_ list: vg_list) -> [Field] {
    elements(of: list, as: vg_field.self).compactMap { Field($0) }
}

func readActions(_ list: vg_list) -> [Action] {
    elements(of: list, as: vg_action.self).compactMap { Action($0) }
}

func readEvents(_ list: vg_list) -> [EventType] {
    elements(of: list, as: vg_event_type.self).compactMap { c in
        guard let name = c.name else { return nil }
        return EventType(
            String(cString: name), text(c.doc), fields: readFields(c.fields),
            retained: c.flags & UInt32(VG_EVENT_RETAINED) != 0, role: EventRole(flags: c.flags),
            public: c.flags & UInt32(VG_EVENT_PUBLIC) != 0)
    }
}

func readSeries(_ list: vg_list) -> [Series] {
    elements(of: list, as: vg_series.self).compactMap { c in
        guard let name = c.name else { return nil }
        return Series(
            String(cString: name), text(c.doc), unit: text(c.unit), rate: c.rate, width: Int(c.width),
            onRequest: c.flags & UInt32(VG_SERIES_ON_REQUEST) != 0)
    }
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

extension vg_list {
    /// Whether it can be read: nothing, or so many structs of some size.
    public var isSane: Bool { count == 0 || (items != nil && size > 0 && size <= 4096) }
}
