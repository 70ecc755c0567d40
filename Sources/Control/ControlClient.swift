// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import JSON
import System

/// A program's end of a connection to a host. One call at a time.
public final class ControlClient {
    /// The host's name.
    public let name: String
    private let descriptor: Int32
    private var input: [UInt8] = []
    /// What carries the connection from another machine; nil: the host is on this one.
    private let tunnel: SSHTunnel?

    /// Connects to the host with this name, or to the only one that runs. Throws if there is none, or more than one.
    /// `patience`: how many seconds an answer may take. [any]
    public init(
        _ name: String? = nil, folder: ControlFolder = .standard(), patience: Int = 60
    ) throws(Fault) {
        // A folder that others could have made is not believed.
        if let error = folder.fault() { throw error }
        let name = if let name { name } else { try Self.only(folder.running()) }
        let (descriptor, error) = LocalSocket.connect(folder.socket(name), seconds: min(5, patience))
        guard error == 0 else {
            if error == EAGAIN {
                throw Fault("the host '\(name)' does not answer", hint: "it may have been stopped")
            }
            guard error == ENOENT || error == ECONNREFUSED else {
                throw Fault("cannot reach the host '\(name)': \(reason(error))")
            }
            let running = folder.running()
            throw Fault("no host '\(name)' is running", hint: Self.hint(running))
        }
        (self.name, self.descriptor, tunnel) = (name, descriptor, nil)
        limitWait(patience)
    }

    /// Connects to a host on another machine, through an ssh of its own, which ends with this client. If it `asks`, it
    /// asks on the terminal for what it needs, such as a passphrase. What it says goes to standard error, or if it
    /// `isSilent` the last of it into the error. Throws if it cannot log in, and as on this machine. If it `forwards`, more
    /// can be forwarded later. [any]
    public init(
        _ name: String? = nil, ssh machine: String, asks: Bool = true, isSilent: Bool = false, forwards: Bool = false
    ) throws(Fault) {
        let tunnel = try SSHTunnel(machine, asks: asks, isSilent: isSilent)
        let found = try Self.reached(tunnel, name)
        let chosen = if let name { name } else { try Self.only(found.map(\.client), on: machine) }
        guard let (_, descriptor) = found.first(where: { $0.client == chosen }) else {
            let running = name == nil ? found.map(\.client) : try Self.reached(tunnel, nil).map { $0.client }
            throw Fault("no host '\(chosen)' is running on \(machine)", hint: Self.hint(running))
        }
        for (_, other) in found where other != descriptor { close(other) }
        (self.name, self.descriptor, self.tunnel) = (chosen, descriptor, tunnel)
        if !forwards { tunnel.hide() }
        limitWait()
    }

    /// The names of the hosts that run on another machine. [any]
    public static func running(ssh machine: String) throws(Fault) -> [String] {
        try reached(SSHTunnel(machine, asks: true, isSilent: false), nil).map { client, descriptor in
            close(descriptor)
            return client
        }
    }

    deinit { close(descriptor) }

    /// Ends the connection, also for a thread that waits in `nextLine`, which is told so. [any]
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Forwards an address of TCP on the other machine, which is then the same on this one. [any]
    public func forward(_ address: String) throws(Fault) { try tunnel?.forward(address: address) }

    /// Whether the other machine is not reached any more. [any]
    public var isCut: Bool { tunnel?.hasEnded ?? false }

    private func limitWait(_ seconds: Int = 60) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func hint(_ running: [String]) -> String {
        running.isEmpty ? startHint : "running: \(running.joined(separator: ", "))"
    }

    private static let startHint = "start one with `voicegraph run FILE`"

    private static func only(_ running: [String], on machine: String? = nil) throws(Fault) -> String {
        let place = machine.map { " on \($0)" } ?? ""
        guard let first = running.first else { throw Fault("no host is running\(place)", hint: startHint) }
        guard running.count == 1 else {
            throw Fault(
                "\(running.count) hosts are running\(place): \(running.joined(separator: ", "))",
                hint: "choose one with --client NAME")
        }
        return first
    }

    /// Connections to the hosts on another machine that live: to the one with this name, or to all. Through ssh there is a
    /// connection in any case; it ends where nobody listens, and so each is asked for something.
    private static func reached(
        _ tunnel: SSHTunnel, _ name: String?
    ) throws(Fault) -> [(client: String, descriptor: Int32)] {
        let sockets = tunnel.sockets.filter { name == nil || $0.client == name }
        var found: [(client: String, descriptor: Int32)] = []
        for (client, path) in sockets {
            var descriptor = try tunnel.connect(path)
            switch isAnswered(descriptor) {
            case true?: break
            case false?:
                close(descriptor)
                continue
            case nil:
                // The answer that may come late is none to what is asked next.
                close(descriptor)
                descriptor = try tunnel.connect(path)
            }
            found.append((client, descriptor))
        }
        if found.isEmpty, !sockets.isEmpty {
            throw Fault(
                "no host answers on \(tunnel.machine), though there are sockets",
                hint: "the runs have ended, or the sshd there has AllowStreamLocalForwarding no")
        }
        return found
    }

    /// Whether a call is answered; nil: neither that nor the end came in time, as of a host that was stopped.
    private static func isAnswered(_ descriptor: Int32) -> Bool? {
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let call = Array("{\"call\":\"status\"}\n".utf8)
        _ = Glibc.send(descriptor, call, call.count, Int32(MSG_NOSIGNAL))
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0, buffer[count - 1] == 10 { return true }
            if count < 0, errno == EAGAIN { return nil }
            if count == 0 || count < 0 && errno != EINTR { return false }
        }
    }

    /// Makes a call; returns the whole answer as it came, and read. A refusal is an answer.
    public func call(_ call: String, _ fields: [String: JSON] = [:]) throws(Fault) -> (line: String, answer: JSON) {
        var all = fields
        all["id"] = .integer(1)
        all["call"] = .string(call)
        try send(JSON.object(all).text)
        guard let line = try nextLine() else { throw Fault("the host '\(name)' has ended") }
        do throws(JSON.Fault) { return (String(decoding: line, as: UTF8.self), try JSON(line)) } catch {
            throw Fault("the host '\(name)' answers nonsense: \(error.message)")
        }
    }

    /// The next line that the host sends; nil when it has ended. Without a call under way it waits as long as it takes
    /// if `patiently`.
    public func nextLine(patiently: Bool = false) throws(Fault) -> [UInt8]? {
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
                throw Fault("the host '\(name)' does not answer", hint: "it may have been stopped")
            } else if errno != EINTR, errno != EAGAIN {
                throw Fault("the host '\(name)' cannot be heard: \(reason(errno))")
            }
        }
    }

    private func send(_ line: String) throws(Fault) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE || errno == ECONNRESET {
                // It may have said why before.
                return
            } else if errno != EINTR {
                throw Fault("the host '\(name)' does not listen: \(reason(errno))")
            }
        }
    }
}
