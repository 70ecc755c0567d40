// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A client made of nothing but a socket.
final class SocketClient {
    let descriptor: Int32
    private var input: [UInt8] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "\(path): \(String(cString: strerror(errno)))")
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends bytes; what the other end does not take any more is not sent.
    func send(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The next line; nil at the end.
    func line() throws -> [String: Any]? {
        while true {
            if let end = input.firstIndex(of: 10) {
                defer { input.removeSubrange(...end) }
                return try #require(
                    try JSONSerialization.jsonObject(with: Data(input[..<end])) as? [String: Any])
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
            try #require(count > 0, "no answer: \(String(cString: strerror(errno)))")
            input += buffer[..<count]
        }
    }

    /// Sends a line and reads one; nil: the other end has closed.
    func line(after text: String) throws -> [String: Any]? {
        send((text + "\n").utf8)
        return try line()
    }

    /// Sends a line and reads one.
    func call(_ text: String) throws -> [String: Any] {
        send((text + "\n").utf8)
        return try #require(try line(), "an answer to \(text)")
    }
}

/// `voicegraph run` with a runtime directory of its own.
struct Playing {
    let scratch: Scratch
    let graph: String
    let program: Program
    let socket: String

    init(_ text: String = toneGraph, _ arguments: String...) async throws {
        try await self.init(text, arguments, in: try Scratch())
    }

    init(_ text: String, _ arguments: [String] = [], in scratch: Scratch) async throws {
        self.scratch = scratch
        chmod(scratch.path, 0o700)
        graph = try scratch.write("graph.conf", text)
        program = try Program(
            [Program.voicegraph, "run", graph, "--driver", "dummy", "--json"] + arguments,
            environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await program.wait("it plays") { $0.lines.first?.contains("\"event\":\"running\"") == true }
        // The server may have given the client a number; its socket is called as it is.
        let line = Data((program.lines.first ?? "").utf8)
        let running = try JSONSerialization.jsonObject(with: line) as? [String: Any]
        let client = try #require(running?["client"] as? String)
        socket = scratch.file("voicegraph/\(client).sock")
    }

    func client() throws -> SocketClient {
        if !FileManager.default.fileExists(atPath: socket) { Issue.record("no \(socket): \(program.errors)") }
        return try SocketClient(socket)
    }

    /// What plays, as one text.
    func nodes() throws -> String { text(try client().call("{\"call\":\"nodes\"}")) }

    func status(_ part: String = "status") throws -> [String: Any] {
        try #require(try client().call("{\"call\":\"status\"}")[part] as? [String: Any])
    }

    func end() async throws {
        program.signal(SIGTERM)
        #expect(try await program.end() == 0)
    }
}

func text(_ object: Any) -> String {
    (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)).map {
        String(decoding: $0, as: UTF8.self)
    }
        ?? "\(object)"
}

let toneGraph = """
    [graph]
    name = "wired"
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
