// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit

/// A parameter of a node that plays, and what it was last set to.
public struct ParameterState: Sendable {
    /// What it is.
    public var parameter: Parameter
    /// What it was last set to.
    public var value: Float
}

/// A setting of a node that plays, and what it has now.
public struct SettingState: Sendable {
    /// What it is.
    public var setting: Setting
    /// What the file or a call gave it, a variable by its name; else its default; nil: it has neither.
    public var value: SettingValue?
}

extension Host {
    /// The file that the graph was read from; nil before.
    public var path: String? { source?.path }

    /// The nodes that play, or will when a change is done, and what joins their ports; nil unless a graph plays.
    public var wiring: ResolvedGraph? { running?.state.withLock(\.graph) }

    /// All types of nodes, each plugin loaded for that. [control]
    public nonisolated var nodeTypes: NodeCatalog { registry.fullCatalog() }

    /// The parameters of every node, by the node's name; empty unless a graph plays.
    public var parameters: [String: [ParameterState]] {
        guard let graph = try? graph() else { return [:] }
        return Dictionary(graph.nodes.map { ($0.name, $0.parameterStates) }, uniquingKeysWith: { first, _ in first })
    }

    /// The parameters of one node, in the order in which it declares them.
    public func parameters(of node: String) throws(Fault) -> [ParameterState] {
        try graph().instance(node).parameterStates
    }

    /// The settings of one node, in the order in which it declares them.
    public func settings(of node: String) throws(Fault) -> [SettingState] {
        let settings = try graph().instance(node).declarations.settings
        let entries = description?.nodes.first { $0.name == node }?.entries ?? [:]
        return settings.map { SettingState(setting: $0, value: entries[$0.key]?.shown ?? $0.defaultValue) }
    }
}

extension NodeInstance {
    fileprivate var parameterStates: [ParameterState] {
        parameters.enumerated().map { ParameterState(parameter: $0.element, value: value($0.offset)) }
    }
}
