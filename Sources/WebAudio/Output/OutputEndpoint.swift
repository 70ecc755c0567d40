// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// How the stream from a `web-output` to one client is.
struct WebOutputStatus: Sendable, Equatable {
    /// Who listens.
    var client: String
    /// Seconds from when the graph gives a frame until it leaves the client's buffer; nil: the client has not reported.
    var latency: Double?
    /// Seconds that should wait in the client's buffer.
    var target: Double
    /// Frames that were not pulled in time, at the graph's rate.
    var dropped: Int
}

/// What the control half of a `web-output` and its clients share.
final class OutputEndpoint: WebEndpoint, @unchecked Sendable {
    // Sendable: everything that changes is reached with the monitor's lock only.
    private var pipe: OutputPipe?
    private var listeners: [OutputListener] = []
    /// Of listeners that have left.
    private var pastDropped = 0

    override var state: (rate: Double, clients: [String]) { (pipe?.rate ?? 0, listeners.map(\.name)) }

    override var mostClients: Int { OutputFeed.slots }

    override func leaveAll() { for listener in listeners { leave(listener) } }

    // By the node.

    /// Goes on with another pipe; the one before must not be processed any more.
    func use(_ pipe: OutputPipe) {
        monitor.locked {
            self.pipe = pipe
            for listener in listeners { listener.restart(pipe) }
        }
    }

    /// Of each listener, and the frames that all who ever listened have lost.
    var status: (listeners: [WebOutputStatus], dropped: Int) {
        monitor.locked {
            (listeners.map(Self.status), listeners.reduce(pastDropped) { $0 + $1.dropped })
        }
    }

    private static func status(of listener: OutputListener) -> WebOutputStatus {
        WebOutputStatus(
            client: listener.name, latency: listener.latency, target: listener.target, dropped: listener.dropped)
    }

    // By streams.

    func open(rate: Double, channels: Int, client name: String) throws(Fault) -> WebOutputStream {
        try monitor.locked { () throws(Fault) in
            guard !isEnded, let pipe else { throw gone }
            guard let map = ChannelMap(from: self.channels, to: channels) else {
                throw Fault(
                    "'\(node)' has \(self.channels) channels, of which \(channels) cannot be made",
                    hint: "play 1 channel or \(self.channels)")
            }
            let taken = Set(listeners.map(\.slot))
            guard let slot = (0..<OutputFeed.slots).first(where: { !taken.contains($0) }) else {
                throw Fault("\(OutputFeed.slots) clients listen to '\(node)' already", hint: "wait until one has left")
            }
            let listener = OutputListener(
                name: name, number: nextNumber(), rate: rate, map: map, buffer: buffer, clock: clock)
            try listener.begin(pipe, slot: slot)
            listeners.append(listener)
            return WebOutputStream(self, number: listener.number, channels: channels, rate: rate)
        }
    }

    func close(_ number: Int) { with(number) { leave($0) } }

    /// Calls `body` for a listener that is still there; nil: it is not.
    func with<Result>(_ number: Int, _ body: (OutputListener) -> Result) -> Result? {
        monitor.locked { listeners.first { $0.number == number }.map(body) }
    }

    func status(_ number: Int) -> WebOutputStatus? { with(number, Self.status) }

    private func leave(_ listener: OutputListener) {
        pastDropped += listener.dropped
        pipe?.close(listener.slot)
        listeners.removeAll { $0 === listener }
    }
}
