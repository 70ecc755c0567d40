// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// What the control half of a node and its clients share, whichever way the audio goes.
class WebEndpoint: @unchecked Sendable {
    // Sendable: everything that changes, also in classes of its kind, is reached with the monitor's lock only.
    let node: String
    let channels: Int
    /// Seconds that should wait; nil: as a client's jitter asks for.
    let buffer: Double?
    let clock: WebClock
    let monitor = Monitor()
    private var numbers = 0
    private(set) var isEnded = false

    init(node: String, channels: Int, buffer: Double?, clock: WebClock) {
        (self.node, self.channels, self.buffer, self.clock) = (node, channels, buffer, clock)
    }

    /// Of the graph, in Hz, and who streams; with the lock.
    var state: (rate: Double, clients: [String]) { (0, []) }

    /// How many may stream at a time.
    var mostClients: Int { 0 }

    /// Ends all streams; with the lock.
    func leaveAll() {}

    /// How its streams are; there are none before the node is prepared, and once it has ended.
    var streamState: StreamState {
        monitor.locked {
            let (rate, clients) = state
            return StreamState(
                channels: channels, rate: isEnded ? 0 : rate, clients: clients.count,
                isFull: clients.count >= mostClients)
        }
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
