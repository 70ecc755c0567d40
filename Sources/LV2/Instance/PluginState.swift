// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit

/// A snapshot of a plugin: the values of its control ports and what its state extension saved. [control]
final class PluginState {
    private let state: OpaquePointer
    private let world: World
    /// Values by port index, where symbols do not tell the ports apart.
    private let byIndex: [Int: Float]

    private init(_ state: OpaquePointer, _ world: World, byIndex text: String? = nil) {
        self.state = state
        self.world = world
        byIndex = text.map(PortValues.byIndex) ?? [:]
    }

    deinit {
        world.locked { _ in lilv_state_free(state) }
    }

    /// What the plugin's data gives as its default state; nil: nothing.
    static func defaultState(of uri: String, _ world: World) -> PluginState? {
        world.locked { lilv in
            guard let node = lilv_new_uri(lilv.world, uri) else { return nil }
            defer { lilv_node_free(node) }
            guard lilv_world_ask(lilv.world, node, lilv.constant(VG_STATE__state), nil) else { return nil }
            return lilv_state_new_from_world(lilv.world, URIDMap.shared.map, node).map { PluginState($0, world) }
        }
    }

    /// A preset by its label, in any capitals, or its URI.
    static func preset(_ wanted: String, of info: PluginInfo, _ world: World) throws(NodeError) -> PluginState {
        try world.locked { (lilv) throws(NodeError) -> PluginState in
            let presets = lilv.presets(of: info.uri)
            let lowered = wanted.lowercased()
            var matches = presets.filter { $0.uri == wanted }
            if matches.isEmpty { matches = presets.filter { $0.label == wanted } }
            if matches.isEmpty { matches = presets.filter { $0.label.lowercased() == lowered } }
            guard let match = matches.first else {
                var hint = didYouMean(wanted, among: presets.map(\.label))
                if hint.isEmpty {
                    let shown = presets.prefix(8).map(\.label).joined(separator: ", ")
                    hint = presets.isEmpty ? "it has none" : "it has: \(shown)\(presets.count > 8 ? ", ..." : "")"
                }
                throw NodeError("\(info.name) has no preset \"\(wanted)\"", hint: hint, key: "preset")
            }
            guard matches.count == 1 else {
                let uris = matches.map(\.uri).joined(separator: ", ")
                throw NodeError(
                    "\(info.name) has \(matches.count) presets \"\(wanted)\"", hint: "use the URI of one: \(uris)",
                    key: "preset")
            }
            guard let node = lilv_new_uri(lilv.world, match.uri),
                let state = lilv_state_new_from_world(lilv.world, URIDMap.shared.map, node)
            else { throw NodeError("preset \"\(wanted)\" of \(info.name) cannot be read", key: "preset") }
            defer { lilv_node_free(node) }
            return PluginState(state, world, byIndex: lilv.object(of: node, VG_STATE_PORTS))
        }
    }

    /// A folder for a state that nobody has saved so far.
    static func isEmptyFolder(_ path: String) -> Bool {
        guard let entries = opendir(path) else { return false }
        defer { closedir(entries) }
        return access(path + "/state.ttl", F_OK) != 0 && access(path + "/manifest.ttl", F_OK) != 0
    }

    /// A saved state: a Turtle file, or the folder with `state.ttl` that hosts write.
    static func file(_ path: String, of info: PluginInfo, _ world: World) throws(NodeError) -> PluginState {
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let file = isFolder ? path + "/state.ttl" : path
        guard access(file, R_OK) == 0 else {
            throw NodeError(
                "cannot read \(file): \(String(cString: strerror(errno)))",
                hint: "name a state's Turtle file or the folder that holds state.ttl", key: "state")
        }
        return try world.locked { (lilv) throws(NodeError) -> PluginState in
            var lines: [String] = []
            let read = LilvMessages.collect(into: &lines) {
                lilv_state_new_from_file(lilv.world, URIDMap.shared.map, nil, file)
            }
            guard let state = read else {
                throw NodeError("\(file) is no LV2 state", hint: lines.first ?? "", key: "state")
            }
            let result = PluginState(state, world, byIndex: object(of: VG_STATE_PORTS, in: file))
            let owner = lilv.text(lilv_state_get_plugin_uri(state))
            guard owner == info.uri else {
                throw NodeError("\(file) is a state of \(owner), not of \(info.uri)", key: "state")
            }
            return result
        }
    }

