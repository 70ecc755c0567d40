// SPDX-License-Identifier: Apache-2.0
import CHTTP
import Glibc
import System

/// A request and what comes back of it, of one thread.
public final class HTTPTransfer {
    /// What happens, in this order; data any number of times.
    public enum Event: Equatable {
        /// It is connected, and takes the request.
        case sent
        /// The status, and what the server says of trying again.
        case status(Int, retryAfter: String)
        /// A piece of the answer.
        case data([UInt8])
        /// nil: it is complete.
        case end(reason: String?)
    }

    private let client: HTTPClient
    private let transfer: OpaquePointer
    /// Bytes that may still come.
    private var room: Int
    private let most: Int

    /// Begins to post `body`, or without one to get. Of what comes back `most` bytes are taken. Throws if that is no
    /// address. [worker]
    public init(
        _ client: HTTPClient, _ url: String, headers: [(String, String)], body: [UInt8]? = nil, most: Int = .max
    ) throws(Fault) {
        self.client = client
        self.most = most
        room = most
        let lines = headers.map { strdup("\($0.0): \($0.1)") }
        defer { for line in lines { free(line) } }
        let pointers = lines.map { UnsafePointer($0) } + [nil]
        let begun =
            if let body {
                vg_http_begin(client.http, url, pointers, body, body.count)
            } else {
                vg_http_begin(client.http, url, pointers, nil, 0)
            }
        guard let begun else { throw Fault("'\(url)' is no address") }
        transfer = begun
    }

    deinit { vg_transfer_end(transfer) }

    /// Where the answer says that it is to be asked instead; empty: nowhere. [worker]
    public var redirection: String { String(cString: vg_transfer_redirection(transfer)) }

    /// What comes next; nil: nothing until a moment. Throws when more comes than is taken. [worker]
    public func next(until deadline: Double) throws(Fault) -> Event? {
        let wait = max(0, deadline - monotonicSeconds())
        let event = vg_transfer_next(transfer, Int32((wait * 1000).rounded(.up)))
        var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: event.text, count: event.length) }
        switch event.kind {
        case VG_TRANSFER_SENT: return .sent
        case VG_TRANSFER_STATUS: return .status(event.number, retryAfter: String(decoding: text, as: UTF8.self))
        case VG_TRANSFER_DATA:
            room -= event.length
            if room < 0 { throw Fault("the answer does not end: \(most) bytes came") }
            return .data(Array(text))
        case VG_TRANSFER_END:
            return .end(reason: event.number == 0 ? nil : String(decoding: text, as: UTF8.self))
        default: return nil
        }
    }
}
