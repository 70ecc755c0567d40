// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import Graph
import Host
import NodeKit
import Picture

/// `voicegraph graph`: draws a graph file, or the graph that a host plays.
struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw a graph as SVG, PNG, DOT or Mermaid.",
        discussion: """
            Nodes that this machine cannot run are drawn apart. Errors in the file go to standard error. With --live it \
            draws what a running host plays, with the level of each node and its share of a block.

            Examples:
              voicegraph graph voice.conf -o voice.svg
              voicegraph graph voice.conf --format mermaid
              voicegraph graph --live -o now.png --dark
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case svg, png, dot, mermaid }

    @Argument(help: "The graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Change a setting: node.NAME.key=value or driver.key=value.", valueName: "override"))
    var overrides: [String] = []

    @OptionGroup
    var plugins: PluginOptions

    @Flag(help: "Draw the graph that a host plays now.")
    var live = false

    @Option(
        help: ArgumentHelp(
            "With --live: the host, by its JACK client's name; needed if several run.", valueName: "name"),
        completion: .shellCommand("voicegraph ctl list 2>/dev/null"))
    var client: String?

    @OptionGroup
    var remote: RemoteOptions

    @Option(help: "What to write: svg, png, dot (Graphviz) or mermaid; as the name of --output ends, or svg.")
    var format: Format?

    @Flag(help: "PNG: light on dark.")
    var dark = false

    @Option(help: ArgumentHelp("PNG: pixels for each pixel of the drawing.", valueName: "factor"))
    var scale = 2.0

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write; without it standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    /// Nodes may live in processes of their own from here on.
    func validate() throws {
        if live, file != nil { throw ValidationError("give a graph file, or --live") }
        if !live, file == nil { throw ValidationError("name a graph file, or give --live for one that plays") }
        if !live, client != nil { throw ValidationError("--client is for --live") }
        if !live, remote.ssh != nil { throw ValidationError("--ssh is for --live") }
        if live, !overrides.isEmpty { throw ValidationError("--set is for a graph file") }
        guard (0.1...16).contains(scale) else { throw ValidationError("--scale is between 0.1 and 16") }
        if chosen == .png, output == nil, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("a PNG is nothing for a terminal: give --output")
        }
        useIsolation()
    }

    private var chosen: Format {
        format ?? output.flatMap { $0.split(separator: ".").last }.flatMap { Format(rawValue: $0.lowercased()) } ?? .svg
    }

    func run() throws {
        let sketch = try file.map(read) ?? liveSketch(HostChoice(client: client, ssh: remote.ssh))
        var bytes: [UInt8]
        switch chosen {
        case .svg: bytes = Array(sketch.svg().utf8)
        case .png:
            do throws(NodeError) { bytes = try sketch.png(scale: scale, isDark: dark) } catch {
                throw fail(error)
            }
        case .dot: bytes = Array(sketch.dot().utf8)
        case .mermaid: bytes = Array(sketch.mermaid().utf8)
        }
        guard let output else {
            writeOut(bytes)
            return
        }
        try writeWhole(bytes, to: output)
    }

    private func read(_ file: String) throws -> GraphSketch {
        if let output, let old = FileIdentity(output),
            ConfigFile.files(of: file).contains(where: { FileIdentity($0) == old })
        {
            throw fail("the picture would be written over \(output), which describes the graph; name another file")
        }
        var (description, diagnostics) = ConfigFile.load(path: file, overrides: overrides)
        var result = BuildResult()
        if let description {
            let catalog = NodeRegistry(search: try plugins.search()).catalog(for: description)
            result = GraphBuilder.build(description, catalog: catalog)
            diagnostics += result.diagnostics
        }
        report(diagnostics)
        guard let description, let graph = result.graph, !diagnostics.contains(where: { $0.severity == .error }) else {
            throw ExitCode(1)
        }
        return GraphSketch(
            resolved: graph, description: description, degraded: result.degraded, plugins: description.pluginNames)
    }
}
