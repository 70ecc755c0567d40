// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import Graph
import GraphFile
import Host
import NodeKit

/// What a graph file wants of this machine.
struct GraphWants: Sendable {
    var file = ""
    /// What is wrong with it, as `check` says.
    var diagnostics: [Diagnostic] = []
    /// What it says of the driver.
    var driver = DriverDescription()
    /// Its ports at the server.
    var ports: [ExternalPort] = []
    /// Models that its nodes ask for by name, or use where they are installed.
    var models: [(node: String, models: [String], isNeeded: Bool)] = []

    private var area: DoctorArea { .graph }

    /// What there is to say of it; `look`: the server that it would be connected to; `isHeard`: whether
    /// there is what it wants to play to; `isInstalled`: whether a model is.
    func findings(_ look: ServerLook?, isHeard: Bool = true, isInstalled: (String) -> Bool) -> [Finding] {
        var findings = diagnostics.map { diagnostic -> Finding in
            let at = diagnostic.location
            let place = at.line > 0 ? "\(at.file):\(at.line): " : ""
            let hint = diagnostic.hint.isEmpty ? "voicegraph check \(file) shows the line" : diagnostic.hint
            return diagnostic.severity == .error
                ? area.error(place + diagnostic.message, do: hint)
                : area.warning(place + diagnostic.message, do: hint)
        }
        for (node, names, isNeeded) in models {
            let missing = names.filter { !isInstalled($0) }
            if missing.isEmpty { continue }
            let install = "voicegraph models install \(missing.joined(separator: " "))"
            let list = missing.joined(separator: " and ")
            findings.append(
                isNeeded
                    ? area.warning("\(node) wants \(list), which is not installed", do: install)
                    : area.fine("\(node) works without \(list), and better with it (\(install))"))
        }
        findings += connections(look)
        if let look { findings += format(look) }
        if findings.isEmpty {
            findings.append(
                area.fine(
                    isHeard
                        ? "\(file): this machine has all that it wants"
                        : "\(file): nothing is wrong with it; what it plays to is not there, as said above"))
        }
        return findings
    }

    /// Whether its rate and block are those of the server, which it cannot change.
    private func format(_ look: ServerLook) -> [Finding] {
        let wanted = [
            driver.rate.flatMap { Double($0) == look.rate ? nil : "\($0) Hz" },
            driver.block.flatMap { $0 == look.block ? nil : "blocks of \($0)" },
        ].compactMap { $0 }
        if wanted.isEmpty { return [] }
        return [
            area.warning(
                "it wants \(wanted.joined(separator: " and ")), but the server sets that: \(look.format)",
                do: "start the server so, or leave rate and block out of the file")
        ]
    }

    /// Whether there is something to connect each node to.
    private func connections(_ look: ServerLook?) -> [Finding] {
        var findings: [Finding] = []
        var hearers = 0
        var unheard: [String] = []
        var nodes: [String] = []
        for port in ports where !nodes.contains(port.node) { nodes.append(port.node) }
        for node in nodes {
            guard let port = ports.first(where: { $0.node == node }) else { continue }
            let isOutput = !port.isCapture && !port.isMIDI
            if isOutput { hearers += 1 }
            if port.connect.isEmpty {
                if isOutput { unheard.append(node) }
                findings.append(
                    area.warning(
                        "\(node) is connected to nothing by the file",
                        do:
                            "connect = [\"system:\(port.isMIDI ? "midi_" : "")\(port.isCapture ? "capture" : "playback")_*\"] "
                            + "on that node, or jack_connect while it plays"))
                continue
            }
            guard let look else { continue }
            let candidates = look.ports.filter { $0.isMIDI == port.isMIDI && $0.isInput != port.isCapture }
            let idle = port.connect.filter { glob in !candidates.contains { $0.matches(glob) } }
            if idle.isEmpty { continue }
            if isOutput, idle.count == port.connect.count { unheard.append(node) }
            let list = candidates.map { $0.alias.isEmpty ? $0.name : "\($0.alias) (\($0.name))" }
            let more = list.count > 12 ? ", and \(list.count - 12) more" : ""
            let names = idle.map { "'\($0)'" }.joined(separator: ", ")
            findings.append(
                area.warning(
                    "\(node): no port of the server is \(names)",
                    do: list.isEmpty
                        ? "the server has no port for that at all"
                        : "there is \(list.prefix(12).joined(separator: ", "))\(more)"))
        }
        if hearers > 0, unheard.count == hearers {
            findings.append(
                area.error(
                    "none of its outputs (\(unheard.joined(separator: ", "))) would be connected to anything",
                    do: "see the warnings about them below"))
        }
        return findings
    }
}

extension GraphWants {
    /// Reads a file, as `check` does. [control]
    static func read(_ file: String, overrides: [String], search: PluginSearch) -> GraphWants {
        var wants = GraphWants(file: file)
        let (description, diagnostics) = ConfigFile.load(path: file, overrides: overrides)
        wants.diagnostics = diagnostics
        guard let description else { return wants }
        wants.driver = description.driver
        let catalog = NodeRegistry(search: search).catalog(for: description)
        let built = GraphBuilder.build(description, catalog: catalog)
        wants.diagnostics += built.diagnostics + description.overwriteFaults()
        wants.ports = built.graph?.externals ?? []
        wants.models = description.nodes.compactMap { node in
            models(of: node, needs: catalog.descriptor(node.type)?.needs ?? [])
        }
        return wants
    }

    /// The models that a node of a type with these needs uses; nil: none.
    static func models(
        of node: NodeDescription, needs: [Need]
    ) -> (node: String, models: [String], isNeeded: Bool)? {
        for need in needs {
            if let isNeeded = need.isNeeded(by: node) { return (node.name, need.models, isNeeded) }
        }
        return nil
    }
}
