// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime

/// The node type `lv2`: any installed LV2 plugin. [control]
public func lv2NodeType() -> UnsafePointer<vg_node_type> { LV2Node.type.pointer }

/// Runs an LV2 plugin as a node.
final class LV2Node: Node {
    static let descriptor = NodeDescriptor(
        "lv2", "an LV2 plugin",
        doc: """
            Audio ports are the node's audio ports by symbol; those of side chains and other groups are side buses, CV \
            ports the bus cv. Control inputs are parameters, control outputs control ports, and atom ports for MIDI \
            midi ports. While it plays, presets are loaded without a click, and properties are set and asked for.
            """,
        settings: [plugin.required(), params, preset, trust, state],
        actions: [
            .preset, .property,
            Action(
                "properties", "tell what properties it has",
                results: [
                    Field(
                        "properties", VG_TABLE, "by key: uri, label, kind, writable, and the value that was told last")
                ]),
            .save,
        ],
        events: [
            EventType(
                "property", "the plugin tells a value that it did not tell before",
                fields: [
                    Field("key", VG_STRING, "the last part of its URI"), Field("uri", VG_STRING, "what it is known by"),
                    Field("label", VG_STRING, "what people call it"),
                    Field("value", VG_ANY, "what it is now"),
                ], says: "[{label}|{key}|a property] is {value} now")
        ], otherNames: ["plugin", "lv2-plugin", "reverb", "convolver", "conv"], process: vg_foreign_process)

    private static let plugin = Key.text(
        "plugin", "URI, or unique name: the URI's last part or the plugin's own, any capitals")
    private static let params = Setting(
        "params", VG_SET_TABLE,
        "port symbol or label -> number, boolean or label of a scale point; property -> path, text or number",
        names: .file)
    private static let preset = Key.text("preset", "label or URI of a preset, applied before params")
    private static let trust = Key.flag("trust", "run the plugin without having tried it in a process of its own")
    private static let state = Key.path(
        "state",
        "saved state: Turtle file, or folder with state.ttl; applied after preset. A folder is saved to as well")
    /// Not for files: whoever makes the node anew after a crash gives it, with what it held.
    private static let resumes = Key.flag("resumes", "state is newer than what else is given", default: false)

    /// Made once: types live as long as the process.
    fileprivate static let type = NodeTypePointer(makeNodeType(LV2Node.self))

    static let calls: NodeCalls = [.poll, .latency, .perform]

    let layout: Layout
    let host: NodeHost
    let world: World
    let info: PluginInfo
    let ports: PortLayout
    private let states: [PluginState]
    private let patches: [PatchMessage]
    /// What triggers are set to, by place, until the plugin is there.
    private var fires: [Int: Float] = [:]
    private let log: PluginLog
    private(set) var instance: PluginInstance?
    /// Calls that wait for the plugin to tell a property.
    var questions: [PropertyQuestion] = []
    /// How the plugin's work outside of the audio thread ended last, as the host was told.
    private var workFault: String?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        world = .shared
        guard let plugin = try settings[Self.plugin], !plugin.isEmpty else {
            throw NodeError("plugin is missing", hint: "the URI or the name of an LV2 plugin", key: Self.plugin.name)
        }
        info = try PluginInfo(world, uri: try world.resolve(plugin))
        for line in info.messages.prefix(8) { host.log(VG_LOG_WARNING, "\(info.bundle): \(line)") }
        try Features.check(info)
        try info.checkBinary()
        ports = try PortLayout(info)
        if try settings[Self.trust] != true, let fault = PluginScan.shared.fault(of: info) { throw fault }

        var states: [PluginState] = []
        if info.wantsDefaultState, let state = PluginState.defaultState(of: info.uri, world) { states.append(state) }
        if let preset = try settings[Self.preset] { states.append(try .preset(preset, of: info, world)) }
        if let path = try settings[Self.state].map(host.resolve) {
            if PluginState.isEmptyFolder(path) {
                host.log(VG_LOG_INFO, "\(path) holds no state yet")
            } else {
                states.append(try .file(path, of: info, world))
            }
        }
        self.states = states

