// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import JSON

/// A program's end of a connection to a host. One call at a time.
public final class ControlClient {
    /// The host's name.
    public let name: String
    private let descriptor: Int32
    private var input: [UInt8] = []

    /// Connects to the host with this name, or to the only one that runs. Throws if there is none, or more than one.
    /// `patience`: how many seconds an answer may take. [any]
    public init(
        _ name: String? = nil, folder: ControlFolder = .standard(), patience: Int = 60
    ) throws(HostError) {
        // A folder that others could have made is not believed.
        if let error = folder.fault() { throw error }
        let name = if let name { name } else { try Self.only(folder) }
        let (descriptor, error) = LocalSocket.connect(folder.socket(name), seconds: min(5, patience))
        guard error == 0 else {
            if error == EAGAIN {
                throw HostError("the host '\(name)' does not answer", hint: "it may have been stopped")
            }
            guard error == ENOENT || error == ECONNREFUSED else {
                throw HostError("cannot reach the host '\(name)': \(reason(error))")
            }
            let running = folder.running()
            throw HostError(
                "no host '\(name)' is running",
                hint: running.isEmpty ? Self.startHint : "running: \(running.joined(separator: ", "))")
        }
        self.name = name
        self.descriptor = descriptor
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    private static let startHint = "start one with `voicegraph run FILE`"

    private static func only(_ folder: ControlFolder) throws(HostError) -> String {
        let running = folder.running()
        guard let first = running.first else { throw HostError("no host is running", hint: startHint) }
        guard running.count == 1 else {
            throw HostError(
                "\(running.count) hosts are running: \(running.joined(separator: ", "))",
                hint: "choose one with --client NAME")
        }
        return first
    }

    /// Makes a call; returns the whole answer as it came, and read. A refusal is an answer.
    public func call(_ call: String, _ fields: [String: JSON] = [:]) throws(HostError) -> (line: String, answer: JSON) {
        var all = fields
        all["id"] = .integer(1)
        all["call"] = .string(call)
        try send(JSON.object(all).text)
        guard let line = try nextLine() else { throw HostError("the host '\(name)' has ended") }
        do throws(JSON.Fault) { return (String(decoding: line, as: UTF8.self), try JSON(line)) } catch {
            throw HostError("the host '\(name)' answers nonsense: \(error.message)")
        }
    }

    /// The next line that the host sends; nil when it has ended. Without a call under way it waits as long as it takes
    /// if `patiently`.
    public func nextLine(patiently: Bool = false) throws(HostError) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = input[searched...].firstIndex(of: 10) {
                defer { input.removeSubrange(...end) }
                return Array(input[..<end])
            }
            searched = input.count
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                input += buffer[..<count]
            } else if count == 0 || errno == ECONNRESET {
                return nil
            } else if errno == EAGAIN, !patiently {
                throw HostError("the host '\(name)' does not answer", hint: "it may have been stopped")
            } else if errno != EINTR, errno != EAGAIN {
                throw HostError("the host '\(name)' cannot be heard: \(reason(errno))")
            }
        }
    }

    private func send(_ line: String) throws(HostError) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE || errno == ECONNRESET {
                // It may have said why before.
                return
            } else if errno != EINTR {
                throw HostError("the host '\(name)' does not listen: \(reason(errno))")
            }
        }
    }
}
