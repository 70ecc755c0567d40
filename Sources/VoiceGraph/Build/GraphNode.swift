// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import Synchronization

/// A node of a `Graph`. Each type of nodes has a type of its own, with its settings and parameters: `Gain`, `Meter`, `TTS`;
/// `AnyNode` has whatever there is at run time, `OwnNode` what this program declares.
public protocol GraphNode: GraphPart {
    /// What the graph is told of it.
    var node: PlacedNode { get set }
}

/// What a graph is told of a node.
public struct PlacedNode: Sendable {
    /// As a file would say it; the name is empty where none was given.
    public var description: NodeDescription
    let identity: NodeIdentity
    /// The type, where it is one of this program.
    var type: ProgramType?

    /// Describes a node; what is nil is not said. The place is that in the program.
    public init(
        _ name: String?, type: String, _ given: [(String, SettingValue?)] = [], file: String, line: UInt, column: UInt
    ) {
        let place = SourceLocation(file: file, line: Int(line), column: Int(column))
        let said = given.compactMap { key, value in value.map { (key, $0) } }
        let entries = said.map { ($0.0, Entry($0.1, keyLocation: place, valueLocation: place)) }
        description = NodeDescription(
            name: name ?? "", type: type, entries: Dictionary(entries, uniquingKeysWith: { $1 }), keys: said.map(\.0),
            location: place, typeLocation: place)
        identity = name.map(NodeIdentity.named) ?? .unnamed(NodeIdentity.numbers.add(1, ordering: .relaxed).newValue)
    }
}

/// By what two mentions of a node are known to be one.
enum NodeIdentity: Sendable, Hashable {
    case named(String)
    case unnamed(Int)

    static let numbers = Atomic(0)
}

extension GraphNode {
    /// The node alone.
    public var chain: Chain {
        let end = Chain.End(node: node.identity, port: nil)
        return Chain(nodes: [node], first: end, last: end)
    }

    /// One of its ports or parameters, as an end of a link: `lfo => gain["gain_db"]`.
    public subscript(port: String) -> Chain {
        let end = Chain.End(node: node.identity, port: port)
        return Chain(nodes: [node], first: end, last: end)
    }

    /// With another value for a key of its table, also one that nodes of every type have.
    public func with(_ key: String, _ value: SettingValue) -> Self {
        var changed = self
        let place = node.description.location
        let entry = Entry(value, keyLocation: place, valueLocation: place)
        // What cannot be read stays an entry, which no type takes.
        if changed.node.description.set(key, entry) != nil {
            changed.node.description.entries[key] = entry
        }
        return changed
    }

    /// Silent; it runs on.
    public func muted(_ isMuted: Bool = true) -> Self { with("mute", .bool(isMuted)) }

    /// What goes in is heard in place of what comes out; it runs on.
    public func bypassed(_ isBypassed: Bool = true) -> Self { with("bypass", .bool(isBypassed)) }

    /// The graph does not run without it, or does.
    public func required(_ isRequired: Bool = true) -> Self { with("required", .bool(isRequired)) }

    /// In a process of its own: for LV2 and other plugins.
    public func isolated(_ isIsolated: Bool = true) -> Self { with("isolate", .bool(isIsolated)) }

    /// What it tells of texts and recordings is kept in the archive, as of `speaker` if one is named.
    public func kept(as speaker: String? = nil) -> Self {
        let kept = with("keep", .bool(true))
        return speaker.map { kept.with("speaker", .string($0)) } ?? kept
    }
}

/// A node of whatever type, by its name.
public struct AnyNode: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// A node of a type that need not be known when this is compiled.
    public init(
        _ name: String? = nil, type: String, _ given: [String: SettingValue] = [:], file: String = #fileID,
        line: UInt = #line, column: UInt = #column
    ) {
        node = PlacedNode(
            name, type: type, given.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, file: file, line: line,
            column: column)
    }
}

/// A node of a type of this program. The host that loads the graph is told of the type.
public struct OwnNode: GraphNode {
    /// What the graph is told of it.
    public var node: PlacedNode

    /// A node of `type` with these settings and parameters.
    public init<N: Node & SendableMetatype>(
        _ type: N.Type, _ name: String? = nil, _ given: [String: SettingValue] = [:], file: String = #fileID,
        line: UInt = #line, column: UInt = #column
    ) {
        self.init(
            ProgramType(type), type.descriptor.name, name, given.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            file: file, line: line, column: column)
    }

    init(
        _ type: ProgramType, _ typeName: String, _ name: String?, _ given: [(String, SettingValue)], file: String,
        line: UInt, column: UInt
    ) {
        node = PlacedNode(name, type: typeName, given.map { ($0.0, $0.1) }, file: file, line: line, column: column)
        node.type = type
    }
}

/// A type of nodes of this program.
struct ProgramType: Sendable {
    let register: @Sendable (Host) throws(Fault) -> Void
    /// What lives as long as a graph that has it.
    private let kept: (any Sendable)?

    init<N: Node & SendableMetatype>(_ type: N.Type, keeping kept: (any Sendable)? = nil) {
        self.kept = kept
        register = { host throws(Fault) in try host.register(N.self) }
    }
}
