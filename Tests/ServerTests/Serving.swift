// SPDX-License-Identifier: Apache-2.0
import API
import Drivers
import Foundation
import Glibc
import GraphFile
import Host
import NodeKit
import TestSupport
import Testing

@testable import Server

/// A host that plays a tone, and a server that shows it.
final class Serving {
    static let graph = """
        [graph]
        name = "served"
        links = ["tone -> gain -> meter -> out"]
        [node.tone]
        type = "tone"
        level_db = -6
        [node.gain]
        type = "gain"
        [node.meter]
        type = "meter"
        [node.out]
        type = "output"
        """

    let host = Host()
    let server: WebServer
    let scratch: Scratch
    let port: UInt16
    let token: String
    private let turn: JackTurn

    init(
        _ web: WebDescription = WebDescription(), graph: String = Serving.graph, takes: [Int64: String] = [:],
        kept: KeptFiles = KeptFiles()
    ) async throws {
        turn = try await JackTurn.wait()
        scratch = try Scratch()
        try await host.load(scratch.write("graph.conf", graph))
        var web = web
        web.listen = "0"
        var kept = kept
        if !takes.isEmpty { kept.take = { take throws(Fault) in takes[take] } }
        server = try WebServer(host, web, kept: kept)
        let parts = server.link(.owner).split(separator: "/?token=")
        token = String(parts[1])
        port = UInt16(parts[0].split(separator: ":").last!)!
        try await host.run(DriverRequest(kind: .dummy, client: "served"))
    }

    /// Ends all.
    func end() async {
        server.close()
        await host.close()
        turn.end()
    }

    /// The token of a right.
    func token(_ right: Right) -> String { String(server.link(right).split(separator: "token=")[1]) }

    func connect() throws -> RawClient { try RawClient(port) }

    /// One request on a connection of its own; headers are added to those that are needed.
    func ask(
        _ line: String, _ headers: [String] = [], body: String = "", knowing: Bool = true, as right: Right = .owner
    ) throws -> RawClient.Answer {
        let client = try connect()
        var all = ["Host: 127.0.0.1:\(port)", "Connection: close"] + headers
        if knowing { all.append("Authorization: Bearer \(token(right))") }
        if !body.isEmpty { all.append("Content-Length: \(body.utf8.count)") }
        client.send("\(line) HTTP/1.1\r\n" + all.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        return try client.answer()
    }
}

/// A client made of nothing but a socket.
final class RawClient {
    let descriptor: Int32

    /// What came back, up to its end.
    struct Answer {
        var status = 0
        var head = ""
        var body = ""

        /// As JSON.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }

        init(_ text: String) {
            let parts = text.components(separatedBy: "\r\n\r\n")
            head = parts[0]
            body = parts.dropFirst().joined(separator: "\r\n\r\n")
            status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
    }

    init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "\(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }

    /// Sends bytes; what the other end does not take any more is not sent. Returns how many it took.
    @discardableResult
    func send(_ bytes: some Sequence<UInt8>) -> Int {
        let all = Array(bytes)
        var sent = 0
        while sent < all.count {
            let count = all.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, all.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        return sent
    }

    @discardableResult
    func send(_ text: String) -> Int { send(text.utf8) }

    /// What comes until the other end closes.
    func rest() throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return all }
            try #require(count > 0, "nothing more comes, and it is not closed")
            all += buffer[..<count]
        }
    }

    /// Some bytes; empty at the end.
    func some() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    func answer() throws -> Answer { Answer(String(decoding: try rest(), as: UTF8.self)) }

    /// Sends a frame of a WebSocket, masked as clients do.
    func sendFrame(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true) {
        var frame: [UInt8] = [first]
        let mask: UInt8 = isMasked ? 0x80 : 0
        if payload.count < 126 {
            frame.append(mask | UInt8(payload.count))
        } else {
            frame += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        }
        if isMasked { frame += [1, 2, 3, 4] }
        frame += isMasked ? payload.enumerated().map { $0.element ^ UInt8($0.offset % 4 + 1) } : payload
        send(frame)
    }
}
