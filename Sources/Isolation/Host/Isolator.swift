// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import System

/// Gives node types a second form, whose nodes live in child processes. One per host: the nodes that share a child are
/// those of one host. [control]
public final class Isolator: Sendable {
    /// A child, and what became of its nodes.
    public struct Child: Sendable, Equatable {
        /// Its process; nil: there is none just now.
        public var process: Int32?
        /// The nodes in it.
        public var nodes: [String]
        /// How often it was started again.
        public var restarts: Int
        /// Blocks that were asked of it.
        public var asked: UInt64
        /// Waits that ended without an answer.
        public var timeouts: UInt64
        /// Blocks that went past it.
        public var bypassed: UInt64
        /// The longest wait in vain, in seconds.
        public var longestWait: Double
    }

    /// What is told of every isolated node, besides what its type declares.
    static let events = [
        EventType(
            "plugin.failed", "its process ended, or was ended because the node hung or gave no audio",
            fields: [
                Field("plugin", VG_STRING, "the plugin"), Field("reason", VG_STRING, "what happened, for people"),
                Field("cause", VG_STRING, "signal, exit, hang, nan, memory or refused"),
                Field("signal", VG_STRING, "the signal that ended the process, or nothing"),
                Field("process", VG_INTEGER, "the id of the process"),
                Field("culprit", VG_STRING, "the nodes of the process that were at fault"),
            ], kind: .failure),
        EventType(
            "plugin.started", "it runs again after its process ended",
            fields: [
                Field("plugin", VG_STRING, "the plugin"),
                Field("restarts", VG_INTEGER, "how often its process was started again"),
            ], says: "[the plugin {plugin}|its plugin] runs again"),
        EventType(
            "plugin.late", "blocks went past it because it did not answer in time",
            fields: [
                Field("plugin", VG_STRING, "the plugin"), Field("blocks", VG_INTEGER, "blocks since the last time"),
            ], kind: .loss, says: "{blocks:block} went past it: [the plugin {plugin}|its plugin] did not answer in time"
        ),
    ]

    private struct Key: Hashable {
        var type: UInt
        var isGroup: Bool
    }
    private struct State {
        // The pointers lead to types, which live as long as the process.
        nonisolated(unsafe) var types: [Key: UnsafePointer<vg_node_type>] = [:]
        var supervisors: [Weak] = []
    }
    private struct Weak { weak var supervisor: Supervisor? }

    private let state = Lock(State())
    let isolation: Isolation
    private let group: Supervisor
    private let hung = HungNodes()

    /// One without nodes; `isolation` says how they will be run.
    public init(_ isolation: Isolation = .shared) {
        self.isolation = isolation
        group = Supervisor(isolation)
    }

    /// A type that looks like `type`, which comes from the shared object `path` (empty: from the program itself).
    public func isolated(
        _ type: UnsafePointer<vg_node_type>, path: String, isGroup: Bool
    ) -> UnsafePointer<vg_node_type>? {
        let key = Key(type: UInt(bitPattern: type), isGroup: isGroup)
        if let made = state.withLock({ $0.types[key] }) { return made }
        guard var descriptor = NodeDescriptor(type) else { return nil }
        let hasAudio = descriptor.process != nil
        descriptor.process = hasAudio ? isolatedProcess : nil
        // It cannot take part of a block: the child does a whole one.
        descriptor.absorb = nil
        descriptor.flags = UInt32(VG_IN_PLACE)
        let (actions, series) = (descriptor.actions, descriptor.series.count)
        descriptor.events += Self.events.filter { event in !descriptor.events.contains { $0.name == event.name } }
        var calls: NodeCalls = [.receive, .poll, .latency, .wait]
        let extensions = TypeExtensions(type.pointee)
        if extensions.ending?.pointee.idle != nil { calls.insert(.idle) }
        if extensions.actions?.pointee.perform != nil { calls.insert(.perform) }
        if extensions.liveSettings != nil { calls.insert(.settings) }
        if extensions.ending?.pointee.finish != nil { calls.insert(.finish) }
        let name = descriptor.name
        let takesState = descriptor.settings.contains { $0.key == "state" }
        let variables = descriptor.settings.filter { $0.reach == .variable }.map(\.key)
        let made = makeNodeType(IsolatedNode.self, as: descriptor, calls: calls) {
            [weak self, isolation, hung] (settings, host) throws(NodeError) in
            let recipe = IsolatedInstance.Recipe(
                type: name, path: path, name: host.nodeName, settings: settings,
                variables: variables.compactMap { settings.string($0) }, actions: actions, series: series,
                takesState: takesState, hasAudio: hasAudio)
            try hung.check(recipe)
            let supervisor = isGroup ? self?.group ?? Supervisor(isolation) : Supervisor(isolation)
            self?.state.withLock { state in
                state.supervisors.removeAll { $0.supervisor == nil || $0.supervisor === supervisor }
                state.supervisors.append(Weak(supervisor: supervisor))
            }
            return try IsolatedNode(recipe, host, supervisor, hung)
        }
        state.withLock { $0.types[key] = made }
        return made
    }

    /// The nodes that there are, for tests.
    var instances: [IsolatedInstance] {
        state.withLock(\.supervisors).compactMap(\.supervisor).flatMap { supervisor in
            supervisor.state.withLock { state in state.admitted.sorted().compactMap { state.instances[$0] } }
        }
    }

    /// The children that there are, or should be.
    public var children: [Child] {
        state.withLock(\.supervisors).compactMap { $0.supervisor?.report }
    }
}

extension Supervisor {
    fileprivate var report: Isolator.Child? {
        let (process, instances, restarts) = state.withLock { state in
            (state.child?.process, state.admitted.sorted().compactMap { state.instances[$0] }, state.restarts)
        }
        guard !instances.isEmpty else { return nil }
        var child = Isolator.Child(
            process: process, nodes: instances.map(\.recipe.name), restarts: restarts, asked: 0, timeouts: 0,
            bypassed: 0, longestWait: 0)
        for instance in instances {
            child.asked += instance.link.pointee.asked.load(ordering: .relaxed)
            child.timeouts += instance.link.pointee.timeouts.load(ordering: .relaxed)
            child.bypassed += instance.link.pointee.bypassed.load(ordering: .relaxed)
            let wait = Double(instance.link.pointee.longestWait.load(ordering: .relaxed)) * 1e-9
            child.longestWait = max(child.longestWait, wait)
        }
        return child
    }
}
