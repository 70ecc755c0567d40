// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// What the nodes of a graph are for people: which of them speak, transcribe, answer, record or are drawn, and which events
/// tell how they stand. Faces and commands ask it, and know no type.
public struct FaceModel: Sendable {
    /// One node.
    public struct Part: Sendable {
        /// Its name.
        public var node: String
        /// What it is for people.
        public var roles: Set<Role>
        /// Whether it measures levels.
        public var hasLevels: Bool
        /// Whether it can be made louder and quieter, by the parameter `FaceModel.gain`.
        public var hasGain: Bool
        /// The role whose state an event tells, by the event's name.
        fileprivate var states: [String: Role]
        /// The names of what it tells.
        fileprivate var events: Set<String>

        /// Describes a node by what it declares.
        public init(node: String, declarations: NodeDeclarations, parameters: [Parameter]) {
            self.node = node
            roles = Set(declarations.roles)
            hasLevels = declarations.series.contains { $0.name == SeriesFrame.peak }
            hasGain = parameters.contains { $0.key == FaceModel.gain }
            events = Set(declarations.events.map(\.name))
            states = [:]
            for role in declarations.roles {
                if let event = role.state(among: declarations.events) { states[event.name] = role }
            }
        }
    }

    /// The parameter that makes a node louder or quieter, in dB.
    public static let gain = "gain_db"

    private let parts: [String: Part]
    private let order: [String]

    /// Describes the nodes in their order.
    public init(_ parts: [Part] = []) {
        order = parts.map(\.node)
        self.parts = Dictionary(parts.map { ($0.node, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The node of this name; nil: there is none, or it was left out.
    public subscript(_ node: String) -> Part? { parts[node] }

    /// Whether a node has a role.
    public func has(_ role: Role, _ node: String?) -> Bool {
        node.map { parts[$0]?.roles.contains(role) == true } ?? false
    }

    /// The nodes that have a role, in the order of the file.
    public func nodes(_ role: Role) -> [String] { order.filter { has(role, $0) } }

    /// The chosen node if it has the role, or else the first that has it.
    public func first(_ role: Role, chosen: String? = nil) -> String? {
        has(role, chosen) ? chosen : nodes(role).first
    }

    /// Who takes dictation: whoever transcribes, unless somebody answers what is said.
    public func dictation(chosen: String? = nil) -> String? {
        nodes(.converses).isEmpty ? first(.transcribes, chosen: chosen) : nil
    }

    /// The role whose state an event tells; nil: it tells none.
    public func state(_ event: Event) -> Role? { event.node.flatMap { parts[$0]?.states[event.name] } }

    /// Whether a node tells an event of its own accord, and not the host of the node.
    public func isOwn(_ event: Event) -> Bool { event.node.flatMap { parts[$0]?.events.contains(event.name) } == true }
}

extension Host {
    /// What the nodes that play are for people; of none unless a graph plays.
    public var face: FaceModel {
        FaceModel(
            (wiring?.nodes ?? []).map { node in
                let instance = node.instance
                return FaceModel.Part(
                    node: instance.name, declarations: instance.declarations, parameters: instance.parameters)
            })
    }
}
