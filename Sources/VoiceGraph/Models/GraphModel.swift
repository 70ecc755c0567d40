// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit
import Observation

/// A graph that plays, for views: its nodes and links, what they are set to, how they are, and when audio was late.
@MainActor @Observable public final class GraphModel {
    /// A node.
    public struct Node: Sendable, Equatable, Identifiable {
        /// Its name in the graph.
        public var name: String
        /// Its type.
        public var type: String
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
    }

    /// In the order of the graph.
    public private(set) var nodes: [Node] = []
    /// In the order of the graph.
    public private(set) var links: [LinkDescription] = []
    /// "running", "stalled", "lost", "waiting" or "stopped", as of `Status`; nil: it does not play.
    public private(set) var state: String?
    /// When audio was late last, and by whose fault: the newest at the end.
    public private(set) var dropouts: [Dropout] = []
    private let host: Host
    @ObservationIgnored private var reader: HostReader?
    @ObservationIgnored private var isReading = false
    @ObservationIgnored private var isStale = false

    /// Follows what `host` plays.
    public init(_ host: Host) {
        self.host = host
        reader = HostReader(host) { published in
            guard case .event(let event) = published else { return false }
            return Self.telling.contains(event.name)
        } take: { [weak self] _ in
            self?.refresh()
            return self != nil
        }
        refresh()
    }

    /// Reads everything again; of many calls at once, once. A program that loads or stops a graph calls it: that is no event.
    public func refresh() {
        isStale = true
        guard !isReading else { return }
        isReading = true
        Task { @MainActor [weak self, host] in
            while let self, isStale {
                isStale = false
                let look = await host.look()
                (nodes, links, state, dropouts) = (look.nodes, look.links, look.state, look.dropouts)
            }
            self?.isReading = false
        }
    }

    /// What changes what is shown.
    private nonisolated static let telling: Set<String> = Set(
        [
            HostEvent.changed, HostEvent.parameterChanged, HostEvent.switched, HostEvent.health, HostEvent.silenced,
            HostEvent.heard, HostEvent.stalled, HostEvent.resumed, HostEvent.serverLost, HostEvent.serverBack,
            HostEvent.serverFound, HostEvent.format, HostEvent.dropout,
        ].map(\.name))
}

extension Host {
    fileprivate func look() -> (
        nodes: [GraphModel.Node], links: [LinkDescription], state: String?, dropouts: [Dropout]
    ) {
        let status = status
        let parameters = parameters
        let nodes = (description?.nodes ?? []).map { node in
            GraphModel.Node(
                name: node.name, type: node.type, trouble: status?.degraded[node.name], isMuted: node.mute,
                isBypassed: node.bypass,
                parameters: Dictionary(
                    (parameters[node.name] ?? []).map { ($0.parameter.key, $0.value) }, uniquingKeysWith: { $1 }))
        }
        return (nodes, description?.links ?? [], status?.state, dropouts)
    }
}
