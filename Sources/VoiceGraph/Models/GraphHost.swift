// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit

/// A host whose graph a program follows and asks: a `Host` of its own, or a `RemoteHost` in another process or on another
/// machine. The models take either.
public protocol GraphHost: Sendable {
    /// See `Host.subscribe`. Audio of a graph elsewhere does not come.
    func subscribe(
        _ delivery: Delivery, series: Set<String>, where wants: @escaping @Sendable (Published) -> Bool,
        until isLast: @escaping @Sendable (Published) -> Bool
    ) -> Subscription
    /// See `Host.perform`.
    @discardableResult
    func perform(
        _ action: String, on node: String, _ arguments: [String: SettingValue], patience: Double
    ) async throws(Fault) -> [String: SettingValue]
    /// See `Host.set`.
    func set(_ node: String, _ parameter: String, to value: Float, at time: Double?) async throws(Fault)
    /// Silences a node, or not.
    func setMuted(_ node: String, _ isMuted: Bool) async throws
    /// The graph as it plays now; nil: none plays.
    func look() async throws(Fault) -> GraphLook?
}

/// A graph that plays, at one moment.
public struct GraphLook: Sendable, Equatable {
    /// A node.
    public struct Node: Sendable, Equatable, Identifiable {
        /// Its name in the graph.
        public var name: String
        /// Its type.
        public var type: String
        /// What it is for people.
        public var roles: Set<Role> = []
        /// Why it is not well, or silenced; nil: it is well.
        public var trouble: String?
        /// Whether nothing is heard of it.
        public var isMuted = false
        /// Whether what goes in is heard in place of what comes out.
        public var isBypassed = false
        /// What its parameters were last set to, by their keys.
        public var parameters: [String: Float] = [:]
        /// Its name.
        public var id: String { name }

        /// Describes a node that is well.
        public init(name: String, type: String) { (self.name, self.type) = (name, type) }
    }

    /// A link.
    public struct Link: Sendable, Equatable {
        /// Where the signal comes from, as "mic" or "mic.left".
        public var from: String
        /// Where it goes.
        public var to: String
        /// Gain of an audio link.
        public var gainDB: Double

        /// Describes a link.
        public init(from: String, to: String, gainDB: Double = 0) {
            (self.from, self.to, self.gainDB) = (from, to, gainDB)
        }
    }

    /// Audio that was late.
    public struct LateAudio: Sendable, Equatable {
        /// Whose fault it was.
        public var cause: Dropout.Cause
        /// What happened, in words.
        public var text: String

        /// Describes it.
        public init(cause: Dropout.Cause, text: String) { (self.cause, self.text) = (cause, text) }
    }

    /// In the order of the graph.
    public var nodes: [Node] = []
    /// In the order of the graph.
    public var links: [Link] = []
    /// "running", "stalled", "lost", "waiting" or "stopped", as of `Status`.
    public var state = ""
    /// Seconds of audio since the start.
    public var time = 0.0
    /// What was late last, the newest at the end.
    public var late: [LateAudio] = []

    /// Describes a graph.
    public init(nodes: [Node] = [], links: [Link] = [], state: String = "", time: Double = 0, late: [LateAudio] = []) {
        (self.nodes, self.links, self.state, self.time, self.late) = (nodes, links, state, time, late)
    }
}

extension GraphHost {
    /// The same with what is usual left out.
    @discardableResult
    public func perform(
        _ action: String, on node: String, _ arguments: [String: SettingValue] = [:]
    ) async throws(Fault) -> [String: SettingValue] {
        try await perform(action, on: node, arguments, patience: 10)
    }

    /// The chosen node if it has the role, or else the only one that has it. `does`: what it does, as "records".
    func only(_ role: Role, chosen: String?, does: String) async throws(Fault) -> String {
        let nodes = try await look()?.nodes.filter { $0.roles.contains(role) }.map(\.name) ?? []
        if let node = nodes.first(where: { $0 == chosen }) { return node }
        guard chosen == nil, let first = nodes.first else {
            throw Fault(
                chosen.map { "no node '\($0)' \(does)" } ?? "no node \(does)", hint: "add a node that does")
        }
        guard nodes.count == 1 else {
            let plural = does.hasSuffix("s") ? String(does.dropLast()) : does
            throw Fault("several nodes \(plural)", hint: "name one: \(nodes.joined(separator: ", "))")
        }
        return first
    }
}

extension Host: GraphHost {
    /// Silences a node, or not.
    public func setMuted(_ node: String, _ isMuted: Bool) async throws { _ = try await mute(node, isMuted) }

    /// The graph as it plays now; nil: none plays.
    public func look() -> GraphLook? {
        guard let status, let description else { return nil }
        let (parameters, face) = (parameters, face)
        return GraphLook(
            nodes: description.nodes.map { node in
                var look = GraphLook.Node(name: node.name, type: node.type)
                look.roles = face[node.name]?.roles ?? []
                look.trouble = status.degraded[node.name]
                (look.isMuted, look.isBypassed) = (node.mute, node.bypass)
                for state in parameters[node.name] ?? [] { look.parameters[state.parameter.key] = state.value }
                return look
            },
            links: description.links.map {
                GraphLook.Link(from: $0.from.description, to: $0.to.description, gainDB: $0.gainDB)
            }, state: status.state, time: status.time,
            late: dropouts.map { GraphLook.LateAudio(cause: $0.cause, text: $0.text) })
    }
}
