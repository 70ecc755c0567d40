// SPDX-License-Identifier: Apache-2.0
import API
import GraphFile
import JSON
import NIOCore
import NIOHTTP1
import System

/// What a request is answered with.
struct Response: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: Body = .bytes(ByteBuffer())
    /// Whether the connection ends with it.
    var isLast = false

    enum Body: Sendable {
        case bytes(ByteBuffer)
        /// A part of a file, opened for reading.
        case file(TakeFile)
    }

    /// Text of a kind.
    init(_ status: HTTPResponseStatus = .ok, _ type: String, _ text: String) {
        self.init(status, type, ByteBuffer(string: text))
    }

    /// Bytes of a kind.
    init(_ status: HTTPResponseStatus = .ok, _ type: String, _ bytes: ByteBuffer) {
        self.status = status
        headers = ["Content-Type": type]
        body = .bytes(bytes)
    }

    /// JSON that is complete.
    init(json: String, _ status: HTTPResponseStatus = .ok) {
        self.init(status, "application/json", json)
        headers.add(name: "Cache-Control", value: "no-store")
    }

    /// A refusal, as a call's answer tells it.
    init(_ status: HTTPResponseStatus, _ fault: Fault, _ diagnostics: [Diagnostic] = []) {
        self.init(json: JSONText.object([("ok", "false"), ("error", fault.json(diagnostics))]), status)
    }

    /// A refusal of a request.
    init(_ refusal: Access.Refusal) { self.init(refusal.status, refusal.fault) }

    /// How many bytes it has.
    var length: Int {
        switch body {
        case .bytes(let bytes): bytes.readableBytes
        case .file(let file): file.length
        }
    }

    /// The head as it is sent; `origin`: a page elsewhere that may read it.
    func head(_ version: HTTPVersion, origin: Access.Origin, keepAlive: Bool) -> HTTPResponseHead {
        var all = headers
        all.replaceOrAdd(name: "Content-Length", value: String(length))
        for (name, value) in Self.security { all.replaceOrAdd(name: name, value: value) }
        if case .listed(let page) = origin {
            all.replaceOrAdd(name: "Access-Control-Allow-Origin", value: page)
            all.replaceOrAdd(name: "Cross-Origin-Resource-Policy", value: "cross-origin")
        }
        all.add(name: "Vary", value: "Origin")
        if !keepAlive { all.replaceOrAdd(name: "Connection", value: "close") }
        return HTTPResponseHead(version: version, status: status, headers: all)
    }

    /// Nothing from elsewhere, nothing inline, in no frame (w3.org/TR/CSP3).
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "media-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private static let security = [
        ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
        ("Permissions-Policy", "microphone=(self), camera=(), geolocation=()"),
    ]
}
