// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import GraphFile

/// What is said where arguments name a command that there is not.
enum UnknownCommand {
    /// The whole message, with what may have been meant; nil: every word of `arguments` that must be a command is one.
    static func message(_ arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = VoiceGraph.self
        var path = ["voicegraph"]
        var rest = arguments[...]
        while let word = rest.popFirst() {
            let configuration = command.configuration
            if configuration.subcommands.isEmpty || word == "--" { return nil }
            if word.hasPrefix("-") {
                // Of the options before a call this one has a value.
                if word == "--client" { _ = rest.popFirst() }
            } else if let next = configuration.subcommands.first(where: { names(of: $0).contains(word) }) {
                command = next
                path.append(word)
            } else if word == "help" {
                return nil
            } else {
                return text(word, in: command, path)
            }
        }
        return nil
    }

    private static func text(_ word: String, in command: any ParsableCommand.Type, _ path: [String]) -> String {
        let whole = path.joined(separator: " ")
        var suggester = Suggester()
        var meant = suggester.nearest(word, among: shown(command).flatMap(names)).map { ["'\($0)'"] } ?? []
        // The name of a call of another command.
        if meant.isEmpty, path.count == 1 {
            meant = shown(command).filter { shown($0).flatMap(names).contains(word) }.flatMap(names)
                .map { "'voicegraph \($0) \(word)'" }
        }
        if meant.isEmpty, path.count == 1, access(word, R_OK) == 0 { meant = ["'voicegraph run \(word)'"] }
        let hint = meant.isEmpty ? "" : "; did you mean \(meant.joined(separator: " or "))?"
        return """
            Error: \(whole) has no command '\(word)'\(hint)
            Usage: \(whole) <subcommand>
              See '\(whole) --help' for more information.
            """
    }

    private static func shown(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName ?? ""] + command.configuration.aliases
    }
}
