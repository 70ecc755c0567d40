// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import JSON
import Realtime
import System

/// What became of the clients of a server.
public struct ControlCounts: Sendable, Equatable {
    /// Those that are there.
    public var clients = 0
    /// Those that did not read, or were idle when others came.
    public var dropped = 0
    /// Those that came when all others were busy, or were another user's.
    public var refused = 0
    /// Events that were lost because a client did not read them in time.
    public var eventsLost = 0

    var json: String {
        JSONText.object([
            ("clients", String(clients)), ("dropped_clients", String(dropped)), ("refused_clients", String(refused)),
            ("events_lost", String(eventsLost)),
        ])
    }
}

/// What others leave for the server's thread, and what it tells.
final class Mailbox: @unchecked Sendable {
    // Sendable: `lock` guards what changes.

    /// A line for a client.
    struct Letter: Sendable {
        var client: Int
        var line: String
        /// The call that it answers; nil: it is no answer.
        var call: Int?
    }

    /// Signalled when there is something.
    let wake: Int32
    private let lock = Monitor()
    private var letters: [Letter] = []
    private var closing = false
    private var told = ControlCounts()

    init() throws(Fault) {
        wake = vg_event_open()
        if wake < 0 { throw Fault("out of file descriptors") }
    }

    deinit { close(wake) }

    /// Leaves a line. [any]
    func post(_ letter: Letter) {
        lock.locked { letters.append(letter) }
        vg_event_signal(wake)
    }

    /// Takes all lines. [server]
    func take() -> [Letter] {
        lock.locked {
            defer { letters = [] }
            return letters
        }
    }

    /// Asks the server to end. [any]
    func end() {
        lock.locked { closing = true }
        vg_event_signal(wake)
    }

    var isClosing: Bool { lock.locked { closing } }
    var counts: ControlCounts { lock.locked { told } }
    func tell(_ counts: ControlCounts) { lock.locked { told = counts } }
}
