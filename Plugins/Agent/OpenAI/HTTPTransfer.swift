// SPDX-License-Identifier: Apache-2.0
import Glibc
import Models
import NodeKit

/// The library that posts over HTTP. It is loaded when somebody needs it, as it brings Foundation with it.
final class HTTPLibrary: Sendable {
    typealias Told = @convention(c) (UnsafeMutableRawPointer?, Int32, Int, UnsafePointer<UInt8>?, Int) -> Void
    typealias Post =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UInt8>, Int, Int,
            UnsafeMutableRawPointer?, Told
        ) -> UnsafeMutableRawPointer?
    typealias End = @convention(c) (UnsafeMutableRawPointer) -> Void

    let post: Post
    let end: End

    private static let loaded = Lock<HTTPLibrary?>(nil)

    private init() throws(NodeError) {
        // It stands beside this plugin, which is where the loader looks first.
        let library = try Library(["libvoicegraph-http.so"], package: "libcurl4")
        post = try library.function("vg_http_post")
        end = try library.function("vg_http_end")
    }

    /// Loads it, once a process. [control]
    static func load() throws(NodeError) -> HTTPLibrary {
        try loaded.withLock { loaded throws(NodeError) in
            if let loaded { return loaded }
            let library = try HTTPLibrary()
            loaded = library
            return library
        }
    }
}

/// A request and what comes back of it.
final class HTTPTransfer: @unchecked Sendable {
    // Sendable: what changes is behind a lock; `transfer` is of one thread.
    enum Event: Equatable {
        case sent
        /// The status, and what the server says of trying again.
        case status(Int, retryAfter: String)
        case data([UInt8])
        /// nil: it is complete.
        case end(reason: String?)
    }

    private struct State {
        var events: [Event] = []
        var isTooLong = false
    }

    private let library: HTTPLibrary
    private let state = Lock(State())
    private let most: Int
    private var transfer: UnsafeMutableRawPointer?

    /// Begins; of what comes back `most` bytes are taken. Throws if that is no address. [worker]
    init(_ url: String, headers: [(String, String)], body: [UInt8], most: Int) throws(NodeError) {
        library = try HTTPLibrary.load()
        self.most = most
        let texts = headers.flatMap { [strdup($0.0), strdup($0.1)] }
        defer { for text in texts { free(text) } }
        let pointers = texts.map { UnsafePointer($0) } + [nil]
        // Unretained: `end` is called before this goes away, and nothing is told after that.
        let context = Unmanaged.passUnretained(self).toOpaque()
        transfer = library.post(url, pointers, body, body.count, most, context) { context, kind, number, bytes, count in
            Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue().take(
                kind, number, UnsafeBufferPointer(start: bytes, count: count))
        }
        if transfer == nil { throw NodeError("'\(url)' is no address", key: "url") }
    }

    deinit { end() }

    /// Nothing more of it is wanted. [worker]
    func end() {
        if let transfer { library.end(transfer) }
        transfer = nil
    }

    private func take(_ kind: Int32, _ number: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        state.withLock { state in
            switch kind {
            case 0: state.events.append(.sent)
            case 1: state.events.append(.status(number, retryAfter: String(decoding: bytes, as: UTF8.self)))
            case 2: state.events.append(.data(Array(bytes)))
            case _ where number == 1: state.isTooLong = true
            default:
                state.events.append(.end(reason: number == 0 ? nil : String(decoding: bytes, as: UTF8.self)))
            }
        }
        state.signal()
    }

    /// What comes next; nil: nothing until a moment. [worker]
    func next(until deadline: Double) throws(AgentFault) -> Event? {
        let (event, isTooLong): (Event?, Bool) =
            state.wait(until: deadline) { state in
                if !state.events.isEmpty { return (state.events.removeFirst(), false) }
                return state.isTooLong ? (nil, true) : nil
            } ?? (nil, false)
        if isTooLong { throw AgentFault(.other, "the answer does not end: \(most) bytes came") }
        return event
    }
}
