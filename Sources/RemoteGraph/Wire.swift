// SPDX-License-Identifier: Apache-2.0
import Control
import JSON
import System

/// The way to a host elsewhere: calls there and back, and what happens, told line by line.
protocol Wire: Sendable {
    /// The host's name.
    var name: String { get }
    /// What the host answers to a call; a refusal is an answer. Throws if it cannot be reached. [any]
    func answer(_ call: String, _ fields: [String: JSON]) throws(Fault) -> JSON
    /// Begins to be told what happens: what the host answers to that. To be called once. [any]
    func listen() throws(Fault) -> JSON
    /// The next line, however long it takes; nil: there will be none. Of one thread, after `listen`.
    func nextLine() -> [UInt8]?
    /// Ends it, also for the thread that waits in `nextLine`. [any]
    func end()
}

extension Wire {
    /// The fields of the answer to a call; throws what the host refuses. [any]
    func ask(_ call: String, _ fields: [String: JSON] = [:]) throws(Fault) -> JSON {
        try accepted(answer(call, fields))
    }
}

/// The answer, if it is no refusal, which is thrown.
func accepted(_ answer: JSON) throws(Fault) -> JSON {
    if answer["ok"]?.bool == true { return answer }
    let error = answer["error"]
    throw Fault(error?["message"]?.string ?? "the host refuses", hint: error?["hint"]?.string ?? "")
}

/// By two connections to the control socket, here or through ssh.
final class SocketWire: Wire {
    private struct Connection: @unchecked Sendable {
        // Sendable: only with the lock that it is in.
        let client: ControlClient
    }

    let name: String
    private let calls: Lock<Connection>
    // The thread's that reads, but for `end`, which any thread may call.
    nonisolated(unsafe) private let events: ControlClient

    init(_ calls: ControlClient, _ events: ControlClient) {
        (name, self.calls, self.events) = (calls.name, Lock(Connection(client: calls)), events)
    }

    func answer(_ call: String, _ fields: [String: JSON]) throws(Fault) -> JSON {
        try calls.withLock { connection throws(Fault) in try connection.client.call(call, fields).answer }
    }

    func listen() throws(Fault) -> JSON { try events.call("events").answer }

    func nextLine() -> [UInt8]? { (try? events.nextLine(patiently: true)) ?? nil }

    func end() { events.end() }
}
