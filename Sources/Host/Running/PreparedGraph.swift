// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import GraphFile
import LV2
import NodeKit
import System

/// A graph that was read, checked and built, with a bus that its nodes publish to; it does not play yet.
public struct PreparedGraph: Sendable {
    /// What the file says.
    public var description: GraphDescription
    /// The checked graph.
    public var graph: ResolvedGraph
    /// Nodes that were left out, with the reason.
    public var degraded: [String: String]
    /// Where everything will be published.
    public let bus: EventBus
    let context: GraphContext

    /// Reads and builds a file for a bus. The graph is nil if there is any error among the diagnostics. `change` may
    /// alter what the file says before it is built; where that fails the errors of the file itself go first. [control]
    public static func load(
        path: String, overrides: [String] = [], registry: NodeRegistry, bus: EventBus = EventBus(),
        change: (inout GraphDescription) throws(Fault) -> Void = { (_: inout GraphDescription) throws(Fault) in
        }
    ) throws(Fault) -> (PreparedGraph?, [Diagnostic]) {
        var (read, diagnostics) = ConfigFile.load(path: path, overrides: overrides)
        // Wherever a plugin goes, paths start where they did.
        if let folder = read?.baseFolder { read?.baseFolder = folder.isEmpty ? currentFolder() : absolute(folder) }
        guard let read else { return (nil, diagnostics) }
        let (prepared, more): (PreparedGraph?, [Diagnostic])
        do throws(Fault) {
            (prepared, more) = try make(read, registry: registry, bus: bus, change: change)
        } catch {
            let own = diagnostics + build(read, registry: registry, context: GraphContext(EventBus())).diagnostics
            guard own.contains(where: { $0.severity == .error }) else { throw error }
            return (nil, own)
        }
        let all = diagnostics + more
        return (all.contains { $0.severity == .error } ? nil : prepared, all)
    }

    /// Builds a description that no file says. The graph is nil if there is any error among the diagnostics. [control]
    public static func make(
        _ description: GraphDescription, registry: NodeRegistry, bus: EventBus = EventBus(),
        change: (inout GraphDescription) throws(Fault) -> Void = { (_: inout GraphDescription) throws(Fault) in
        }
    ) throws(Fault) -> (PreparedGraph?, [Diagnostic]) {
        var description = description
        description.readVariables(registry.catalog(for: description))
        try change(&description)
        let context = GraphContext(bus)
        let built = build(description, registry: registry, context: context)
        guard let graph = built.graph, !built.diagnostics.contains(where: { $0.severity == .error }) else {
            return (nil, built.diagnostics)
        }
        let prepared = PreparedGraph(
            description: description, graph: graph, degraded: built.degraded, bus: bus, context: context)
        return (prepared, built.diagnostics)
    }

    /// Checks and builds a description; nodes that play already, by name, go on where they can. `making` is told which node
    /// is made. [control]
    static func build(
        _ description: GraphDescription, registry: NodeRegistry, playing: [String: ResolvedGraph.Node] = [:],
        context: GraphContext, making: NodesInMaking? = nil
    ) -> BuildResult {
        PluginScan.shared.prepare(description.untrustedPlugins)
        let faults = description.overwriteFaults()
        var result = GraphBuilder.build(description, catalog: registry.catalog(for: description), playing: playing) {
            making?.begins($0)
            return context.services($0, of: $1, graph: description.name)
        }
        result.diagnostics += faults
        if !faults.isEmpty { result.graph = nil }
        return result
    }
}

extension GraphDescription {
    /// The LV2 plugins that nodes want to run in this process and that are not trusted, as the file names them.
    fileprivate var untrustedPlugins: [String] {
        nodes.compactMap { node in
            guard node.type == StandardType.lv2, node.entries["trust"]?.value != .bool(true), node.isolation == .none,
                case .string(let plugin)? = node.entries["plugin"]?.value
            else { return nil }
            return plugin
        }
    }
}
