// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// What a client can occupy.
enum Limits {
    /// Connections at a time. One that is idle makes room for a new one, first those that have shown no token.
    static let connections = 256
    /// WebSockets among them, and those of one client.
    static let sockets = 128
    static let socketsOfOne = 96
    /// Until the head of the first request is there.
    static let head = TimeAmount.seconds(10)
    /// Until the head of the next one is there, and for a body.
    static let rest = TimeAmount.seconds(30)
    /// Bytes of a head, and what is read of it at a time.
    static let headBytes = 16 << 10
    /// Bytes of a request's target.
    static let target = 4 << 10
    /// Header fields.
    static let fields = 64
    /// Bytes of a body.
    static let body = 1 << 20
    /// Bytes of a message of a WebSocket.
    static let message = 64 << 10
    /// A WebSocket that says nothing for so long, not even that it is there, has gone.
    static let silence = TimeAmount.seconds(45)
    /// How often it is asked.
    static let ping = TimeAmount.seconds(15)
    /// Calls of a client that wait.
    static let waiting = 64
    /// Calls that are under way for all who use HTTP, and for one client.
    static let calls = 64
    static let callsOfOne = 48
    /// Calls by HTTP of all clients: so many at once, and so many a second; and those of one client.
    static let callBurst = 500.0
    static let callRate = 250.0
    static let callBurstOfOne = 400.0
    static let callRateOfOne = 200.0
    /// Texts of a WebSocket, and its messages with sound: so many at once, and so many a second.
    static let textBurst = 300.0
    static let textRate = 120.0
    /// How long a WebSocket that sends more is not read.
    static let pause = TimeAmount.milliseconds(100)
    static let soundBurst = 500.0
    static let soundRate = 800.0
    /// Bytes that wait for a client before it is given nothing more.
    static let outbound = 256 << 10
}

/// How often something may be done: so many at once, and so many a second.
struct Rate {
    private let burst: Double
    private let perSecond: Double
    private var left: Double
    private var last: NIODeadline

    init(burst: Double, perSecond: Double, at now: NIODeadline = .now()) {
        (self.burst, self.perSecond, left, last) = (burst, perSecond, burst, now)
    }

    /// Whether one more may be done now.
    mutating func take(at now: NIODeadline = .now()) -> Bool {
        left = min(burst, left + Double((now - last).nanoseconds) * 1e-9 * perSecond)
        last = now
        guard left >= 1 else { return false }
        left -= 1
        return true
    }
}
