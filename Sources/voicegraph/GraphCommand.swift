// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import Picture

/// `voicegraph graph`: draws a graph file.
struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Draw a graph file as SVG, DOT or Mermaid.",
        discussion: "Nodes that this machine cannot run are drawn apart. Errors in the file go to standard error.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case svg, dot, mermaid }

    @Argument(help: "The graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String

    @Option(help: "What to write: svg, dot (Graphviz) or mermaid.")
    var format = Format.svg

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write; without it standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        name: .customLong("set"), help: ArgumentHelp("Change a setting: node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @Option(
        help: ArgumentHelp("A folder with plugins; may be given several times.", valueName: "folder"),
        completion: .directory)
    var pluginPath: [String] = []

    func run() throws {
        var (description, diagnostics) = ConfigFile.load(path: file, overrides: overrides)
        var result = BuildResult()
        if let description {
            let catalog = NodeRegistry(search: .standard(extra: pluginPath)).catalog(for: description)
            result = GraphBuilder.build(description, catalog: catalog)
            diagnostics += result.diagnostics
        }
        if !diagnostics.isEmpty {
            let color = isatty(STDERR_FILENO) == 1 && getenv("NO_COLOR") == nil
            _ = put(DiagnosticFormat(color: color).text(diagnostics), STDERR_FILENO)
        }
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
            _ = put(text, STDOUT_FILENO)
            return
        }
        let file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        let written = file >= 0 && put(text, file)
        // A full disk may show only on closing.
        if !written || close(file) != 0 {
            _ = put("voicegraph: \(output) cannot be written: \(String(cString: strerror(errno)))\n", STDERR_FILENO)
            throw ExitCode(1)
        }
    }

    /// Writes everything; false when that fails, for example because a reader has gone away.
    private func put(_ text: String, _ file: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
