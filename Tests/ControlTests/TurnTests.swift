// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Host
import TestSupport

@testable import Control

/// What one client of the server's thread may do before it is another's turn.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TurnTests {
    /// Sends what the socket takes now; returns how much.
    private func sendNow(_ client: SocketClient, _ bytes: ArraySlice<UInt8>) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return max(0, bytes.withUnsafeBytes { Glibc.send(client.descriptor, $0.baseAddress, $0.count, flags) })
    }

    private func hasAnswer(_ client: SocketClient) -> Bool {
        var entry = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    @Test("A megabyte of line ends is done in parts, and whoever asks meanwhile is answered before its end")
    func lineEnds() throws {
        let scratch = try Scratch()
        let path = scratch.file("socket")
        let listener = try #require(try LocalSocket.listen(path))
        let host = Host()
        let service = Service(host, EventFeed(host), CallTable(), listener, try Mailbox())
        let flood = try SocketClient(path)
        service.serveOnce()
        // What is no JSON is answered at once.
        let bytes = [UInt8](repeating: 10, count: 1 << 20) + Array("x\n".utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(sendNow(flood, rest))
            service.serveOnce()
        }
        let other = try SocketClient(path)
        other.send("x\n".utf8)
        var turns = 0
        while !hasAnswer(other), turns < 1000 {
            service.serveOnce()
            turns += 1
        }
        #expect(turns <= 2)
        #expect(!hasAnswer(flood))
        while !hasAnswer(flood), turns < 1000 {
            service.serveOnce()
            turns += 1
        }
        #expect(hasAnswer(flood))
    }

    @Test("The time for the lines that have come is linear, however short they are") func manyLines() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let connection = Connection(ends[0], number: 1, at: 0)
        let count = 1 << 20
        connection.take([UInt8](repeating: 10, count: count))
        var blanks = 0
        while connection.nextLine() == .blank { blanks += 1 }
        #expect(blanks == count)
        // What comes in pieces, and behind what was taken, is the same.
        for piece in ["one\ntw", "o\n\nthr", "ee"] { connection.take(Array(piece.utf8)) }
        #expect(connection.nextLine() == .text(Array("one".utf8)))
        #expect(connection.nextLine() == .text(Array("two".utf8)))
        #expect(connection.nextLine() == .blank)
        #expect(connection.nextLine() == nil && !connection.hasLine)
        connection.take([UInt8](repeating: 120, count: Connection.lineLimit))
        #expect(connection.nextLine() == .tooLong)
        connection.take(Array("rest\nnext\n".utf8))
        #expect(connection.nextLine() == .text(Array("next".utf8)))
    }
}
