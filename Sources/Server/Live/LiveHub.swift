// SPDX-License-Identifier: Apache-2.0
import API
import Host
import JSON
import NIOCore

/// Somebody who is told what happens. The loop's thread only.
protocol LiveListener: AnyObject {
    /// The series on request that it wants as frames of bytes; nil: it wants no frames.
    var levels: Set<String>? { get }
    /// Whether it is told events of a name, or "series".
    func wants(_ name: String) -> Bool
    /// Takes what has come, as far as it has room.
    func step()
    /// Takes how the host is, which only counts now, and is not for visitors.
    func tellStatus(_ line: ByteBuffer)
    /// Looks whether it is there; one that has not been heard of for long is not.
    func ping(_ now: NIODeadline)
    /// Ends, since the host does.
    func end()
}

/// All who are told: what happens is read once, and given to each. The loop's thread only.
final class LiveHub: @unchecked Sendable {
    // Sendable: the loop's thread alone touches what changes.

    let host: Host
    let calls: CallTable
    let access: Access
    let feed: EventFeed
    private(set) var frames: LevelFrames?
    private let loop: any EventLoop
    private var clients: [ObjectIdentifier: any LiveListener] = [:]
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
    func add(_ client: any LiveListener) {
        clients[ObjectIdentifier(client)] = client
        schedule()
    }

    /// A client has gone.
    func remove(_ client: any LiveListener) {
        clients[ObjectIdentifier(client)] = nil
        wishesChanged()
        schedule()
    }

    /// Somebody asks for other series, or for events.
    func wishesChanged() {
        let wishes = clients.values.filter { $0.wants("series") }.compactMap(\.levels)
        if wishes.isEmpty {
            frames = nil
        } else {
            if frames == nil { frames = LevelFrames(host) }
            frames?.ask(for: wishes.reduce(into: []) { $0.formUnion($1) })
        }
    }

    /// Ends all connections, and tells why.
    func close() {
        turns?.cancel()
        turns = nil
        for client in clients.values { client.end() }
    }

    /// What the answer to `events` says of what somebody may do, as JSON.
    func rights(of caller: Caller) -> [(String, String)] {
        [("read_only", String(access.isReadOnly)), ("right", JSONText.string(caller.right.rawValue))]
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
