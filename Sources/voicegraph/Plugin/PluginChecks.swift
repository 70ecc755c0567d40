// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import GraphFile
import Host
import JSON
import NodeKit
import NodeTrials
import System

/// What a plugin says of itself.
struct CheckedPlugin {
    /// Name, version and licence.
    var title: String
    /// The names of the types that can be used.
    var types: [String]
    /// What is wrong with the others.
    var failures: [String]
    /// Why types do not take what `--set` says.
    var refusals: [String: String]
}

/// Lets child processes look at a plugin, which is never opened here.
struct PluginChecks {
    let file: String
    private var trial: ChildTrial

    init(file: String, settings: [String], patience: Double) {
        self.file = file
        trial = ChildTrial(
            command: [ownExecutable(), "plugin-check", file] + settings.flatMap { ["--set", $0] }, patience: patience)
        if let library = Self.watch() { trial.variables = ["LD_PRELOAD=\(library)", "VOICEGRAPH_REALTIME=collect"] }
    }

    /// Opens it. Throws what is wrong with the whole of it.
    func plugin() throws -> CheckedPlugin {
        let (finished, stumble) = trial.run([""], first: "its opening")
        if let stumble { throw fail("\(file) \(stumble.text)" + (stumble.said.isEmpty ? "" : ": \(stumble.said)")) }
        switch finished.first {
        case .told(let text)?:
            let told = try? JSON(text.utf8)
            func texts(_ key: String) -> [String] {
                if case .list(let list)? = told?[key] { list.compactMap(\.string) } else { [] }
            }
            var refusals: [String: String] = [:]
            if case .object(let fields)? = told?["refusals"] { refusals = fields.compactMapValues(\.string) }
            return CheckedPlugin(
                title: told?["title"]?.string ?? "", types: texts("types"), failures: texts("failures"),
                refusals: refusals)
        case .refused(let reason)?: throw fail("\(file) \(reason)")
        default: throw fail("\(file) cannot be looked at")
        }
    }

    /// Looks at one thing.
    func findings(of type: String, on subject: NodeCheck.Subject) -> [CheckFinding] {
        let (finished, stumble) = trial.run(["\(type)\t\(subject.rawValue)"], first: "its opening")
        if let stumble {
            return [
                CheckFinding(
                    .error, subject, "it \(stumble.text)",
                    hint: stumble.said.isEmpty ? "" : "it printed: \(stumble.said)")
            ]
        }
        guard case .told(let text)? = finished.first, case .list(let list)? = try? JSON(text.utf8) else {
            let reason = if case .refused(let reason)? = finished.first { reason } else { "nothing was told" }
            return [CheckFinding(.omitted, subject, reason)]
        }
        return list.compactMap { CheckFinding($0, subject) }
    }

    /// The library that sees what must not be on the audio thread; nil: it is not there, or its path cannot be told to the
    /// loader.
    private static func watch() -> String? {
        let name = "libvoicegraph-realtime.so"
        var folder = ownExecutable()
        while let last = folder.last, last != "/" { folder.removeLast() }
        return ["\(folder)\(name)", "\(folder)../lib/voicegraph/preload/\(name)"].first { path in
            access(path, R_OK) == 0 && !path.contains(" ") && !path.contains(":")
        }
    }
}

/// The process that looks at a plugin. [control]
struct PluginCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin-check", abstract: "Look at a plugin for another process.", shouldDisplay: false)

    @Argument
    var file: String

    @Option(name: .customLong("set"))
    var settings: [String] = []

    func run() throws {
        // Plugins print what they like, which must not get among what is told.
        let report = dup(STDOUT_FILENO)
        dup2(STDERR_FILENO, STDOUT_FILENO)
        unblockSignals()
        var index = 0
        while let line = readLine() {
            func tell(_ text: String) { writeOut("\(index) \(text)\n", to: report) }
            tell("its opening")
            tell(look(line, tell))
            index += 1
        }
        // Without the exit handlers of whatever the plugin loaded.
        _exit(0)
    }

    private func look(_ line: String, _ tell: (String) -> Void) -> String {
        let plugin: LoadedPlugin
        do throws(PluginFailure) { plugin = try PluginLoader.load(PluginFile(path: file)) } catch {
            return "refused \(error.reason)" + (error.hint.isEmpty ? "" : "; \(error.hint)")
        }
        let parts = line.split(separator: "\t").map(String.init)
        guard parts.count == 2, let subject = NodeCheck.Subject(rawValue: parts[1]) else {
            return "told \(title(of: plugin).text)"
        }
        guard let type = plugin.types.first(where: { String(cString: $0.pointee.name) == parts[0] }) else {
            return "refused it has no type \(parts[0]) any more"
        }
        // Refused ones were told with the title.
        let given = (try? read(settings, for: type)) ?? [:]
        let missing = [Setting](type.pointee.settings).filter { $0.required && given[$0.key] == nil }
        if let first = missing.first {
            let hint = "give it with --set \(first.key)=VALUE: \(first.doc)"
            return told([CheckFinding(.omitted, subject, "it needs the setting \(first.key)", hint: hint)])
        }
        tell("the check of \(subject.place)")
        return told(NodeCheck(type, given).findings(on: subject))
    }

    private func told(_ findings: [CheckFinding]) -> String { "told \(JSON.list(findings.map(\.json)).text)" }

    private func title(of plugin: LoadedPlugin) -> JSON {
        var refusals: [String: JSON] = [:]
        for type in plugin.types {
            do throws(NodeError) { _ = try read(settings, for: type) } catch {
                let hint = error.hint.isEmpty ? "" : "; \(error.hint)"
                refusals[String(cString: type.pointee.name)] = .string(error.message + hint)
            }
        }
        return .object([
            "refusals": .object(refusals),
            "title": .string("\(plugin.name) \(plugin.version), \(plugin.license)"),
            "types": .list(plugin.types.map { .string(String(cString: $0.pointee.name)) }),
            "failures": .list(plugin.failures.map { .string("the type \($0.type) cannot be used: \($0.reason)") }),
        ])
    }
}

/// What `--set` says, read as the value of a key in a file is.
private func read(_ given: [String], for type: UnsafePointer<vg_node_type>) throws(NodeError) -> [String: SettingValue]
{
    let name = String(cString: type.pointee.name)
    let (description, diagnostics) = ConfigFile.load(
        text: "[node.node]\ntype = \"\(name)\"\n", overrides: given.map { "node.node.\($0)" })
    if let first = diagnostics.first { throw NodeError(first.message, hint: first.hint) }
    let values = description?.nodes.first?.entries.mapValues(\.value) ?? [:]
    let settings = [Setting](type.pointee.settings).map { setting in
        var setting = setting
        setting.required = false
        return setting
    }
    try checkValues(values, against: settings, of: "a node of type \(name)", noun: "setting")
    return values
}

extension NodeCheck.Subject {
    /// Of what a check is.
    fileprivate var place: String {
        switch self {
        case .inPlace: "shared buffers"
        case .input: "samples that are no numbers"
        default: "its \(rawValue)"
        }
    }
}

extension CheckFinding {
    var json: JSON {
        .object([
            "severity": .string(severity.rawValue), "subject": .string(subject.rawValue), "message": .string(message),
            "hint": .string(hint),
        ])
    }

    fileprivate init?(_ json: JSON, _ subject: NodeCheck.Subject) {
        guard let severity = json["severity"]?.string.flatMap(Severity.init), let text = json["message"]?.string
        else { return nil }
        self.init(severity, subject, text, hint: json["hint"]?.string ?? "")
    }
}