    /// What `instance` would need to go on elsewhere; `values` has those of its control inputs. Files that it
    /// refers to are linked from `folder`, those that it made itself, in `scratch`, copied there; nil: it is not to be
    /// written. Also while the plugin runs.
    static func saved(
        from instance: UnsafeMutablePointer<LilvInstance>, of uri: String, values: PortValues = PortValues(),
        folder: String? = nil, scratch: String? = nil, _ world: World
    ) -> PluginState? {
        let table = NamedValues(values.bySymbol)
        let flags = LV2_STATE_IS_POD.rawValue | LV2_STATE_IS_PORTABLE.rawValue
        return world.locked { lilv in
            guard let plugin = lilv.plugin(uri) else { return nil }
            return lilv_state_new_from_instance(
                plugin, instance, URIDMap.shared.map, scratch, folder, folder, folder,
                { symbol, table, size, type in
                    guard let symbol, let table, let size, let type else { return nil }
                    return Unmanaged<NamedValues>.fromOpaque(table)._withUnsafeGuaranteedRef {
                        $0.find(String(cString: symbol), size, type)
                    }
                }, Unmanaged.passUnretained(table).toOpaque(), flags, nil
            ).map {
                if let text = values.byIndexText { note(text, in: $0) }
                return PluginState($0, world)
            }
        }
    }

    /// Adds what only this host reads.
    private static func note(_ text: String, in state: OpaquePointer) {
        let table = URIDMap.shared
        text.withCString {
            _ = lilv_state_set_metadata(
                state, table.map(VG_STATE_PORTS), $0, strlen($0) + 1, table.map(VG_ATOM__String),
                LV2_STATE_IS_POD.rawValue | LV2_STATE_IS_PORTABLE.rawValue)
        }
    }

    /// Writes the state into a folder, as `file` reads it.
    func write(to folder: String, label: String? = nil) throws(NodeError) {
        let failed = world.locked { lilv in
            let table = URIDMap.shared
            if let label { lilv_state_set_label(state, label) }
            return lilv_state_save(lilv.world, table.map, table.unmap, state, nil, folder, "state.ttl") != 0
        }
        if failed {
            throw NodeError("cannot write \(folder)/state.ttl", hint: "is the folder writable?", key: "state")
        }
    }

    /// Whether there is more in it than the values of ports.
    var hasProperties: Bool { world.locked { _ in lilv_state_get_num_properties(state) } > 0 }

    /// The values that it gives the control inputs of its plugin, by place among the parameters. Of ports that share a
    /// symbol, the first has the value of the symbol unless the state tells them apart.
    func parameterValues(_ info: PluginInfo, _ ports: PortLayout) -> [Int: Float] {
        let bySymbol = portValues
        var values: [Int: Float] = [:]
        var seen: Set<String> = []
        for (place, port) in ports.parameters.enumerated() {
            let symbol = info.ports[port].symbol
            let value = byIndex[port] ?? (seen.insert(symbol).inserted ? bySymbol[symbol] : nil)
            if let value { values[place] = value }
        }
        return values
    }

    /// The values that it gives control ports, by symbol.
    private var portValues: [String: Float] {
        var values: [String: Float] = [:]
        world.locked { _ in
            withUnsafeMutablePointer(to: &values) {
                lilv_state_emit_port_values(
                    state,
                    { symbol, values, value, size, type in
                        guard let symbol, let value else { return }
                        let given = number(value, size, type)
                        values?.assumingMemoryBound(to: [String: Float].self).pointee[String(cString: symbol)] = given
                    }, $0)
            }
        }
        return values
    }

    /// Restores what the plugin itself saved. Before its first block or while it does not run.
    func restore(_ instance: UnsafeMutablePointer<LilvInstance>, _ features: Features) {
        world.locked { _ in lilv_state_restore(state, instance, nil, nil, 0, features.list) }
    }
}

extension Lilv {
    /// The presets of a plugin by label; reads the data of each.
    func presets(of uri: String) -> [(uri: String, label: String)] {
        guard let plugin = plugin(uri),
            let related = lilv_plugin_get_related(plugin, constant(VG_PRESETS__Preset))
        else { return [] }
        var lines: [String] = []
        defer { note(lines) }
        return take(list: related).map { preset in
            guard let node = lilv_new_uri(world, preset) else { return (preset, "") }
            defer { lilv_node_free(node) }
            LilvMessages.collect(into: &lines) { _ = lilv_world_load_resource(world, node) }
            return (preset, object(of: node, VG_RDFS__label) ?? shortNames(of: preset)[0])
        }.sorted { ($0.label, $0.uri) < ($1.label, $1.uri) }
    }
}
