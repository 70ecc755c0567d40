// SPDX-License-Identifier: Apache-2.0
import API
import HTTP
import JSON
import Synchronization
import System

/// By HTTP, as `voicegraph run --web` is reached.
final class HTTPWire: Wire {
    private struct Connection: @unchecked Sendable {
        // Sendable: only with the lock that it is in, or of the one thread that reads.
        let client: HTTPClient
        var transfer: HTTPTransfer?
        /// What came and is no whole line yet.
        var input: [UInt8] = []
    }

    let name: String
    private let address: WebLink
    private let calls: Lock<Connection>
    // The thread's that reads.
    nonisolated(unsafe) private var events: Connection
    private let hasEnded = Atomic(false)

    /// Seconds that an answer may take, and after which a host that tells nothing, not even that it is there, is gone.
    private static let patience = 60.0
    private static let silence = 45.0
    /// Bytes of an answer, and of a line.
    private static let most = 64 << 20

    /// Finds out what the graph there is called. Throws if it is not reached, or does not know the token. [any]
    init(_ address: WebLink) throws(Fault) {
        self.address = address
        let client = try HTTPClient()
        events = Connection(client: try HTTPClient())
        name = try accepted(Self.answer("nodes", [:], address, client))["graph"]?.string ?? address.base
        calls = Lock(Connection(client: client))
    }

    func answer(_ call: String, _ fields: [String: JSON]) throws(Fault) -> JSON {
        try calls.withLock { connection throws(Fault) in
            try Self.answer(call, fields, address, connection.client)
        }
    }

    private static func answer(
        _ call: String, _ fields: [String: JSON], _ address: WebLink, _ client: HTTPClient
    ) throws(Fault) -> JSON {
        let isChange = try CallTable().named(call).isChange
        precondition(isChange || fields.isEmpty, "what only looks is asked without arguments here")
        let transfer = try HTTPTransfer(
            client, address.call(call), headers: address.headers + [("Content-Type", "application/json")],
            body: isChange ? Array(JSON.object(fields).text.utf8) : nil, most: most)
        let deadline = monotonicSeconds() + patience
        var (status, bytes): (Int, [UInt8]) = (0, [])
        while true {
            guard monotonicSeconds() < deadline else { throw Fault("\(address.base) does not answer") }
            switch try transfer.next(until: deadline) {
            case .status(let code, _): status = code
            case .data(let more): bytes += more
            case .end(let reason):
                if let reason { throw address.unreached(reason) }
                return try address.read(bytes, status)
            case .sent, nil: break
            }
        }
    }

    func listen() throws(Fault) -> JSON {
        let transfer = try HTTPTransfer(events.client, address.call(HostCall.events.name), headers: address.headers)
        let deadline = monotonicSeconds() + Self.patience
        var status = 0
        while status == 0 {
            guard monotonicSeconds() < deadline else { throw Fault("\(address.base) does not answer") }
            switch try transfer.next(until: deadline) {
            case .status(let code, _): status = code
            case .end(let reason): throw address.unreached(reason ?? "it ended the connection")
            default: break
            }
        }
        events.transfer = transfer
        guard let line = nextLine() else { throw address.unreached("it ended the connection") }
        return try address.read(line, status)
    }

    func nextLine() -> [UInt8]? {
        var heardAt = monotonicSeconds()
        while let transfer = events.transfer, !hasEnded.load(ordering: .relaxed) {
            if let end = events.input.firstIndex(of: 10) {
                let line = Array(events.input[..<end])
                events.input.removeSubrange(...end)
                if line.isEmpty { continue }
                return line
            }
            // In short steps: `end` wakes nobody here.
            let now = monotonicSeconds()
            switch try? transfer.next(until: now + 0.25) {
            case .data(let more):
                heardAt = now
                events.input += more
                if events.input.count > Self.most { return nil }
            case .end:
                defer { (events.transfer, events.input) = (nil, []) }
                // A refusal is one line without an end.
                return events.input.isEmpty ? nil : events.input
            default: if now - heardAt > Self.silence { return nil }
            }
        }
        return nil
    }

    func end() { hasEnded.store(true, ordering: .relaxed) }
}
