// SPDX-License-Identifier: Apache-2.0
import GraphFile
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
    /// What the type has besides the core of the contract.
    public let extensions: TypeExtensions
    /// What such nodes are for people.
    public let roles: [Role]

    /// Reads what a type declares. [control]
    public init(_ type: UnsafePointer<vg_node_type>) {
        // A plugin's were checked when it was loaded.
        extensions = TypeExtensions(type.pointee)
        settings = [Setting](type.pointee.settings)
        actions = extensions.actions.map { [Action]($0.pointee.actions) } ?? []
        events = [EventType](type.pointee.events)
        series = extensions.series.map { [Series]($0.pointee.series) } ?? []
        roles = Role.of(actions: actions, events: events)
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
