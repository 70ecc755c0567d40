// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// What is said in a graph, for views: one item for each utterance, by whoever makes text of it.
@MainActor @Observable public final class TranscriptModel {
    private var texts = TextItems()
    /// In the order in which they begin.
    public var items: [TextItem] { texts.items }
    @ObservationIgnored private var reader: HostReader?

    /// Follows the texts of `node`, by default of all nodes that tell some.
    public init(_ host: any GraphHost, node: String? = nil) {
        reader = HostReader(host) { published in
            guard case .event(let event) = published, case .text? = event.type?.role else { return false }
            return event.node != nil && (node == nil || event.node == node)
        } take: { [weak self] published in
            if case .event(let event) = published { self?.texts.take(event) }
            return self != nil
        }
    }

    /// Forgets what was said.
    public func clear() { texts = TextItems() }
}
