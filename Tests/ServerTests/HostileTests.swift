// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Server

/// Clients that want no good, or know no better.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileTests {
    private func isWell(_ serving: Serving) throws {
        #expect(try serving.ask("GET /api/status").status == 200)
    }

    @Test("A request that could be read in two ways is read in none") func smuggling() async throws {
        let serving = try await Serving()
        let host = "Host: 127.0.0.1:\(serving.port)\r\nAuthorization: Bearer \(serving.token)\r\n"
        let inner = "GET /api/status HTTP/1.1\r\n\(host)\r\n"
        for (name, request) in [
            ("two lengths", "POST /api/save HTTP/1.1\r\n\(host)Content-Length: 0\r\nContent-Length: 4\r\n\r\n"),
            (
                "length and chunks",
                "POST /api/save HTTP/1.1\r\n\(host)Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            ("odd coding", "POST /api/save HTTP/1.1\r\n\(host)Transfer-Encoding: xchunked\r\n\r\n"),
            (
                "two codings",
                "POST /api/save HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
            ),
            ("negative length", "POST /api/save HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n"),
            ("length with a sign", "POST /api/save HTTP/1.1\r\n\(host)Content-Length: +4\r\n\r\n"),
            ("folded header", "POST /api/save HTTP/1.1\r\n\(host)X: a\r\n b\r\nContent-Length : 4\r\n\r\n"),
            ("two hosts", "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\nHost: evil.example\r\n\r\n"),
            ("absolute", "GET http://evil.example/ HTTP/1.1\r\n\(host)\r\n"),
            ("nul in a header", "GET / HTTP/1.1\r\n\(host)X: a\0b\r\n\r\n"),
            ("no version", "GET /\r\n\r\n"), ("nonsense", "\u{16}\u{3}\u{1} nonsense\r\n\r\n"),
        ] {
            let client = try serving.connect()
            client.send(request + inner)
            let text = String(decoding: try client.rest(), as: UTF8.self)
            #expect(text.components(separatedBy: "HTTP/1.1 ").count <= 2, "\(name): \(text)")
            #expect(!text.contains("HTTP/1.1 200"), "\(name): \(text)")
        }
        try isWell(serving)
        await serving.end()
    }

    @Test("No path leads out of what is served") func traversal() async throws {
        let serving = try await Serving()
        for path in [
            "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/api/takes/..%2f..%2fx/audio",
            "/page.js/../../x", "//etc/passwd", "/page.js%00.html", "/.%2e/page.js",
        ] {
            let status = try serving.ask("GET \(path)").status
            #expect(status == 400 || status == 404, "\(path): \(status)")
        }
        await serving.end()
    }

    @Test("Heads without an end are bounded, in bytes and in number") func endless() async throws {
        let serving = try await Serving()
        let host = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n"
        for head in [
            host + "X: " + String(repeating: "a", count: 1 << 20), "GET /" + String(repeating: "a", count: 1 << 20),
            host + (0..<5000).map { "X-\($0): 1\r\n" }.joined(),
        ] {
            let client = try serving.connect()
            client.send(head)
            #expect(!String(decoding: try client.rest(), as: UTF8.self).contains(" 200 "))
        }
        let chunks = try serving.connect()
        chunks.send(
            "POST /api/save HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\nAuthorization: Bearer \(serving.token)\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        let chunk = "10000\r\n" + String(repeating: "x", count: 65536) + "\r\n"
        for _ in 0..<40 { chunks.send(chunk) }
        #expect(try chunks.answer().status == 413)
        try isWell(serving)
        await serving.end()
    }

    @Test("A thousand connections of strangers lock nobody out") func manyConnections() async throws {
        let serving = try await Serving()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = min(1000, Int(limit.rlim_cur) / 2 - 100)
        let live = try await LiveSocket(serving)
        let strangers = try (0..<count).map { _ in try serving.connect() }
        try isWell(serving)
        // Who has shown the token stays.
        #expect(try live.call("{\"id\":1,\"call\":\"status\"}")["ok"] as? Bool == true)
        // The oldest strangers had to go.
        #expect(strangers.first?.some() == [])
        withExtendedLifetime(strangers) {}
        await serving.end()
    }

    @Test("Connections that are kept and idle make room, the longest idle first") func idleConnections() async throws {
        let serving = try await Serving()
        let request =
            "GET /api/streams HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n"
            + "Authorization: Bearer \(serving.token)\r\n\r\n"
        let kept = try (0..<Limits.connections + 20).map { number in
            let client = try serving.connect()
            client.send(request)
            #expect(String(decoding: client.some(), as: UTF8.self).hasPrefix("HTTP/1.1 200 "), "\(number)")
            return client
        }
        try isWell(serving)
        #expect(try serving.ask("GET /api/streams", as: .visitor).status == 200)
        #expect(kept[0].some() == [])
        let last = try #require(kept.last)
        last.send(request)
        #expect(String(decoding: last.some(), as: UTF8.self).contains("HTTP/1.1 200 "))
        await serving.end()
    }

    @Test("Calls that wait lock nobody out: the one that has waited longest ends") func waitingCalls() async throws {
        let serving = try await Serving()
        let clients = try (0..<70).map { _ in
            let client = try serving.connect()
            client.send(
                "GET /api/levels?seconds=10 HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n"
                    + "Authorization: Bearer \(serving.token)\r\nConnection: close\r\n\r\n")
            return client
        }
        for right in Right.allCases {
            #expect(try serving.ask("GET /api/nodes", as: right).status == 200, "\(right)")
        }
        let statuses = try clients.map { try $0.answer().status }
        #expect(statuses.count { $0 == 429 } >= 70 - Limits.callsOfOne, "\(statuses)")
        #expect(Set(statuses).isSubset(of: [200, 429]))
        await serving.end()
    }

    @Test("A WebSocket that breaks the rules is closed with the reason") func frames() async throws {
        let serving = try await Serving()
        let big = [UInt8](repeating: 120, count: 65_000)
        let cases: [(String, UInt16, (LiveSocket) -> Void)] = [
            ("reserved bit", 1002, { $0.client.sendFrame(0xC1, Array("{}".utf8)) }),
            ("unknown opcode", 1002, { $0.client.sendFrame(0x83, []) }),
            ("continuation of nothing", 1002, { $0.client.sendFrame(0x80, [1]) }),
            ("not masked", 1002, { $0.client.sendFrame(0x81, Array("{}".utf8), isMasked: false) }),
            ("no UTF-8", 1007, { $0.client.sendFrame(0x81, [0xFF, 0xFE]) }),
            ("a long ping", 1002, { $0.client.sendFrame(0x89, big) }),
            ("too long", 1009, { $0.client.send([0x82, 0xFF, 0, 0, 0, 0, 6, 0x40, 0, 0, 1, 2, 3, 4]) }),
            (
                "too long in pieces", 1009,
                { live in
                    live.client.sendFrame(0x01, big)
                    live.client.sendFrame(0x00, big)
                }
            ),
        ]
        for (name, code, act) in cases {
            let live = try await LiveSocket(serving)
            act(live)
            let told = try live.closing()
            #expect(told == code, "\(name): \(told.map(String.init) ?? "nothing")")
        }
        try isWell(serving)
        await serving.end()
    }

    @Test("A connection that has asked for something else may become a WebSocket") func laterUpgrade() async throws {
        let serving = try await Serving()
        let client = try serving.connect()
        let known = "Host: 127.0.0.1:\(serving.port)\r\nAuthorization: Bearer \(serving.token)\r\n"
        for _ in 0..<3 {
            client.send("GET /api/streams HTTP/1.1\r\n\(known)\r\n")
            var text = ""
            while !text.hasSuffix("}") {
                let more = client.some()
                try #require(!more.isEmpty)
                text += String(decoding: more, as: UTF8.self)
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK"), "\(text)")
        }
        let upgrade = LiveSocket.upgrade.map { $0 + "\r\n" }.joined()
        client.send("GET /api/live HTTP/1.1\r\n\(known)\(upgrade)\r\n")
        #expect(String(decoding: client.some(), as: UTF8.self).hasPrefix("HTTP/1.1 101 "))
        await serving.end()
    }

    @Test("Who offers a protocol that is not taken is answered, and asks again on another connection")
    func otherProtocol() async throws {
        let serving = try await Serving()
        let offer = [
            "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__",
        ]
        for headers in [offer, ["Connection: Upgrade", "Upgrade: websocket"]] {
            let client = try serving.connect()
            let all = ["Host: 127.0.0.1:\(serving.port)", "Authorization: Bearer \(serving.token)"] + headers
            client.send("GET /api/nodes HTTP/1.1\r\n" + all.map { $0 + "\r\n" }.joined() + "\r\n")
            // The answer ends with the connection.
            let answer = try client.answer()
            #expect(answer.status == 200 && answer.head.lowercased().contains("connection: close"), "\(answer)")
        }
        await serving.end()
    }

    @Test("A page elsewhere gets no WebSocket, with or without the cookie") func crossOrigin() async throws {
        let serving = try await Serving()
        for headers in [
            ["Origin: https://evil.example", "Cookie: voicegraph-\(serving.port)=\(serving.token)"],
            ["Origin: null", "Cookie: voicegraph-\(serving.port)=\(serving.token)"],
            ["Origin: http://127.0.0.1:1"],
        ] {
            let answer = try serving.ask("GET /api/live", LiveSocket.upgrade + headers, knowing: false)
            #expect(answer.status == 403, "\(headers): \(answer)")
        }
        #expect(try serving.ask("GET /api/live", LiveSocket.upgrade, knowing: false).status == 401)
        await serving.end()
    }
}
