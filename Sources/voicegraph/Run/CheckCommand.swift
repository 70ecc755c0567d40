// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import Graph
import Host

/// `voicegraph check`: says everything that is wrong with a graph file, and runs nothing.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a graph file and show everything that is wrong with it.",
        discussion: "The exit code is 1 if there is any error, else 0; warnings do not count.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @OptionGroup
    var graph: GraphOptions

    @Option(help: "How to show what is found: text, or json with one object a line.")
    var format = Format.text

    func run() throws {
        var (description, diagnostics) = ConfigFile.load(path: graph.file, overrides: graph.overrides)
        if let description {
            let catalog = NodeRegistry(search: try graph.plugins.search()).catalog(for: description)
            diagnostics += GraphBuilder.build(description, catalog: catalog).diagnostics
            diagnostics += description.overwriteFaults()
        }
        report(diagnostics, json: format == .json, to: STDOUT_FILENO)
        if diagnostics.isEmpty, format == .text, let description {
            let (nodes, links) = (description.nodes.count, description.links.count)
            writeOut(
                "\(graph.file): fine: \(nodes) node\(nodes == 1 ? "" : "s"), \(links) link\(links == 1 ? "" : "s")\n")
        }
        if diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }
}
