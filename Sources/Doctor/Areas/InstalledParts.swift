// SPDX-License-Identifier: Apache-2.0
import Host
import LV2
import ModelStore

/// Node types that can be used, and those that cannot.
struct NodeTypes: Sendable {
    var usable = 0
    /// By name, with what is missing and the package that would help; empty: none would.
    var unavailable: [(name: String, reason: String, package: String)] = []
    /// Files in the folders of plugins that are no use.
    var broken: [(file: String, reason: String, hint: String)] = []

    /// What there is to say of them.
    func findings() -> [Finding] {
        let area = DoctorArea.nodeTypes
        var findings = unavailable.map { type in
            area.warning(
                "\(type.name) cannot be used: \(type.reason)",
                do: type.package.isEmpty ? "voicegraph nodes tells more" : "apt install \(type.package)")
        }
        findings += broken.map { plugin in
            area.warning(
                "\(plugin.file) \(plugin.reason)", do: plugin.hint.isEmpty ? "move it out of the folder" : plugin.hint)
        }
        return findings + [area.fine("\(usable) node types can be used")]
    }

    /// Loads every plugin, as `voicegraph nodes` does. [control]
    static func read(_ search: PluginSearch) -> NodeTypes {
        let registry = NodeRegistry(search: search)
        let catalog = registry.fullCatalog()
        var types = NodeTypes(usable: catalog.types.count)
        types.unavailable = catalog.unavailable.sorted { $0.key < $1.key }.map {
            ($0.key, $0.value.reason, $0.value.package)
        }
        types.broken = registry.failures.filter { catalog.unavailable[$0.type] == nil }.map {
            ($0.path.split(separator: "/").last.map(String.init) ?? $0.path, $0.reason, $0.hint)
        }
        return types
    }
}

/// The models, and how each is here.
struct ModelStates: Sendable {
    var states: [(name: String, state: ModelState)] = []

    /// What there is to say of them. None is needed.
    func findings() -> [Finding] {
        let area = DoctorArea.models
        var findings: [Finding] = []
        for (name, state) in states {
            let install = "voicegraph models install \(name)"
            switch state {
            case .damaged(let reason): findings.append(area.warning("\(name) is damaged: \(reason)", do: install))
            case .outdated(let version):
                findings.append(area.warning("\(name) is of another version, \(version)", do: install))
            case .absent, .noBuild, .installed: break
            }
        }
        let there = states.filter { $0.state == .installed }.map(\.name)
        let missing = states.filter { $0.state == .absent }.map(\.name)
        if !there.isEmpty { findings.append(area.fine("installed: \(there.joined(separator: ", "))")) }
        if !missing.isEmpty {
            findings.append(area.fine("not installed, and needed by nothing: \(missing.joined(separator: ", "))"))
        }
        return findings
    }

    /// Whether a model is there and whole.
    func isInstalled(_ name: String) -> Bool { states.contains { $0.name == name && $0.state == .installed } }

    /// Looks at files and their sizes; sums take too long. [control]
    static func read(_ store: ModelStore) -> ModelStates {
        ModelStates(states: store.catalogue.map { ($0.name, store.state(of: $0)) })
    }
}

/// The installed LV2 plugins.
struct LV2State: Sendable {
    var count = 0
    /// Those that failed when they were tried, by URI.
    var failed: [(uri: String, reason: String)] = []

    /// What there is to say of them.
    func findings() -> [Finding] {
        let area = DoctorArea.lv2
        let bad = failed.map { plugin in
            area.warning(
                "\(plugin.uri) is left out: \(plugin.reason)",
                do: "voicegraph lv2 scan \(plugin.uri) tries it again; trust = true on its node runs it all the same")
        }
        let text = count == 0 ? "no plugin is installed" : "\(count) plugin\(count == 1 ? "" : "s") installed"
        return bad + [area.fine(text + (failed.isEmpty ? "" : ", \(failed.count) failed when tried"))]
    }

    /// Reads the bundles, and what the cache has of them. [control]
    static func read() -> LV2State {
        LV2State(
            count: PluginIndex(cache: cachePath("lv2-index"), keeps: false).plugins.count,
            failed: cachePath("lv2-scan").map { PluginScan.failures(in: $0).map { ($0.uri, $0.reason) } } ?? [])
    }
}
