// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// What came of a description.
public struct BuildResult: Sendable {
    /// The checked graph; nil when there was an error.
    public var graph: ResolvedGraph?
    /// Everything found, errors and warnings.
    public var diagnostics: [Diagnostic]
    /// Nodes that are left out, with the reason.
    public var degraded: [String: String]
    /// What the parameters of nodes that went on should be.
    public var values: [ParameterValue]
    /// What live settings of nodes that went on are to become.
    public var settings: [SettingChange]

    /// Describes an outcome.
    public init(
        graph: ResolvedGraph? = nil, diagnostics: [Diagnostic] = [], degraded: [String: String] = [:],
        values: [ParameterValue] = [], settings: [SettingChange] = []
    ) {
        self.graph = graph
        self.diagnostics = diagnostics
        self.degraded = degraded
        self.values = values
        self.settings = settings
    }
}

/// Turns a description into nodes and links, and finds everything that is wrong with it in one pass.
public enum GraphBuilder {
    /// Checks a description against the catalog, creates its nodes and resolves its links. `services` gives each node,
    /// its host by name. Time is linear in nodes and links. [control]
    ///
    /// A node whose type is unavailable, or that cannot be created for a reason other than its settings, is left out
    /// with a warning if what went into it can go to what it fed instead. Where it cannot, the rest would be deaf, silent or
    /// without its gate: then it is an error. With `required` it always is, or never. Entries of nodes with an empty type
    /// are not looked at: whoever left the type empty has reported it.
    ///
    /// Nodes of `playing`, by name, go on if nothing but parameters and live settings (or the connections of a
    /// driver's port) is different.
    public static func build(
        _ description: GraphDescription, catalog: NodeCatalog, playing: [String: ResolvedGraph.Node] = [:],
        services: (String, NodeDeclarations) -> NodeServices = { _, _ in NodeServices() }
    ) -> BuildResult {
        var description = description
        description.readVariables(catalog)
        var report = Report(description.tables)
        if description.nodes.isEmpty, !description.isPartial {
            report.error(
                "the graph has no nodes", at: description.location,
                hint: "add one, for example:  [node.mic]  type = \"input\"")
        }
        var maker = NodeMaker(catalog: catalog, baseFolder: description.baseFolder, playing: playing, report: report)
        let made = description.nodes.map { maker.make($0, services: services) }
        report = maker.report
        AllowedActions.check(description, made, &report)

        var resolver = LinkResolver(description, made, catalog, report)
        let graph = resolver.resolve()
        return BuildResult(
            graph: resolver.report.hasErrors ? nil : graph, diagnostics: resolver.report.diagnostics,
            degraded: maker.degraded, values: maker.values, settings: maker.settings)
    }
}

/// What became of one node of the description.
enum MadeNode {
    /// It exists.
    case instance(NodeInstance)
    /// It is left out; nil: with a warning that was given, else it is still to be judged whether it can be.
    case leftOut(AbsentNode?)
    /// It has errors, which are reported; its links are not looked at further.
    case faulty
}
