// SPDX-License-Identifier: Apache-2.0
import API
import Host
import NIOCore

/// All clients of the WebSocket: what happens is read once, and given to each. The loop's thread only.
final class LiveHub: @unchecked Sendable {
    // Sendable: the loop's thread alone touches what changes.

    let host: Host
    let calls: CallTable
    let access: Access
    let feed: EventFeed
    private(set) var frames: LevelFrames?
    private let loop: any EventLoop
    private var clients: [ObjectIdentifier: LiveClient] = [:]
    private var turns: RepeatedTask?
    private var isWatching = false
    private var statusAt = NIODeadline.uptimeNanoseconds(0)
    private var pingAt = NIODeadline.now()

    /// Frames of levels go out at most so often.
    private static let turn = TimeAmount.nanoseconds(16_666_667)
    /// Without a client what happens is only remembered.
    private static let idleTurn = TimeAmount.seconds(1)

    init(_ host: Host, _ calls: CallTable, _ access: Access, _ feed: EventFeed, _ loop: any EventLoop) {
        (self.host, self.calls, self.access, self.feed, self.loop) = (host, calls, access, feed, loop)
    }

    /// Begins to remember what happens.
    func begin() {
        feed.advance()
        schedule()
    }

    /// Takes a client in.
    func add(_ client: LiveClient) {
        clients[ObjectIdentifier(client)] = client
        schedule()
    }

    /// A client has gone.
    func remove(_ client: LiveClient) {
        clients[ObjectIdentifier(client)] = nil
        wishesChanged()
        schedule()
    }

    /// Somebody asks for other series, or for events.
    func wishesChanged() {
        let readers = clients.values.filter { $0.wants("series") }
        if readers.isEmpty {
            frames = nil
        } else {
            if frames == nil { frames = LevelFrames(host) }
            frames?.ask(for: readers.reduce(into: []) { $0.formUnion($1.reader.wanted) })
        }
    }

    /// Ends all connections, and tells why.
    func close() {
        turns?.cancel()
        turns = nil
        for client in clients.values { client.close(.goingAway) }
    }

    private func schedule() {
        let watches = !clients.isEmpty
        guard turns == nil || watches != isWatching else { return }
        turns?.cancel()
        isWatching = watches
        let time = watches ? Self.turn : Self.idleTurn
        turns = loop.scheduleRepeatedTask(initialDelay: time, delay: time) { [weak self] _ in self?.step() }
    }

    private func step() {
        let goesOn = feed.advance()
        guard !clients.isEmpty else { return }
        let now = NIODeadline.now()
        frames?.advance()
        let asksForPing = now >= pingAt
        if asksForPing { pingAt = now + Limits.ping }
        for client in clients.values {
            client.step()
            if asksForPing { client.ping(now) }
        }
        if !goesOn { return close() }
        guard now >= statusAt else { return }
        statusAt = now + .seconds(1)
        tellStatus()
    }

    /// Once a second, the same to all.
    private func tellStatus() {
        Task { [host, loop, hub = self] in
            guard let status = await host.status else { return }
            let line = EventJSON.encode(status, event: HostEvent.status.name)
            loop.execute { hub.tell(ByteBuffer(string: line)) }
        }
    }

    private func tell(_ line: ByteBuffer) {
        for client in clients.values where client.wants(HostEvent.status.name) { client.tellStatus(line) }
    }
}
