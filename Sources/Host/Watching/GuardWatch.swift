// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// Tells of nodes that their guards silence because of what they give, and of their return.
final class GuardWatch: Sendable {
    private let context: GraphContext
    /// Those that are silenced.
    private let silenced = Lock<Set<String>>([])

    init(_ context: GraphContext) { self.context = context }

    /// Looks at the guards of nodes. [control]
    func look(at nodes: [NodeInstance]) {
        for node in nodes {
            let reading = node.guardReading
            let name = node.name
            let was = silenced.withLock { silenced in
                defer { if reading.isClosed { silenced.insert(name) } else { silenced.remove(name) } }
                return silenced.contains(name)
            }
            guard was != reading.isClosed else { continue }
            context.reports.set(name, silenced: reading.isClosed ? reading.reason : nil)
            context.tell(
                reading.isClosed ? HostEvent.silenced : HostEvent.heard, node: name,
                [
                    "reason": .string(reading.reason), "blocks": .integer(Int64(clamping: reading.badBlocks)),
                ])
        }
    }
}
