// SPDX-License-Identifier: Apache-2.0
import API
import NIOCore

/// Whom a server takes for one client: where it is, and which token it knows. Each has bounds of its own, so that one cannot
/// take the place of all.
struct Party: Hashable, Sendable {
    var address: String
    /// The right of its token; nil: it has shown none.
    var right: Right?
}

/// One connection, of whatever it speaks. The loop's thread only.
final class Connection: @unchecked Sendable {
    // Sendable: the loop's thread alone touches it.

    let channel: any Channel
    private(set) var party: Party
    /// Whether it is a WebSocket.
    var isSocket = false
    /// Whether a request of it is read or answered.
    private(set) var isBusy = false
    /// When a request of it began or ended last.
    private(set) var lastUse = NIODeadline.now()

    init(_ channel: any Channel) {
        self.channel = channel
        party = Party(address: channel.remoteAddress?.ipAddress ?? "")
    }

    /// A request begins, with the right of its token.
    func begin(_ right: Right?) {
        if let right { party.right = right }
        (isBusy, lastUse) = (true, .now())
    }

    /// It is answered.
    func finish() { (isBusy, lastUse) = (false, .now()) }
}

/// All connections, so that those who know nothing cannot take the place of those who do, nor one that of others. The loop's
/// thread only.
final class Connections {
    private var all: [ObjectIdentifier: Connection] = [:]
    /// Those that came when there was no room, or had to make some.
    private(set) var refused = 0

    /// Takes a connection in; nil: there is no room.
    func add(_ channel: any Channel) -> Connection? {
        if all.count >= Limits.connections, !makeRoom() {
            refused += 1
            return nil
        }
        let connection = Connection(channel)
        all[ObjectIdentifier(connection)] = connection
        return connection
    }

    /// One has ended.
    func remove(_ connection: Connection) { all[ObjectIdentifier(connection)] = nil }

    /// Whether there are none.
    var isEmpty: Bool { all.isEmpty }

    /// Whether a client may have one more WebSocket.
    func hasSocketRoom(for party: Party) -> Bool {
        let sockets = all.values.filter(\.isSocket)
        return sockets.count < Limits.sockets && sockets.count { $0.party == party } < Limits.socketsOfOne
    }

    /// Ends all.
    func closeAll() { for connection in all.values { connection.channel.close(promise: nil) } }

    private func makeRoom() -> Bool {
        let others = all.values.filter { !$0.isSocket }
        let idle = others.filter { !$0.isBusy }
        let strangers = idle.filter { $0.party.right == nil }
        guard
            let connection = Self.oldest(strangers, more: 0) ?? Self.oldest(idle, more: 0)
                // Who has so many has enough left.
                ?? Self.oldest(others, more: Limits.calls)
        else { return false }
        refused += 1
        remove(connection)
        connection.channel.close(promise: nil)
        return true
    }

    /// Of the client that has most of these, and more than so many, the one whose last use is longest ago.
    private static func oldest(_ some: [Connection], more least: Int) -> Connection? {
        let most = Dictionary(grouping: some, by: \.party).values.max { $0.count < $1.count } ?? []
        return most.count > least ? most.min { $0.lastUse < $1.lastUse } : nil
    }
}
