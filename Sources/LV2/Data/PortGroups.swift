// SPDX-License-Identifier: Apache-2.0
import CLilv

/// Which audio ports of a plugin belong to side buses, by the port groups that its data declares. Valid inside
/// `World.locked` only.
///
/// A port is on a side bus when it is a side chain itself, when its group is the side chain of another, or when the
/// plugin names a main group for its direction and the port is in a different one. A plugin that groups its ports
/// without naming a main group means them all to be used alike.
struct PortGroups {
    private let lilv: Lilv
    private let plugin: OpaquePointer
    private let mainInputs: [String]
    private let mainOutputs: [String]

    init(_ lilv: Lilv, _ plugin: OpaquePointer) {
        self.lilv = lilv
        self.plugin = plugin
        mainInputs = lilv.take(list: lilv_plugin_get_value(plugin, lilv.constant(VG_PORT_GROUPS__mainInput)))
        mainOutputs = lilv.take(list: lilv_plugin_get_value(plugin, lilv.constant(VG_PORT_GROUPS__mainOutput)))
    }

    /// The side bus of an audio port, nil for the main bus.
    func bus(of port: OpaquePointer, symbol: String, sideChain: Bool) -> String? {
        guard let group = lilv_port_get(plugin, port, lilv.constant(VG_PORT_GROUPS__group)) else {
            return sideChain ? "sidechain" : nil
        }
        defer { lilv_node_free(group) }
        let isInput = lilv_port_is_a(plugin, port, lilv.constant(VG_CORE__InputPort))
        let main = isInput ? mainInputs : mainOutputs
        let isSide =
            sideChain || lilv.object(of: group, VG_PORT_GROUPS__sideChainOf) != nil
            || (!main.isEmpty && !main.contains(lilv.text(group)))
        guard isSide else { return nil }
        return lilv.object(of: group, VG_CORE__symbol) ?? shortNames(of: lilv.text(group))[0]
    }
}
