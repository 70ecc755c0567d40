// SPDX-License-Identifier: Apache-2.0
import Reference

/// A page of the manual: of the whole program, or of one of its commands with those below it.
struct ManualPage {
    private let help: CommandHelp
    private let isOverview: Bool
    /// The other pages of this program to look at.
    private let related: [String]

    /// The page of `help`, which is the whole program or stands in it.
    init(_ help: CommandHelp, in program: CommandHelp) {
        self.help = help
        isOverview = help.path.count == 1
        related = isOverview ? [] : [Self.name(program.path)]
    }

    /// "voicegraph-run"
    var name: String { Self.name(help.path) }

    private static func name(_ path: [String]) -> String { path.joined(separator: "-") }

    /// In roff. `date` is that of the program, `version` its name and number.
    func text(date: String, version: String) -> String {
        var roff = Roff()
        roff.comment("SPDX-License-Identifier: Apache-2.0")
        roff.comment("Made by the command itself, from what it says with --help.")
        roff.title(name.uppercased(), section: 1, date: date, version: version, manual: "User Commands")
        roff.macro("SH", "NAME")
        roff.filled("\(Roff.escaped(name)) \\- \(Roff.escaped(help.purpose))")
        roff.macro("SH", "SYNOPSIS")
        synopsis(&roff)
        roff.macro("SH", "DESCRIPTION")
        roff.prose(help.abstract)
        paragraphs(of: help, &roff, afterText: true)
        entries("ARGUMENTS", help.arguments, &roff)
        entries("OPTIONS", help.options + sharedOptions, &roff)
        if isOverview { overview(&roff) } else { commands(&roff) }
        if !help.keys.isEmpty {
            roff.macro("SH", "KEYS")
            for key in help.keys { roff.entry(Roff.bold(key.label), key.text) }
        }
        roff.macro("SH", "EXIT STATUS")
        for (code, meaning) in ManualFact.exitCodes { roff.entry(Roff.bold(code), meaning) }
        facts("ENVIRONMENT", ManualFact.environment, &roff)
        facts("FILES", ManualFact.files, &roff)
        let examples = help.examples + help.commands.flatMap(isOverview ? { _ in [] } : \.examples)
        if !examples.isEmpty {
            roff.macro("SH", "EXAMPLES")
            roff.example(examples)
        }
        roff.macro("SH", "SEE ALSO")
        let pages = related.map { ($0, 1) } + [("voicegraph.conf", 5), ("jackd", 1)]
        roff.filled(pages.map { "\(Roff.bold($0.0))(\($0.1))" }.joined(separator: ", "))
        return roff.text
    }

    /// One line for each way to call it.
    private func synopsis(_ roff: inout Roff) {
        let calls = help.commands.isEmpty ? [help.usage] : help.commands.map(\.usage)
        if isOverview {
            roff.filled("\(Roff.bold(name)) \(Roff.italic("command")) [\(Roff.italic("options"))] ...")
            return
        }
        for (index, call) in calls.enumerated() {
            if index > 0 { roff.macro("br") }
            roff.filled(Roff.call(call))
        }
    }

    private func paragraphs(of help: CommandHelp, _ roff: inout Roff, afterText: Bool) {
        var isAfterText = afterText
        for paragraph in help.discussion {
            if isAfterText { roff.macro("PP") }
            switch paragraph {
            case .prose(let text): roff.prose(text)
            case .lines(let lines): roff.example(lines)
            }
            isAfterText = true
        }
    }

    private func entries(_ title: String, _ entries: [CommandHelp.Entry], _ roff: inout Roff) {
        guard !entries.isEmpty else { return }
        roff.macro("SH", title)
        list(entries, &roff)
    }

    private func list(_ entries: [CommandHelp.Entry], _ roff: inout Roff) {
        for entry in entries { roff.entry(Roff.call(entry.label), entry.text) }
    }

    /// The options that every command below has, and this one does not.
    private var sharedOptions: [CommandHelp.Entry] {
        guard !isOverview, let first = help.commands.first else { return [] }
        return first.options.filter { option in
            !help.options.contains(option) && help.commands.allSatisfy { $0.options.contains(option) }
        }
    }

    /// The commands of the whole program, each with a page of its own.
    private func overview(_ roff: inout Roff) {
        roff.macro("SH", "COMMANDS")
        roff.line("Each has a page of its own.")
        for command in help.commands {
            roff.entry("\(Roff.bold(Self.name(command.path)))(1)", command.abstract)
        }
    }

    /// The commands below this one, whole.
    private func commands(_ roff: inout Roff) {
        guard !help.commands.isEmpty else { return }
        roff.macro("SH", "COMMANDS")
        let known = Set(help.options + sharedOptions)
        for command in help.commands {
            roff.macro("SS", command.path.last!)
            roff.prose(command.abstract)
            paragraphs(of: command, &roff, afterText: true)
            list(command.arguments + command.options.filter { !known.contains($0) }, &roff)
        }
    }

    private func facts(_ title: String, _ facts: [ManualFact], _ roff: inout Roff) {
        let facts = ManualFact.of(facts, isOverview ? nil : help.path.last)
        guard !facts.isEmpty else { return }
        roff.macro("SH", title)
        for fact in facts { roff.entry(Roff.bold(fact.name), fact.text) }
    }
}
