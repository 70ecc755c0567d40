// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import Graph
import Host
import Picture

/// `voicegraph graph`: draws a graph file.
struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw a graph file as SVG, DOT or Mermaid.",
        discussion: "Nodes that this machine cannot run are drawn apart. Errors in the file go to standard error.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case svg, dot, mermaid }

    @OptionGroup
    var graph: GraphOptions

    @Option(help: "What to write: svg, dot (Graphviz) or mermaid.")
    var format = Format.svg

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write; without it standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    func run() throws {
        if let output, let old = FileIdentity(output),
            ConfigFile.files(of: graph.file).contains(where: { FileIdentity($0) == old })
        {
            throw fail("the picture would be written over \(output), which describes the graph; name another file")
        }
        var (description, diagnostics) = ConfigFile.load(path: graph.file, overrides: graph.overrides)
        var result = BuildResult()
        if let description {
            let catalog = NodeRegistry(search: try graph.plugins.search()).catalog(for: description)
            result = GraphBuilder.build(description, catalog: catalog)
            diagnostics += result.diagnostics
        }
        report(diagnostics)
        guard let description, let graph = result.graph, !diagnostics.contains(where: { $0.severity == .error }) else {
            throw ExitCode(1)
        }
        let sketch = GraphSketch(resolved: graph, description: description, degraded: result.degraded)
        let text: String =
            switch format {
            case .svg: sketch.svg()
            case .dot: sketch.dot()
            case .mermaid: sketch.mermaid()
            }
        try write(text)
    }

    private func write(_ text: String) throws {
        guard let output else {
            writeOut(text)
            return
        }
        let file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        let written = file >= 0 && writeOut(text, to: file)
        // A full disk may show only on closing.
        if !written || close(file) != 0 {
            throw fail("\(output) cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}
