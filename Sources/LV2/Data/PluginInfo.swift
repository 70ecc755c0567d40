// SPDX-License-Identifier: Apache-2.0
import CLilv
import Glibc
import NodeKit

/// All that the host wants to know of one plugin before it runs, read from its data once.
struct PluginInfo: Sendable {
    var uri: String
    var name: String
    /// The folder that describes it, without a slash at the end.
    var bundle: String
    /// The shared object with its code; empty if the data names none.
    var binary: String
    /// By index.
    var ports: [PluginPort]
    var requiredFeatures: [String]
    /// What it takes by message.
    var properties: [PluginProperty]
    /// The control output that reports the latency.
    var latencyPort: Int?
    /// Whether the plugin wants its default state restored before it runs.
    var wantsDefaultState: Bool
    /// Whether the plugin can restore a state while it runs.
    var restoresSafely: Bool
    /// What lilv said of its data, as far as it could be read.
    var messages: [String] = []
}

extension PluginInfo {
    /// The event input for messages of the host: the one designated as the control port, or else the first.
    var patchPort: Int? {
        let takers = ports.filter { $0.kind == .atom && $0.isInput && $0.supportsPatch }
        return (takers.first(where: \.isControl) ?? takers.first)?.index
    }

    /// Whether an event output is one where the plugin tells of its properties.
    func tellsProperties(at port: Int) -> Bool {
        !properties.isEmpty && !ports[port].isInput && ports[port].supportsPatch
    }

    /// Reads what is said of an installed plugin. [control]
    init(_ world: World, uri: String) throws(NodeError) {
        var lines: [String] = []
        self = try world.locked { (lilv) throws(NodeError) -> PluginInfo in
            guard let plugin = lilv.plugin(uri) else {
                throw NodeError("no LV2 plugin \(uri) is installed", key: "plugin")
            }
            return try LilvMessages.collect(into: &lines) { () throws(NodeError) in try PluginInfo(lilv, plugin) }
        }
        messages = Array(lines.prefix(LilvMessages.limit))
    }

    private init(_ lilv: Lilv, _ plugin: OpaquePointer) throws(NodeError) {
        uri = lilv.uri(of: plugin)
        bundle = path(lilv_plugin_get_bundle_uri(plugin))
        while bundle.count > 1, bundle.hasSuffix("/") { bundle.removeLast() }
        binary = path(lilv_plugin_get_library_uri(plugin))
        let given = lilv.name(of: plugin)
        name = given.isEmpty ? shortNames(of: uri)[0] : given
        properties = lilv.properties(of: plugin)
        requiredFeatures = lilv.take(list: lilv_plugin_get_required_features(plugin)).sorted()
        let optional = lilv.take(list: lilv_plugin_get_optional_features(plugin))
        let loadDefault = VG_STATE__loadDefaultState.string
        wantsDefaultState = requiredFeatures.contains(loadDefault) || optional.contains(loadDefault)
        restoresSafely = (requiredFeatures + optional).contains(VG_STATE__threadSafeRestore.string)

        let count = Int(lilv_plugin_get_num_ports(plugin))
        let groups = PortGroups(lilv, plugin)
        ports = []
        ports.reserveCapacity(count)
        for index in 0..<count { ports.append(try PluginPort(lilv, plugin, index: index, groups: groups)) }
        ports.growAlike()
        readRanges(lilv, plugin)
        latencyPort = nil
        if count == 0 { try checkData(lilv, plugin) }
        if lilv_plugin_has_latency(plugin) {
            let index = Int(lilv_plugin_get_latency_port_index(plugin))
            if ports.indices.contains(index), ports[index].kind == .control, !ports[index].isInput {
                latencyPort = index
            }
        }
    }

    /// As numbers or, as the vocabulary has it for toggled ports, as booleans.
    private mutating func readRanges(_ lilv: Lilv, _ plugin: OpaquePointer) {
        for index in ports.indices where ports[index].kind == .control || ports[index].kind == .cv {
            guard let port = lilv_plugin_get_port_by_index(plugin, UInt32(index)) else { continue }
            func number(_ predicate: UnsafePointer<CChar>) -> Float? {
                guard let node = lilv_port_get(plugin, port, lilv.constant(predicate)) else { return nil }
                defer { lilv_node_free(node) }
                return lilv.number(node).flatMap { $0.isFinite ? $0 : nil }
            }
            ports[index].minimum = number(VG_CORE__minimum)
            ports[index].maximum = number(VG_CORE__maximum)
            ports[index].defaultValue = number(VG_CORE__default)
        }
    }

    /// Throws when the plugin's code is not there; whether it can be loaded is seen when it is. [control]
    func checkBinary() throws(NodeError) {
        guard !binary.isEmpty else { throw unloadable("its data names no binary", "the bundle is damaged") }
        guard access(binary, R_OK) == 0 else {
            throw unloadable("\(binary): \(String(cString: strerror(errno)))", "install the plugin's package again")
        }
    }

    /// The failure to load this plugin. It is no mistake of the file that asks for the plugin.
    func unloadable(_ reason: String, _ hint: String) -> NodeError {
        NodeError("\(name) in \(bundle) cannot be loaded: \(reason)", hint: hint)
    }
}

/// The local path of a file URI; empty if it is none.
func path(_ node: OpaquePointer?) -> String {
    guard let node, let text = lilv_node_get_path(node, nil) else { return "" }
    defer { lilv_free(text) }
    return String(cString: text)
}
