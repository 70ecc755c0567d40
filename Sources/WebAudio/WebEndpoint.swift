// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// What the control half of a node and its clients share, whichever way the audio goes.
class WebEndpoint: @unchecked Sendable {
    // Sendable: everything that changes, also in classes of its kind, is reached with the monitor's lock only.
    let graph: String
    let node: String
    let direction: WebStreamDescription.Direction
    let channels: Int
    /// Seconds that should wait; nil: as a client's jitter asks for.
    let buffer: Double?
    let clock: WebClock
    let monitor = Monitor()
    private var numbers = 0
    private(set) var isEnded = false

    init(
        graph: String, node: String, _ direction: WebStreamDescription.Direction, channels: Int, buffer: Double?,
        clock: WebClock
    ) {
        (self.graph, self.node, self.direction, self.channels) = (graph, node, direction, channels)
        (self.buffer, self.clock) = (buffer, clock)
    }

    /// Of the graph, in Hz, and who streams; with the lock.
    var state: (rate: Double, clients: [String]) { (0, []) }

    /// Ends all streams; with the lock.
    func leaveAll() {}

    func isNamed(_ node: String, _ graph: String?) -> Bool { self.node == node && (graph ?? self.graph) == self.graph }

    var description: WebStreamDescription {
        let (rate, clients) = monitor.locked { state }
        return WebStreamDescription(
            graph: graph, node: node, direction: direction, channels: channels, rate: rate, clients: clients)
    }

    /// The node has ended.
    func end() {
        monitor.locked {
            isEnded = true
            leaveAll()
        }
    }

    /// What tells one more client from others; with the lock.
    func nextNumber() -> Int {
        numbers += 1
        return numbers
    }

    /// Why nothing can be opened when the node has gone.
    var gone: Fault { Fault("the node '\(node)' has ended") }
}
