// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The socket of a service manager, which the test is: what is sent to it is read and kept.
public final class NotifySocket: @unchecked Sendable {
    // Sendable: a test uses it from one task at a time.

    /// What `NOTIFY_SOCKET` says.
    public let name: String
    private let descriptor: Int32
    private let scratch: Scratch
    private var messages: [[String]] = []

    /// Listens at a path of its own, or at an abstract name.
    public init(abstract: Bool = false) throws {
        scratch = try Scratch()
        name = abstract ? "@voicegraph-test-\(UUID().uuidString)" : scratch.file("notify")
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array((abstract ? "\0" + name.dropFirst() : name).utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        if bound != 0 { throw NeverHappened(description: "\(name) is bound: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// All messages so far, each with its lines.
    public var received: [[String]] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return messages }
            messages.append(String(decoding: buffer[..<count], as: UTF8.self).components(separatedBy: "\n"))
        }
    }

    /// How many messages have that line.
    public func count(_ line: String) -> Int { received.count { $0.contains(line) } }

    /// The last that was said behind "STATUS=".
    public var status: String {
        let line = received.joined().last { $0.hasPrefix("STATUS=") } ?? ""
        return String(line.dropFirst(7))
    }
}
