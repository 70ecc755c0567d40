// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import Graph
import GraphFile
import Host

/// `voicegraph check`: says everything that is wrong with graph files, and runs nothing.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check graph files and show everything that is wrong with them.",
        discussion: """
            The exit code is 1 if there is any error, else 0; warnings do not count. Of several files each has a line at \
            its end that says what was found.

            Examples:
              voicegraph check voice.conf
              voicegraph check voice.conf studio.conf --json
              cat voice.conf | voicegraph check -
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @Argument(
        help: "Graph files; - reads one from standard input.", completion: .file(extensions: ["conf", "toml"]))
    var files: [String]

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change a setting of each: \(enumerated(FileTables().overrides, "or")).", valueName: "override"))
    var overrides: [String] = []

    @Flag(help: "Show what is found as JSON, one object a line.")
    var json = false

    @Option(help: "The same: text, or json as --json.")
    var format: Format?

    @OptionGroup
    var plugins: PluginOptions

    /// What standard input is called in diagnostics.
    private static let input = "<stdin>"
    /// Bytes of a graph that are read; more than the reader takes.
    private static let most = 17 << 20

    func validate() throws {
        _ = try chosenFormat(format, json: json, .json, otherwise: .text)
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("- can be named once") }
        // Nodes may live in processes of their own from here on.
        useIsolation()
    }

    func run() throws {
        let registry = NodeRegistry(search: try plugins.search())
        let isJSON = try chosenFormat(format, json: json, .json, otherwise: .text) == .json
        var hasErrors = false
        for file in files where !isReaderGone {
            var text: [UInt8]?
            if file == "-" { text = try readInput() }
            let name = text == nil ? file : Self.input
            var (description, diagnostics) =
                text.map { ConfigFile.load(text: $0, file: name, overrides: overrides) }
                ?? ConfigFile.load(path: file, overrides: overrides)
            if let description {
                diagnostics += GraphBuilder.build(description, catalog: registry.catalog(for: description)).diagnostics
                diagnostics += description.overwriteFaults()
            }
            hasErrors = hasErrors || diagnostics.contains { $0.severity == .error }
            if isJSON {
                report(diagnostics, json: true, to: STDOUT_FILENO)
            } else {
                show(diagnostics, of: description, name)
            }
        }
        if hasErrors { throw ExitCode(1) }
    }

    private func show(_ diagnostics: [Diagnostic], of graph: GraphDescription?, _ name: String) {
        if diagnostics.isEmpty, let graph {
            let (nodes, links) = (counted(graph.nodes.count, "node"), counted(graph.links.count, "link"))
            let alone = graph.nodes.filter {
                [StandardType.output, StandardType.midiOutput].contains($0.type) && $0.entries["connect"] == nil
            }
            let names = alone.map { "'\($0.name)'" }.joined(separator: ", ")
            let unheard = alone.isEmpty ? "" : "; without `connect` nobody hears \(names) until connected by hand"
            writeOut("\(name): fine: \(nodes), \(links)\(unheard)\n")
            return
        }
        var found = diagnosticFormat(for: STDOUT_FILENO).text(diagnostics)
        if files.count > 1 {
            // The last line says how much was found, and here of which file.
            let summary = DiagnosticFormat.summary(diagnostics) + "\n"
            found = found.dropLast(summary.count) + "\(name): \(summary)"
        }
        writeOut(found)
    }

    private func readInput() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < Self.most {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fail("cannot read standard input: \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}
