// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal

/// What a command says of itself with --help, in parts.
struct CommandHelp {
    /// An argument or an option.
    struct Entry: Hashable {
        /// "-o, --out <out.wav>"
        var label: String
        var text: String
    }

    /// A run of lines that belong together.
    enum Paragraph: Equatable {
        case prose(String)
        /// To be shown as they are.
        case lines([String])
    }

    /// "voicegraph", "ctl", "set"
    let path: [String]
    let abstract: String
    /// Its discussion, without the examples and the keys.
    let discussion: [Paragraph]
    /// Lines to type.
    let examples: [String]
    /// Keys on a terminal.
    let keys: [Entry]
    /// "voicegraph ctl set [--json] <node> <parameter> <value> ..."
    let usage: String
    let arguments: [Entry]
    let options: [Entry]
    /// Those that it shows.
    let commands: [CommandHelp]

    /// Asks the command `type` and those below it.
    init(_ type: any ParsableCommand.Type, below parents: [String] = []) {
        path = parents + [type._commandName]
        abstract = type.configuration.abstract
        (discussion, examples, keys) = Self.divide(type.configuration.discussion)
        // Wider than any text, so that nothing is wrapped.
        let help = VoiceGraph.helpMessage(for: type, columns: 100_000)
        let sections = Self.sections(of: help)
        usage = sections.usage
        arguments = sections.entries["ARGUMENTS"] ?? []
        options = sections.entries.filter { !["ARGUMENTS", "SUBCOMMANDS"].contains($0.key) }
            .sorted { $0.key < $1.key }.flatMap(\.value)
        let path = path
        let shown = type.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        commands = shown.map { CommandHelp($0, below: path) }
    }

    /// "run a graph in real time"
    var purpose: String {
        let text = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        // LV2 stays as it is.
        guard text.dropFirst().first?.isUppercase != true else { return text }
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    private static func sections(of help: String) -> (usage: String, entries: [String: [Entry]]) {
        var usage = ""
        var entries: [String: [Entry]] = [:]
        var section: String?
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("USAGE: ") {
                usage = String(line.dropFirst(7))
            } else if let title = line.wholeMatch(of: /([A-Z][A-Z ]*):/) {
                section = usage.isEmpty ? nil : String(title.1)
            } else if let section, let entry = line.wholeMatch(of: #/  (\S.*?)(?:  +(\S.*))?/#) {
                entries[section, default: []].append(
                    Entry(label: String(entry.1), text: entry.2.map(String.init) ?? ""))
            } else if let section, let more = line.wholeMatch(of: #/   +(\S.*)/#),
                let last = entries[section]?.indices.last
            {
                let before = entries[section]![last].text
                entries[section]![last].text = before + (before.isEmpty ? "" : " ") + more.1
            }
        }
        return (usage, entries)
    }

    /// Divides a discussion into prose, indented lines, what is to be typed (the lines after "For example:" or "Examples:"
    /// that are indented, and what stands behind the colon), and the keys on a terminal.
    static func divide(_ discussion: String) -> (paragraphs: [Paragraph], examples: [String], keys: [Entry]) {
        var paragraphs: [Paragraph] = []
        var examples: [String] = []
        var keys: [Entry] = []
        var isExample = false
        var isKeys = false
        var isNew = true
        for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            if let start = line.wholeMatch(of: /(?:For example|Examples?|EXAMPLES?):\s*(.*)/) {
                (isExample, isKeys) = (true, false)
                if !start.1.isEmpty { examples.append(String(start.1)) }
            } else if line == KeyHelp.title {
                (isExample, isKeys) = (false, true)
            } else if line.allSatisfy({ $0 == " " }) {
                isNew = true
            } else if isKeys, let entry = line.wholeMatch(of: #/  (\S.*?)  +(\S.*)/#) {
                keys.append(Entry(label: String(entry.1), text: String(entry.2)))
            } else if isExample, line.hasPrefix("  ") {
                examples.append(String(line))
            } else if line.hasPrefix("  ") {
                if case .lines(let lines) = paragraphs.last, !isNew {
                    paragraphs[paragraphs.count - 1] = .lines(lines + [String(line)])
                } else {
                    paragraphs.append(.lines([String(line)]))
                }
                isNew = false
            } else {
                (isExample, isKeys) = (false, false)
                if case .prose(let text) = paragraphs.last, !isNew {
                    paragraphs[paragraphs.count - 1] = .prose(text + " " + line)
                } else {
                    paragraphs.append(.prose(String(line)))
                }
                isNew = false
            }
        }
        // As far to the left as they go; what stood behind the colon is there already.
        return (
            paragraphs.map { if case .lines(let lines) = $0 { .lines(unindented(lines)) } else { $0 } },
            unindented(examples.filter { !$0.hasPrefix(" ") }) + unindented(examples.filter { $0.hasPrefix(" ") }), keys
        )
    }

    private static func unindented(_ lines: [String]) -> [String] {
        let depth = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(depth)) }
    }
}
