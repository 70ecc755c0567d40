// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import GraphFile
import Host
import System

/// A graph file, what is changed in it, and where its plugins are.
struct GraphSource: Sendable {
    var file: String
    var overrides: [String]
    var plugins: PluginOptions

    init(_ options: GraphOptions) {
        self.init(file: options.file, overrides: options.overrides, plugins: options.plugins)
    }

    init(file: String, overrides: [String], plugins: PluginOptions) {
        (self.file, self.overrides, self.plugins) = (file, overrides, plugins)
    }
}

/// Reads a graph or ends the command with everything that is wrong with it on standard error.
func loadGraph(
    _ options: GraphSource, change: (inout GraphDescription) throws(Fault) -> Void
) throws -> PreparedGraph {
    try loadGraph(options, NodeRegistry(search: try options.plugins.search()), change: change).graph
}

/// The same with the node types of a registry; also what it has warned of.
func loadGraph(
    _ options: GraphSource, _ registry: NodeRegistry, change: (inout GraphDescription) throws(Fault) -> Void
) throws -> (graph: PreparedGraph, diagnostics: [Diagnostic]) {
    let prepared: PreparedGraph?
    let diagnostics: [Diagnostic]
    do throws(Fault) {
        (prepared, diagnostics) = try PreparedGraph.load(
            path: options.file, overrides: options.overrides, registry: registry, change: change)
    } catch {
        throw fail("\(error)")
    }
    report(diagnostics)
    guard let prepared else { throw ExitCode(1) }
    return (prepared, diagnostics)
}
