// SPDX-License-Identifier: Apache-2.0
import Host
import Observation

/// A graph that plays, for views: its nodes and links, what they are set to, how they are, and when audio was late.
@MainActor @Observable public final class GraphModel {
    /// In the order of the graph.
    public private(set) var nodes: [GraphLook.Node] = []
    /// In the order of the graph.
    public private(set) var links: [GraphLook.Link] = []
    /// "running", "stalled", "lost", "waiting" or "stopped", as of `Status`; nil: it does not play.
    public private(set) var state: String?
    /// What was late last, and by whose fault: the newest at the end.
    public private(set) var late: [GraphLook.LateAudio] = []
    private let host: any GraphHost
    @ObservationIgnored private var reader: HostReader?
    @ObservationIgnored private var isReading = false
    @ObservationIgnored private var isStale = false

    /// Follows what `host` plays.
    public init(_ host: any GraphHost) {
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
                // A host elsewhere that does not answer plays nothing that could be shown.
                let look = try? await host.look()
                (nodes, links) = (look?.nodes ?? [], look?.links ?? [])
                (state, late) = (look?.state, look?.late ?? [])
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