        // The file's values are this node's defaults: they hold before the first block, without a ramp.
        var layout = ports.layout
        var beyond: Set<Int> = []
        for state in states {
            for (index, value) in state.parameterValues(info, ports)
            where !layout.parameters[index].start(at: value) { beyond.insert(index) }
        }
        for index in beyond.sorted().prefix(8) {
            let (key, range) = (layout.parameters[index].key, layout.parameters[index].range)
            let bounds = "\(range.lowerBound.brief) to \(range.upperBound.brief)"
            let value = layout.parameters[index].defaultValue.brief
            host.log(
                VG_LOG_WARNING, "the preset or state has \(key) outside of its range, \(bounds): it is \(value)")
        }
        let given = try givenValues(settings.table(Self.params.key) ?? [:], info, ports, resolve: host.resolve)
        // Where a state goes on after a crash, it holds what became of them.
        let resumes = try settings[Self.resumes]
        for (index, value) in given.parameters {
            if !layout.parameters[index].isTrigger {
                layout.parameters[index].start(at: value)
            } else if !resumes {
                fires[index] = value
            }
        }
        patches = resumes ? [] : given.patches
        self.layout = layout
        log = PluginLog(URIDs(URIDMap.shared))
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> LV2Processor {
        defer { poll() }
        if let instance, instance.adapt(to: preparation) { return instance.processor }
        // A plugin that ran already goes on with what it holds.
        let saved = instance?.savedState()
        var values = layout.parameters.map(\.defaultValue)
        if preparation.parameters.count == values.count {
            for (index, parameter) in layout.parameters.enumerated() {
                let value = preparation.parameters[index]
                if !parameter.isTrigger {
                    values[index] = value
                } else if value != values[index] {
                    fires[index] = value
                }
            }
        }
        let told = saved != nil && instance?.hasHeardSettings == true ? [] : patches
        func make(_ preparation: Preparation, _ log: PluginLog) throws(NodeError) -> PluginInstance {
            try PluginInstance(
                info, ports, values, fires: fires, states: saved.map { [$0] } ?? states, patches: told, preparation,
                log: log,
                world: world)
        }
        let made = try make(preparation, log)
        if info.latencyPort != nil {
            // A second copy tells it, since the first block of the one that is heard must be its first. Live it would have
            // a thread of its own.
            var quiet = preparation
            quiet.offline = true
            made.latency = try make(quiet, PluginLog(URIDs(URIDMap.shared))).latencyOfSilence(
                offline: preparation.offline)
        }
        fires = [:]
        made.waiting = instance?.waiting ?? []
        instance = made
        return made.processor
    }

    func activate() {
        instance?.activate()
        for message in instance?.lost ?? [] {
            let given = "\(message.key) = \"\(message.path ?? "")\""
            host.log(
                VG_LOG_WARNING,
                "\(info.name) may not have taken \(given): its own state does not name that file "
                    + "(a saved state that does can be given as `state`)")
        }
        instance?.lost = []
    }

    func deactivate() {
        instance?.deactivate()
        instance?.settle(turn: turn)
        poll()  // nobody asks it again until it plays
    }

    func poll() {
        log.drain { host.log($0, "\(info.name): \($1)") }
        instance?.advance(turn: turn)
        if let answers = instance?.answers { hear(answers) }
        if let worker = instance?.worker { tellFaults(of: worker) }
    }

    /// What it asked its worker for and did not get: the sound may lack a file, or much else.
    private func tellFaults(of worker: PluginWorker) {
        host.count("refused work", worker.takeRefused())
        let fault = worker.fault
        guard fault != workFault else { return }
        workFault = fault
        host.health(
            fault.map { .degraded("\(info.name) could not do what it has to do besides playing: \($0)") } ?? .ok)
    }

    var latency: Int { instance?.latency ?? 0 }

    /// A change that the engine cannot take is told, since nobody waits for it.
    func turn(_ place: Int, _ value: Float, _ atOnce: Bool) {
        guard !host.setParameter(place, to: value, atOnce: atOnce) else { return }
        host.log(VG_LOG_WARNING, "\(layout.parameters[place].key) could not be set to \(value)")
    }
}

extension Parameter {
    /// Makes the value the one to begin with, or the bound that it is beyond, as when a preset is loaded live; then it
    /// returns false. Triggers are not fired by presets.
    @discardableResult
    fileprivate mutating func start(at value: Float) -> Bool {
        guard value.isFinite, !isTrigger else { return true }
        defaultValue = max(range.lowerBound, min(value, range.upperBound))
        return defaultValue == value
    }
}

/// A node type that lives as long as the process.
private struct NodeTypePointer: @unchecked Sendable {
    // Sendable: what it points to is never written again.
    let pointer: UnsafePointer<vg_node_type>
    init(_ pointer: UnsafePointer<vg_node_type>) { self.pointer = pointer }
}
