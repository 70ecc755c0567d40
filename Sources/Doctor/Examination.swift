// SPDX-License-Identifier: Apache-2.0
import Host
import ModelStore
import System

/// Everything that is looked at, all at a time, and what follows of it.
package struct Examination {
    var file: String?
    var overrides: [String]
    var search: PluginSearch
    var models: ModelStore

    /// Looks at a file as well, with what overrides its settings; models are those of `models`.
    package init(file: String?, overrides: [String], search: PluginSearch, models: ModelStore) {
        (self.file, self.overrides, self.search, self.models) = (file, overrides, search, models)
    }

    /// Seconds for which a server that hangs has done nothing, after which one that does something does not answer, and after
    /// which nothing is waited for any more.
    static let (patience, most, limit) = (0.5, 3.0, 5.0)

    /// Looks, and waits no longer than `limit`. [control]
    package func findings() -> [Finding] {
        let deadline = monotonicSeconds() + Self.limit
        let (file, overrides, search, store) = (file, overrides, search, models)
        let (patience, most) = (Self.patience, Self.most)
        let servers = Reading { JackServers.read(within: patience, most: most) }
        let pipeWire = Reading { PipeWireState.read(within: patience, most: most) }
        let cards = Reading { CardUse.read() }
        let hosts = Reading { RunningHosts.read(patience: 1) }
        let rights = Reading { RealtimeRights.read() }
        let processor = Reading { ProcessorState.read() }
        let folders = Reading { FolderState.read() }
        let types = Reading { NodeTypes.read(search) }
        let models = Reading { ModelStates.read(store) }
        let lv2 = Reading { LV2State.read() }
        let wants = file.map { file in Reading { GraphWants.read(file, overrides: overrides, search: search) } }

        var findings: [Finding] = []
        /// What was read, or that it was not.
        func taken<Value: Sendable>(_ reading: Reading<Value>, _ area: DoctorArea) -> Value? {
            let value = reading.value(by: deadline)
            if value == nil { findings.append(area.unanswered) }
            return value
        }
        var path = SoundPath()
        let graph = wants.flatMap { taken($0, .graph) }
        if let graph { path.wanted = graph.driver }
        let known = taken(servers, .servers)
        if let known { path.servers = known }
        let pipes = taken(pipeWire, .pipeWire)
        if let pipes { path.pipeWire = pipes }
        let use = taken(cards, .cards)
        if let use { path.cards = use }
        let installed = taken(models, .models)
        if known != nil, pipes != nil { findings += path.findings() }
        findings += (known?.findings() ?? []) + (pipes?.findings() ?? []) + (use?.findings() ?? [])
        if let graph {
            let isHeard = known != nil && pipes != nil && !path.findings().contains { $0.severity == .error }
            findings += graph.findings(path.look, isHeard: isHeard) { name in installed?.isInstalled(name) ?? true }
        }
        findings +=
            taken(hosts, .hosts)?.findings { host in
                host.driver == "pipewire"
                    ? path.pipeWire.look?.ports : path.servers.server(host.server)?.look?.ports
            } ?? []
        findings += taken(rights, .realtime)?.findings() ?? []
        findings += taken(processor, .processor)?.findings() ?? []
        findings += taken(folders, .folders)?.findings() ?? []
        findings += taken(types, .nodeTypes)?.findings() ?? []
        findings += installed?.findings() ?? []
        findings += taken(lv2, .lv2)?.findings() ?? []
        return findings
    }
}
