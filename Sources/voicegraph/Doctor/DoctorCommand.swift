// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Graph
import Host
import System

/// `voicegraph doctor`: everything that is known of this machine, the worst first, with what to do.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Say what is wrong with this machine, and what to do about it.",
        discussion: """
            Looks at JACK servers, PipeWire, sound cards, realtime rights, folders, models and plugins, and asks the hosts \
            that run; with a file also at what that wants: connections, devices, models. Starts and changes nothing. The \
            exit code is 1 if as it is nothing will be heard, else 0.

            Examples:
              voicegraph doctor
              voicegraph doctor voice.conf
            """)

    @Argument(help: "A graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change a setting of the file: driver.key=value or node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @Flag(help: "One JSON object with all findings.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        if file == nil, !overrides.isEmpty { throw ValidationError("--set changes a file: name it") }
    }

    func run() throws {
        let findings = Examination(file: file, overrides: overrides, search: try plugins.search(keeps: false))
            .findings()
        let color = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
        writeOut(json ? DoctorText.json(findings) : DoctorText.text(findings, color: color))
        if findings.count(.error) > 0 { throw ExitCode(1) }
    }
}

/// Everything that is looked at, all at a time, and what follows of it.
struct Examination {
    var file: String?
    var overrides: [String] = []
    var search: PluginSearch

    /// Seconds for which a server that hangs has done nothing, after which one that does something does not answer, and after
    /// which nothing is waited for any more.
    static let (patience, most, limit) = (0.5, 3.0, 5.0)

    /// Looks, and waits no longer than `limit`. [control]
    func findings() -> [Finding] {
        let deadline = monotonicSeconds() + Self.limit
        let (file, overrides, search) = (file, overrides, search)
        let (patience, most) = (Self.patience, Self.most)
        let servers = Reading { JackServers.read(within: patience, most: most) }
        let pipeWire = Reading { PipeWireState.read(within: patience, most: most) }
        let cards = Reading { CardUse.read() }
        let hosts = Reading { RunningHosts.read(patience: 1) }
        let rights = Reading { RealtimeRights.read() }
        let processor = Reading { ProcessorState.read() }
        let folders = Reading { FolderState.read() }
        let types = Reading { NodeTypes.read(search) }
        let models = Reading { ModelStates.read(ModelsCommand.store) }
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
