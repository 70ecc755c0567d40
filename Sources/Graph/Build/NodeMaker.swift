// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// Creates the nodes of a description: type, settings, parameters.
struct NodeMaker {
    let catalog: NodeCatalog
    let baseFolder: String
    /// Nodes that play and may go on, by name.
    let playing: [String: ResolvedGraph.Node]
    var report: Report
    /// What the file says of the parameters of nodes that go on.
    private(set) var values: [ParameterValue] = []
    /// What it says otherwise of their live settings.
    private(set) var settings: [SettingChange] = []
    /// Nodes that are left out, with the reason.
    private(set) var degraded: [String: String] = [:]
    private var names: [String: SourceLocation] = [:]
    private var settingsOfType: [String: SettingsCheck] = [:]
    private var needsOfType: [String: [Need]] = [:]
    private var declarations: [UnsafePointer<vg_node_type>: NodeDeclarations] = [:]
    /// How often nodes may still be tried again without what they refuse of a table.
    private var retries = 200

    init(
        catalog: NodeCatalog, baseFolder: String, playing: [String: ResolvedGraph.Node] = [:], report: Report
    ) {
        self.catalog = catalog
        self.baseFolder = baseFolder
        self.playing = playing
        self.report = report
    }

    mutating func make(_ node: NodeDescription, services: (String, NodeDeclarations) -> NodeServices) -> MadeNode {
        if let first = names.updateValue(node.location, forKey: node.name) {
            names[node.name] = first
            report.error(
                "duplicate node '\(node.name)'", at: node.location,
                hint: first.line > 0 ? "the first one is at \(first.file):\(first.line):\(first.column)" : "")
            return .faulty
        }
        guard !node.type.isEmpty else { return .faulty }
        guard let entry = catalog.types[node.type] else { return withoutType(node) }

        var check = settingsOfType[node.type] ?? SettingsCheck(entry.type.pointee)
        settingsOfType[node.type] = check
        var problems = check.check(node, baseFolder: baseFolder, &report)
        let isolated = isolation(of: node, entry)
        let isKept = checkKeeping(node, entry)
        problems = problems || isolated == nil || !isKept
        if !problems, let kept = playing[node.name], kept.serves(node) {
            let before = report.diagnostics.count
            let values = check.parameterValues(node, of: kept.instance.parameters, &report)
            checkBypass(node, kept.instance)
            if report.diagnostics.count > before { return .faulty }
            self.values += kept.instance.allValues(node, given: values)
            settings += kept.settingChanges(to: node)
            return .instance(kept.instance)
        }
        let kept = node.entries.filter { !check.faulty.contains($0.key) }
        let type = isolated ?? entry.type
        let declared = declarations[type] ?? NodeDeclarations(type)
        declarations[type] = declared
        return create(
            node, type, kept.mapValues(\.value), services(node.name, declared), check, isFaulty: problems)
    }

    /// Creates the node of settings that were checked. What it refuses of a table is reported and taken away, and the rest
    /// is tried again, so that all that is wrong in it is found at once.
    private mutating func create(
        _ node: NodeDescription, _ type: UnsafePointer<vg_node_type>, _ settings: [String: SettingValue],
        _ services: NodeServices, _ check: SettingsCheck, isFaulty: Bool
    ) -> MadeNode {
        var settings = settings
        var isFaulty = isFaulty
        while true {
            do {
                let instance = try NodeInstance(
                    type: type, name: node.name, settings: Settings(settings), baseFolder: baseFolder,
                    services: services, declarations: declarations[type]!)
                let before = report.diagnostics.count
                for (index, value) in check.parameterValues(node, of: instance.parameters, &report) {
                    instance.start(index, at: value)
                }
                checkBypass(node, instance)
                checkPortNames(node, instance)
                return isFaulty || report.diagnostics.count > before ? .faulty : .instance(instance)
            } catch let failure {
                guard retries > 0, let rest = settings.without(failure.key) else {
                    // With faulty settings taken away, a failure says nothing new.
                    return isFaulty ? .faulty : failed(node, failure)
                }
                retries -= 1
                settings = rest
                isFaulty = true
                _ = failed(node, failure)
            }
        }
    }

    /// Other programs see the node's name in those of its ports.
    private mutating func checkPortNames(_ node: NodeDescription, _ instance: NodeInstance) {
        let ports = ResolvedGraph.Node(instance: instance, description: node).externals
        let longest = ports.map(\.name.utf8.count).max() ?? 0
        guard longest > ExternalPort.longestName else { return }
        report.error(
            "the name of node '\(shortened(node.name))' is too long for its ports at a server", at: node.location,
            hint: "use at most \(ExternalPort.longestName - 4) bytes")
    }

