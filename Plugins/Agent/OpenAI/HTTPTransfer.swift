// SPDX-License-Identifier: Apache-2.0
import CHTTP
import Glibc
import NodeKit

/// What posts to endpoints, and keeps connections for the next time. It loads libcurl. Used by one thread at a time.
final class HTTPClient {
    fileprivate let http: OpaquePointer

    /// The flavours of Debian: OpenSSL, GnuTLS.
    private static let library = Result { () throws(NodeError) in
        do throws(NodeError) { return try Library("libcurl.so.4") } catch { return try Library("libcurl-gnutls.so.4") }
    }

    /// Throws when libcurl is not there. [control]
    init() throws(NodeError) {
        do throws(NodeError) {
            _ = try Self.library.get()
            var reason = [CChar](repeating: 0, count: Int(VG_HTTP_ERROR))
            let opened = vg_http_open({ try? HTTPClient.library.get().address(of: String(cString: $0)) }, &reason)
            guard let opened else {
                throw NodeError(
                    String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
            http = opened
        } catch { throw NodeError("cannot load libcurl: \(error.message)", hint: "apt install libcurl4") }
    }

    deinit { vg_http_close(http) }
}

/// A request and what comes back of it, of one thread.
final class HTTPTransfer {
    enum Event: Equatable {
        case sent
        /// The status, and what the server says of trying again.
        case status(Int, retryAfter: String)
        case data([UInt8])
        /// nil: it is complete.
        case end(reason: String?)
    }

    private let client: HTTPClient
    private let post: OpaquePointer
    /// Bytes that may still come.
    private var room: Int
    private let most: Int

    /// Begins; of what comes back `most` bytes are taken. Throws if that is no address. [worker]
    init(
        _ client: HTTPClient, _ url: String, headers: [(String, String)], body: [UInt8], most: Int
    ) throws(NodeError) {
        self.client = client
        self.most = most
        room = most
        let lines = headers.map { strdup("\($0.0): \($0.1)") }
        defer { for line in lines { free(line) } }
        let pointers = lines.map { UnsafePointer($0) } + [nil]
        guard let post = vg_http_post(client.http, url, pointers, body, body.count) else {
            throw NodeError("'\(url)' is no address", key: ChatOptions.url.name)
        }
        self.post = post
    }

    deinit { vg_post_end(post) }

    /// Where the answer says that it is to be asked instead; empty: nowhere. [worker]
    var redirection: String { String(cString: vg_post_redirection(post)) }

    /// What comes next; nil: nothing until a moment. Throws when more comes than is taken. [worker]
    func next(until deadline: Double) throws(AgentFault) -> Event? {
        let wait = max(0, deadline - monotonicSeconds())
        let event = vg_post_next(post, Int32((wait * 1000).rounded(.up)))
        var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: event.text, count: event.length) }
        switch event.kind {
        case VG_POST_SENT: return .sent
        case VG_POST_STATUS: return .status(event.number, retryAfter: String(decoding: text, as: UTF8.self))
        case VG_POST_DATA:
            room -= event.length
            if room < 0 { throw AgentFault(.other, "the answer does not end: \(most) bytes came") }
            return .data(Array(text))
        case VG_POST_END:
            return .end(reason: event.number == 0 ? nil : String(decoding: text, as: UTF8.self))
        default: return nil
        }
    }
}
