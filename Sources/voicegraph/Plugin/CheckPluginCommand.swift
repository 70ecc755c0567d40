// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import JSON
import NodeTrials
import System
import Terminal

/// `voicegraph plugin check FILE.so`: drives the nodes of a plugin, and says which promises they do not keep.
struct CheckPluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Drive the nodes of a plugin and say which promises they break.",
        discussion: """
            Each node type is made with its default settings, and with those of --set, and driven without a server: in \
            blocks of all lengths, at all rates, with every value of its parameters, with samples that are no numbers. What \
            allocates, locks or calls the system on the audio thread is named, what it leaves behind is counted, and what it \
            tells is compared with what it declares. Each look is taken in a process of its own, so that a crash is a \
            finding. The exit code is 1 if there is any error, with --strict any warning \
            or a type of which no node can be made, else 0.

            Examples:
              voicegraph plugin check .build/release/libvg-sparkle.so
              voicegraph plugin check libvg-sparkle.so --set voices=4 --strict
            """)

    @Argument(help: "A shared object.", completion: .file(extensions: ["so"]))
    var file: String

    @Option(help: "Only this node type of it.")
    var type: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Give the nodes a setting.", valueName: "key=value"))
    var settings: [String] = []

    @Option(help: ArgumentHelp("Look at this alone; may be given several times.", valueName: "look"))
    var only: [NodeCheck.Subject] = []

    @Flag(help: "Warnings are errors, and so is a node type of which no node can be made.")
    var strict = false

    @Flag(help: "One JSON object with all findings.")
    var json = false

    @Option(help: ArgumentHelp("Seconds that one look may take.", valueName: "seconds"))
    var patience = 60.0

    func validate() throws {
        for setting in settings where !setting.contains("=") {
            throw ValidationError("--set \(setting): write KEY=VALUE")
        }
        guard patience > 0, patience < 86400 else { throw ValidationError("--patience must be more than 0") }
    }

    func run() throws {
        guard access(file, R_OK) == 0 else {
            throw fail("cannot read \(file): \(String(cString: strerror(errno)))")
        }
        let checks = PluginChecks(file: file, settings: settings, patience: patience)
        let plugin = try checks.plugin()
        let types = plugin.types.filter { type == nil || $0 == type }
        if let type, types.isEmpty {
            let known = plugin.types.joined(separator: ", ")
            throw fail("\(file) has no node type \(type); it has \(known)")
        }
        let refusals = types.compactMap { plugin.refusals[$0] }
        if refusals.count == types.count { throw fail(refusals[0]) }
        var text = CheckText(color: isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil)
        if !json {
            writeOut("\(file): \(plugin.title), \(counted(plugin.types.count, "node type"))\n")
            for failure in plugin.failures { writeOut(text.failure(failure)) }
        }
        text.errors = plugin.failures.count
        var all: [(String, [CheckFinding])] = []
        var unmade = 0
        // What takes other settings is left to a call of its own.
        for type in types where !isReaderGone && plugin.refusals[type] == nil {
            if !json { writeOut("\n\(type)\n") }
            var findings: [CheckFinding] = []
            for subject in NodeCheck.Subject.allCases where only.isEmpty || only.contains(subject) {
                let found = checks.findings(of: type, on: subject)
                for finding in found {
                    text.count(finding)
                    if !json { writeOut(text.line(finding)) }
                }
                findings += found
                // What cannot be made cannot be looked at.
                if subject == .life, found.allSatisfy({ $0.severity == .omitted }) {
                    unmade += 1
                    break
                }
            }
            all.append((type, findings))
        }
        writeOut(json ? text.json(plugin, all) : "\n" + text.summary + "\n")
        if text.errors > 0 || strict && text.warnings + unmade > 0 { throw ExitCode(1) }
    }
}

extension NodeCheck.Subject: ExpressibleByArgument {}

/// What a check prints, and how much of it is bad.
private struct CheckText {
    let color: Bool
    var errors = 0
    var warnings = 0
    private var fine = 0
    private var omitted = 0

    init(color: Bool) { self.color = color }

    mutating func count(_ finding: CheckFinding) {
        switch finding.severity {
        case .error: errors += 1
        case .warning: warnings += 1
        case .fine: fine += 1
        case .omitted: omitted += 1
        }
    }

    func line(_ finding: CheckFinding) -> String {
        let code =
            switch finding.severity {
            case .error: "1;31"
            case .warning: "1;33"
            case .fine: "32"
            case .omitted: "2"
            }
        return FindingText.text(
            "  " + finding.severity.rawValue, "\(finding.subject.rawValue): \(finding.message)", hint: finding.hint,
            code: color ? code : nil, indent: 15)
    }

    func failure(_ reason: String) -> String {
        FindingText.text("  error", reason, hint: "", code: color ? "1;31" : nil, indent: 15)
    }

    var summary: String {
        var text = "\(counted(errors, "error")), \(counted(warnings, "warning")), \(fine) fine"
        if omitted > 0 { text += ", \(omitted) not checked" }
        return text
    }

    func json(_ plugin: CheckedPlugin, _ all: [(String, [CheckFinding])]) -> String {
        JSON.object([
            "plugin": .string(plugin.title), "failures": .list(plugin.failures.map { .string($0) }),
            "types": .object(
                Dictionary(all.map { ($0.0, JSON.list($0.1.map(\.json))) }, uniquingKeysWith: { first, _ in first })),
            "errors": .integer(Int64(errors)), "warnings": .integer(Int64(warnings)),
        ]).text + "\n"
    }
}