    /// The type that the node's instance gets: a second form of its own if it is to be isolated; nil, and reported, if
    /// it cannot be.
    private mutating func isolation(
        of node: NodeDescription, _ entry: NodeCatalog.Entry
    ) -> UnsafePointer<vg_node_type>? {
        let needs = needsOfType[node.type] ?? Need.all(of: entry.type)
        needsOfType[node.type] = needs
        // What its models want, the node gets without being asked for it.
        let isAlone = needs.contains { $0.isAlone && $0.isNeeded(by: node) == true }
        guard node.isolation != .none || isAlone else { return entry.type }
        let place = node.commonEntries[NodeKeys.isolate.setting.key]?.keyLocation ?? node.location
        if catalog.isolation != nil, !catalog.mayBeIsolated(node.type) {
            report.error(
                "node type '\(node.type)' cannot be isolated", at: place,
                hint: entry.isOfProgram
                    ? "it lives in this program: make it a plugin"
                    : "built-in nodes need no isolation: it is for nodes of type lv2 and for plugins")
            return nil
        }
        guard let type = catalog.isolation?.isolated(entry, node.isolation == .group) else {
            report.error("this program cannot isolate nodes", at: place)
            return nil
        }
        return type
    }

    /// Whether what is to be kept of the node can be; if not, it is reported.
    private mutating func checkKeeping(_ node: NodeDescription, _ entry: NodeCatalog.Entry) -> Bool {
        if node.keep,
            !(declarations[entry.type] ?? NodeDeclarations(entry.type)).events.contains(where: { $0.role != nil })
        {
            let others = catalog.keepable
            report.error(
                "there is nothing to keep of node '\(node.name)': nodes of type '\(node.type)' tell neither texts nor takes",
                at: node.location,
                hint: others.isEmpty ? "" : "what can be kept: that of \(others.joined(separator: ", "))")
            return false
        }
        return true
    }

    private mutating func checkBypass(_ node: NodeDescription, _ instance: NodeInstance) {
        guard node.bypass, let fault = instance.bypassFault else { return }
        report.error("node '\(node.name)' cannot be bypassed: \(fault)", at: node.location, hint: "mute it instead")
    }

    private mutating func withoutType(_ node: NodeDescription) -> MadeNode {
        guard let missing = catalog.unavailable[node.type] else {
            report.error(
                "unknown node type '\(shortened(node.type))'", at: node.typeLocation,
                hint: catalog.hint(for: node.type, &report.suggester))
            return .faulty
        }
        return leaveOut(
            node,
            Fault(
                "node type '\(node.type)' is not available: \(missing.reason)",
                hint: missing.package.isEmpty ? "" : "apt install \(missing.package)"), at: node.typeLocation)
    }

    private mutating func failed(_ node: NodeDescription, _ failure: NodeError) -> MadeNode {
        guard !failure.key.isEmpty else {
            let fault = Fault("node '\(node.name)' cannot be created: \(failure.message)", hint: failure.hint)
            return leaveOut(node, fault, at: node.location)
        }
        let entry = node.entry(at: failure.key)
        report.error(
            "node '\(node.name)': \(failure.message)",
            at: entry?.valueLocation ?? node.commonEntries[failure.key]?.keyLocation ?? node.location,
            hint: failure.hint)
        return .faulty
    }

    private mutating func leaveOut(_ node: NodeDescription, _ fault: Fault, at location: SourceLocation) -> MadeNode {
        let absent = AbsentNode(name: node.name, fault: fault, location: location)
        switch node.required {
        case true?:
            report.error("\(fault.message); the node is required", at: location, hint: fault.hint)
            return .faulty
        case false?: absent.warn(&report)
        case nil: break
        }
        degraded[node.name] = fault.message
        return .leftOut(node.required == nil ? absent : nil)
    }
}

extension [String: SettingValue] {
    /// The same without one entry of a table, "table.key"; nil: there is none.
    fileprivate func without(_ path: String) -> Self? {
        guard let dot = path.firstIndex(of: "."), case .table(var table)? = self[String(path[..<dot])],
            table.removeValue(forKey: String(path[path.index(after: dot)...])) != nil
        else { return nil }
        var rest = self
        rest[String(path[..<dot])] = .table(table)
        return rest
    }
}

extension NodeDescription {
    /// The entry that a node's complaint is about: "key", or "table.key" for something inside a table.
    func entry(at path: String) -> Entry? {
        if let entry = entries[path] { return entry }
        guard let dot = path.firstIndex(of: "."), let outer = entries[String(path[..<dot])] else { return nil }
        return outer.inner[String(path[path.index(after: dot)...])] ?? outer
    }
}
