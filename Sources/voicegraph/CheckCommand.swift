// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host

/// `voicegraph check`: says everything that is wrong with a graph file, and runs nothing.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a graph file and show everything that is wrong with it.",
        discussion: "The exit code is 1 if there is any error, else 0; warnings do not count.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @Argument(help: "The graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String

    @Option(help: "How to show what is found: text, or json with one object a line.")
    var format = Format.text

    @Option(
        name: .customLong("set"), help: ArgumentHelp("Change a setting: node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @Option(
        help: ArgumentHelp("A folder with plugins; may be given several times.", valueName: "folder"),
        completion: .directory)
    var pluginPath: [String] = []

    func run() throws {
        var (description, diagnostics) = ConfigFile.load(path: file, overrides: overrides)
        if let description {
            let catalog = NodeRegistry(search: .standard(extra: pluginPath)).catalog(for: description)
            diagnostics += GraphBuilder.build(description, catalog: catalog).diagnostics
        }
        switch format {
        case .json: write(DiagnosticFormat.json(diagnostics))
        case .text:
            let color = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
            write(DiagnosticFormat(color: color).text(diagnostics))
            if diagnostics.isEmpty, let description {
                let (nodes, links) = (description.nodes.count, description.links.count)
                write("\(file): fine: \(nodes) node\(nodes == 1 ? "" : "s"), \(links) link\(links == 1 ? "" : "s")\n")
            }
        }
        if diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }

    private func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            // A reader that has gone away ends the output, not the check.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
