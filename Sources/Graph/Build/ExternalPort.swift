// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A port that the driver provides: one audio or MIDI port of an `input`, `output`, `midi-input` or `midi-output` node.
public struct ExternalPort: Sendable, Hashable {
    /// The node's name.
    public var node: String
    /// Counted from 1 within the node.
    public var number: Int
    /// Whether it carries MIDI; otherwise audio.
    public var isMIDI: Bool
    /// Whether the driver fills it; otherwise the driver takes it.
    public var isCapture: Bool
    /// Globs of the ports it wants to be connected to.
    public var connect: [String]

    /// Describes a port.
    public init(node: String, number: Int, isMIDI: Bool = false, isCapture: Bool, connect: [String] = []) {
        self.node = node
        self.number = number
        self.isMIDI = isMIDI
        self.isCapture = isCapture
        self.connect = connect
    }

    /// Whether it could be the same port but for its connections.
    public func isLike(_ other: ExternalPort) -> Bool {
        name == other.name && isMIDI == other.isMIDI && isCapture == other.isCapture
    }

    /// The longest name of a port, in bytes: with the longest name of a client before it, it is as long as a server takes.
    public static let longestName = 190

    /// The name that other programs see after the client's name and a colon.
    public var name: String { "\(node)_\(number)" }
}

extension ResolvedGraph {
    /// The driver's ports that it needs.
    public var externals: [ExternalPort] { nodes.flatMap(\.externals) }
}

extension ResolvedGraph.Node {
    /// The driver's ports for this node; none, unless it is the driver's.
    public var externals: [ExternalPort] {
        guard instance.isExternal else { return [] }
        var counts: [UInt32: Int] = [:]
        return instance.ports.compactMap { port in
            guard port.kind == VG_AUDIO_PORT || port.kind == VG_MIDI_PORT else { return nil }
            counts[port.kind.rawValue, default: 0] += 1
            return external(
                counts[port.kind.rawValue]!, isMIDI: port.kind == VG_MIDI_PORT, isCapture: port.direction == VG_OUTPUT)
        }
    }

    /// The driver's port for one of this node's ports.
    func external(_ number: Int, isMIDI: Bool, isCapture: Bool) -> ExternalPort {
        let wanted: [String] =
            switch description.entries["connect"]?.value {
            case .string(let glob): [glob]
            case .list(let globs): globs.compactMap { if case .string(let glob) = $0 { glob } else { nil } }
            default: []
            }
        return ExternalPort(
            node: instance.name, number: number, isMIDI: isMIDI, isCapture: isCapture, connect: wanted)
    }
}
