// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GraphFile
import Host
import Reference

/// `voicegraph help`: what a command does, and the reference of the graph file.
struct HelpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help",
        abstract: "Show the help of a command, or with `help config` all that a graph file may say.",
        discussion: """
            `help config` prints the reference of the graph file with the node types of this machine; with --man as the manual \
            page voicegraph.conf(5), with --schema as a JSON schema for editors.
            """)

    @Argument(help: "A command, or config.", completion: .commands)
    var topic: [String] = []

    @Flag(help: "With config: as roff, for `man -l`.")
    var man = false

    @Flag(help: "With config: a JSON schema of the file, for editors.")
    var schema = false

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        if man, schema { throw ValidationError("--man and --schema are two different things; give one") }
        if man || schema, topic != ["config"] { throw ValidationError("--man and --schema are for `help config`") }
    }

    func run() throws {
        if topic == ["config"] {
            let printer = ReferencePrinter(catalog: NodeRegistry(search: try plugins.search()).fullCatalog())
            writeOut(
                man
                    ? printer.manual(try manualDate())
                    : schema ? printer.schema() : printer.text(width: min(terminalWidth() ?? 80, 100)))
            return
        }
        if topic.first == "config" { throw ValidationError("`help config` takes no '\(topic[1].prefix(60))'") }
        var command: any ParsableCommand.Type = VoiceGraph.self
        for word in topic {
            let inner = command.configuration.subcommands
            guard let next = inner.first(where: { $0.names.contains(word) }) else { throw Self.unknown(word, command) }
            command = next
        }
        throw CleanExit.helpRequest(command)
    }

    private static func unknown(_ word: String, _ command: any ParsableCommand.Type) -> ValidationError {
        let isRoot = command == VoiceGraph.self
        let known = commandNames(of: command) + (isRoot ? ["config"] : [])
        var suggester = Suggester()
        let what = isRoot ? "command" : "command of \(command.names[0])"
        let otherwise = isRoot ? "`voicegraph --help` lists all" : ""
        let hint = suggester.hint(word, among: known, otherwise: otherwise)
        return ValidationError("there is no \(what) '\(word.prefix(60))'" + (hint.isEmpty ? "" : "; \(hint)"))
    }
}

/// What the commands below one are called, without those for the program itself.
private func commandNames(of command: any ParsableCommand.Type) -> [String] {
    command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { $0.names }
}

extension ParsableCommand {
    /// The name, then others.
    fileprivate static var names: [String] { [configuration.commandName ?? ""] + configuration.aliases }
}

extension CompletionKind {
    /// The commands, and what else there is help for.
    fileprivate static var commands: CompletionKind {
        .custom { _, _, _ in ["config"] + commandNames(of: VoiceGraph.self) }
    }
}
