// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// What a node does while it runs beyond turning its parameters. Calls of types that were built before there were such
/// calls, and of those that do without, are missing.
extension NodeInstance {
    /// Whether the node has presets.
    public var hasPresets: Bool { reaches(\.load_preset) && type.pointee.load_preset != nil }

    /// Whether the node may have properties.
    public var hasProperties: Bool {
        reaches(\.ask_property) && type.pointee.set_property != nil && type.pointee.ask_property != nil
    }

    /// Goes over to a preset without a click; a part of it may come with later polls. [control]
    public func loadPreset(_ preset: String) throws(NodeError) {
        guard hasPresets, let load = type.pointee.load_preset else {
            throw NodeError("nodes of type \(typeName) have no presets")
        }
        var error = vg_error()
        if !control.withLock({ _ in load(node, preset, &error) }) { throw NodeError(error) }
    }

    /// Sets a property. [control]
    public func setProperty(_ key: String, to value: SettingValue) throws(NodeError) {
        guard hasProperties, let set = type.pointee.set_property else { throw noProperties }
        var error = vg_error()
        if !control.withLock({ _ in value.withCValue { set(node, key, $0, &error) } }) { throw NodeError(error) }
    }

    /// Asks for a property's value, which the node then publishes as the event "property". [control]
    public func askProperty(_ key: String) throws(NodeError) {
        guard hasProperties, let ask = type.pointee.ask_property else { throw noProperties }
        var error = vg_error()
        if !control.withLock({ _ in ask(node, key, &error) }) { throw NodeError(error) }
    }

    /// Gives the node what turns its own parameters: place, value, and whether at once. It is called with the node's
    /// own lock held. nil: nobody runs the node. [control]
    public func onSetParameter(_ setParameter: (@Sendable (Int, Float, Bool) -> Bool)?) {
        hostMemory.set(setParameter: setParameter)
    }

    private var noProperties: NodeError { NodeError("nodes of type \(typeName) have no properties") }

    private func reaches(_ field: PartialKeyPath<vg_node_type>) -> Bool {
        Int(type.pointee.size) > MemoryLayout<vg_node_type>.offset(of: field) ?? .max
    }
}
