// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// One connection, of whatever it speaks. The loop's thread only.
final class Connection {
    let channel: any Channel
    /// Whether it has shown the token.
    var isKnown = false
    /// Whether it is a WebSocket.
    var isSocket = false

    init(_ channel: any Channel) { self.channel = channel }
}

/// All connections, so that those who know nothing cannot take the place of those who do. The loop's thread only.
final class Connections {
    private var all: [ObjectIdentifier: Connection] = [:]
    /// In the order in which they came.
    private var order: CircularBuffer<ObjectIdentifier> = []
    /// Those that came when there was no room, or had to make some.
    private(set) var refused = 0

    /// Takes a connection in; nil: there is no room.
    func add(_ channel: any Channel) -> Connection? {
        if all.count >= Limits.connections, !makeRoom() {
            refused += 1
            return nil
        }
        let connection = Connection(channel)
        let id = ObjectIdentifier(connection)
        all[id] = connection
        order.append(id)
        return connection
    }

    /// One has ended.
    func remove(_ connection: Connection) {
        all[ObjectIdentifier(connection)] = nil
        if order.count > 2 * Limits.connections { order.removeAll { all[$0] == nil } }
    }

    /// Whether there are none.
    var isEmpty: Bool { all.isEmpty }

    /// WebSockets among them.
    var sockets: Int { all.values.count(where: \.isSocket) }

    /// Ends all.
    func closeAll() { for connection in all.values { connection.channel.close(promise: nil) } }

    private func makeRoom() -> Bool {
        guard let oldest = order.first(where: { all[$0].map { !$0.isKnown } ?? false }), let stranger = all[oldest]
        else {
            return false
        }
        refused += 1
        remove(stranger)
        order.removeAll { $0 == oldest }
        stranger.channel.close(promise: nil)
        return true
    }
}
