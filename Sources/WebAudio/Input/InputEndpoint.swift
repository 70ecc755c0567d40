// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// How the stream into a `web-input` is.
struct WebInputStatus: Sendable, Equatable {
    /// Who sends; nil: nobody.
    var client: String?
    /// Of the client, in Hz; 0: nobody sends.
    var rate = 0.0
    /// Seconds from when a frame arrives until the graph hears it; nil: nothing is heard.
    var latency: Double?
    /// Seconds that should wait.
    var target = 0.0
    /// How much faster the client's clock is than the graph's, in parts per million.
    var drift = 0.0
    /// How often nothing was there when it was to be heard, since the node was made.
    var underruns = 0
    /// Frames that did not arrive, at the client's rate.
    var lost = 0
    /// Frames that were there and were not played, because too much waited.
    var dropped = 0
    /// Samples that were no number or above +24 dBFS, and messages that made no sense.
    var unfit = 0
}

/// What the control half of a `web-input` and its client share.
final class InputEndpoint: WebEndpoint, @unchecked Sendable {
    // Sendable: everything that changes is reached with the monitor's lock only.
    private var pipe: InputPipe?
    private var client: InputClient?
    /// Of pipes and clients before.
    private var past = WebInputStatus()

    override var state: (rate: Double, clients: [String]) { (pipe?.rate ?? 0, client.map { [$0.name] } ?? []) }

    override var mostClients: Int { 1 }

    override func leaveAll() { leave() }

    // By the node.

    /// Plays through another pipe from now on; the one before must not be processed any more.
    func use(_ pipe: InputPipe) {
        monitor.locked {
            past.underruns += self.pipe?.underruns ?? 0
            self.pipe = pipe
            pipe.setOpen(client != nil)
            client?.restart(pipe)
        }
    }

    var status: WebInputStatus {
        monitor.locked {
            var status = past
            status.underruns += pipe?.underruns ?? 0
            if let client { client.add(to: &status) }
            if pipe?.isPlaying != true { status.latency = nil }
            return status
        }
    }

    // By streams.

    func open(rate: Double, channels: Int, client name: String) throws(Fault) -> WebInputStream {
        try monitor.locked { () throws(Fault) in
            guard !isEnded, let pipe else { throw gone }
            if let client {
                throw Fault("'\(node)' is taken by another client: \(client.name)", hint: "wait until that has left")
            }
            guard let map = ChannelMap(from: channels, to: self.channels) else {
                throw Fault(
                    "'\(node)' has \(self.channels) channels, which cannot be made of \(channels)",
                    hint: "send 1 channel or \(self.channels)")
            }
            let client = InputClient(
                name: name, number: nextNumber(), rate: rate, map: map, buffer: buffer, clock: clock)
            try client.begin(pipe)
            self.client = client
            pipe.setOpen(true)
            return WebInputStream(self, number: client.number, channels: channels, rate: rate)
        }
    }

    func close(_ number: Int) { monitor.locked { if client?.number == number { leave() } } }

    func isOpen(_ number: Int) -> Bool { monitor.locked { client?.number == number } }

    func push(_ number: Int, _ position: UInt32, _ frames: UnsafeBufferPointer<Float>) -> Bool {
        monitor.locked {
            guard let client, client.number == number, let pipe else { return false }
            client.push(position, frames, to: pipe)
            return true
        }
    }

    private func leave() {
        guard let client else { return }
        var status = past
        client.add(to: &status)
        (past.lost, past.dropped, past.unfit) = (status.lost, status.dropped, status.unfit)
        self.client = nil
        pipe?.setOpen(false)
        // What the next client sends does not follow it.
        _ = pipe?.drop(keeping: 0)
    }
}
