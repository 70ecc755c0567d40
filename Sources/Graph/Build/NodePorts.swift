// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// The ports of one node as links see them, by index in its layout.
struct NodePorts {
    /// One direction.
    struct Side {
        /// The channels of the main bus.
        var main: [Int] = []
        /// Side buses by name.
        var buses: [String: [Int]] = [:]
        /// Ports that are not audio, by kind.
        var others: [UInt32: [Int]] = [:]
        /// Every port by symbol.
        var symbols: [String: Int] = [:]

        /// The ports of a kind that a link without port names means.
        func ports(_ kind: vg_port_kind) -> [Int] {
            kind == VG_AUDIO_PORT ? main : others[kind.rawValue] ?? []
        }

        fileprivate mutating func add(_ port: Port, _ index: Int) {
            if symbols[port.symbol] == nil { symbols[port.symbol] = index }
            if let bus = port.bus {
                buses[bus, default: []].append(index)
            } else if port.kind == VG_AUDIO_PORT {
                main.append(index)
            } else {
                others[port.kind.rawValue, default: []].append(index)
            }
        }
    }

    /// What an end of a link stands for.
    enum Selection {
        /// The node as a whole.
        case whole
        /// Ports of one kind, named by symbol or by side bus.
        case ports(vg_port_kind, [Int])
        /// A parameter.
        case parameter(Int)
    }

    let instance: NodeInstance
    private(set) var inputs = Side()
    private(set) var outputs = Side()

    init(_ instance: NodeInstance) {
        self.instance = instance
        for (index, port) in instance.ports.enumerated() {
            if port.direction == VG_INPUT { inputs.add(port, index) } else { outputs.add(port, index) }
        }
    }

    func side(_ direction: vg_direction) -> Side { direction == VG_INPUT ? inputs : outputs }

    /// Finds what an end names; nil when there is no such port, bus or parameter in this direction.
    func select(_ end: Endpoint, _ direction: vg_direction) -> Selection? {
        guard let name = end.port else { return .whole }
        let side = side(direction)
        if let index = side.symbols[name] { return .ports(instance.ports[index].kind, [index]) }
        if let bus = side.buses[name] { return .ports(instance.ports[bus[0]].kind, bus) }
        if direction == VG_INPUT, let index = instance.parameterIndex(name) { return .parameter(index) }
        return nil
    }

    /// What a link may name in this direction.
    func names(_ direction: vg_direction) -> [String] {
        let ports = instance.ports.lazy.filter { $0.direction == direction }.map(\.symbol)
        let buses = side(direction).buses.keys.sorted()
        return Array(ports) + buses + (direction == VG_INPUT ? instance.parameters.map(\.key) : [])
    }

    /// "2 audio ports (out_1, out_2) and 1 message port (text)", or "no outputs".
    func summary(_ direction: vg_direction) -> String {
        let side = side(direction)
        let parts = [VG_AUDIO_PORT, VG_CONTROL_PORT, VG_MIDI_PORT, VG_MESSAGE_PORT].compactMap { kind -> String? in
            let ports = side.ports(kind)
            return ports.isEmpty ? nil : count(ports, kind)
        }
        let none = direction == VG_INPUT ? "no inputs" : "no outputs"
        return parts.isEmpty ? none : parts.joined(separator: " and ")
    }

    /// "2 audio ports (out_1, out_2)".
    func count(_ ports: [Int], _ kind: vg_port_kind) -> String {
        let names = ports.prefix(8).map { instance.ports[$0].symbol }.joined(separator: ", ")
        return
            "\(ports.count) \(kindName(kind)) port\(ports.count == 1 ? "" : "s") (\(names)\(ports.count > 8 ? ", ..." : ""))"
    }
}
