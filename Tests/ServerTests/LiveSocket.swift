// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import TestSupport
import Testing

/// A WebSocket made of nothing but a socket.
final class LiveSocket {
    static let upgrade = [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    let client: RawClient
    private var input: [UInt8] = []

    init(_ serving: Serving, as right: Right = .owner) async throws {
        client = try serving.connect()
        let headers =
            Self.upgrade + ["Host: 127.0.0.1:\(serving.port)", "Authorization: Bearer \(serving.token(right))"]
        client.send("GET /api/live HTTP/1.1\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n")
        let end = Array("\r\n\r\n".utf8)
        while true {
            let text = String(decoding: input, as: UTF8.self)
            if let range = text.range(of: "\r\n\r\n") {
                try #require(text.hasPrefix("HTTP/1.1 101 "), "\(text)")
                input.removeFirst(text[..<range.lowerBound].utf8.count + end.count)
                return
            }
            let more = client.some()
            try #require(!more.isEmpty, "closed: \(text)")
            input += more
        }
    }

    /// The next frame: its opcode and what it holds; nil at the end.
    func frame() throws -> (opcode: UInt8, payload: [UInt8])? {
        while true {
            if input.count >= 2 {
                var (length, start) = (Int(input[1] & 127), 2)
                if length == 126, input.count >= 4 {
                    (length, start) = (Int(input[2]) << 8 | Int(input[3]), 4)
                } else if length == 127, input.count >= 10 {
                    (length, start) = (input[2..<10].reduce(0) { $0 << 8 | Int($1) }, 10)
                } else if length >= 126 {
                    start = .max / 2
                }
                if input.count >= start + length {
                    defer { input.removeFirst(start + length) }
                    return (input[0] & 15, Array(input[start..<(start + length)]))
                }
            }
            let more = client.some()
            if more.isEmpty { return nil }
            input += more
        }
    }

    /// The next text, read; bytes and pings are passed over.
    func text() throws -> [String: Any]? {
        while let frame = try frame() {
            guard frame.opcode == 1 else { continue }
            return try #require(try JSONSerialization.jsonObject(with: Data(frame.payload)) as? [String: Any])
        }
        return nil
    }

    func send(_ text: String) { client.sendFrame(0x81, Array(text.utf8)) }

    /// Sends a call; its answer, events before it passed over.
    func call(_ text: String) throws -> [String: Any] {
        send(text)
        while let answer = try self.text() { if answer["ok"] != nil { return answer } }
        throw NeverHappened(description: "closed before it answered \(text)")
    }

    /// The code with which it is closed.
    func closing() throws -> UInt16? {
        while let frame = try frame() {
            if frame.opcode == 8, frame.payload.count >= 2 {
                return UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
            }
        }
        return nil
    }
}
