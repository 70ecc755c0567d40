// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The service manager that started this process, and wants to be told how it is: by datagrams to the socket that
/// `NOTIFY_SOCKET` names, as systemd's sd_notify(3) sends them.
public final class ServiceManager: Sendable {
    private let descriptor: Int32
    /// The bytes of a `sockaddr_un`: of an abstract name its length says where it ends.
    private let address: [UInt8]
    /// Seconds within which `WATCHDOG=1` must be told again; nil: nobody waits for it.
    public let patience: Double?

    /// Finds it in the environment; nil: none wants to be told anything. Its variables are removed, so that children do
    /// not speak in this process's name. Throws where the socket cannot be used, as one that is no path and no abstract
    /// name. Call it once, before there are threads that read the environment. [control]
    public static func ofEnvironment() throws(SystemError) -> ServiceManager? {
        func take(_ name: String) -> String? {
            let value = getenv(name).map { String(cString: $0) }
            unsetenv(name)
            return value
        }
        let (name, period, process) = (take("NOTIFY_SOCKET"), take("WATCHDOG_USEC"), take("WATCHDOG_PID"))
        guard let name, !name.isEmpty else { return nil }
        let isMeant = process.map { pid_t($0) == getpid() } ?? true
        let microseconds = isMeant ? period.flatMap { UInt64($0) } : nil
        return try ServiceManager(
            socket: name, patience: microseconds.flatMap { $0 > 0 ? Double($0) * 1e-6 : nil })
    }

    /// Speaks to the socket of that name: a path, or an abstract name after "@". [control]
    public init(socket name: String, patience: Double? = nil) throws(SystemError) {
        self.patience = patience
        let action = "cannot tell the service manager at \(name)"
        guard name.hasPrefix("/") || name.hasPrefix("@"), name.utf8.count > 1 else {
            throw SystemError(action, code: EAFNOSUPPORT)
        }
        var named = sockaddr_un()
        named.sun_family = sa_family_t(AF_UNIX)
        guard name.utf8.count < MemoryLayout.size(ofValue: named.sun_path) else {
            throw SystemError(action, code: ENAMETOOLONG)
        }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)!
        address = withUnsafeMutableBytes(of: &named) { bytes in
            for (index, byte) in name.utf8.enumerated() { bytes[offset + index] = byte }
            // An abstract name begins with a zero, and a path ends with one.
            if name.hasPrefix("@") { bytes[offset] = 0 }
            return Array(bytes.prefix(offset + name.utf8.count + (name.hasPrefix("/") ? 1 : 0)))
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(action) }
        // All services share the manager's queue, which may be full for a moment; a manager that hangs keeps nobody.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Tells all of it in one message: "READY=1", "STATUS=It plays." Waits at most a second; throws where the manager
    /// has not got it. [any]
    public func tell(_ assignments: String...) throws(SystemError) {
        var text = assignments.map { $0.split(separator: "\n").joined(separator: " ") }.joined(separator: "\n")
        let sent = text.withUTF8 { bytes in
            address.withUnsafeBytes { place in
                sendto(
                    descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL),
                    place.bindMemory(to: sockaddr.self).baseAddress, socklen_t(place.count))
            }
        }
        if sent < 0 { throw SystemError("cannot tell the service manager \(assignments.first ?? "")") }
    }
}

/// When a service manager is told `WATCHDOG=1`: half of its patience after the last time, if what must turn has turned.
public struct ServicePulse: Sendable {
    private let patience: Double
    private var last: (time: Double, turns: UInt64)

    /// Begins at `time`, in seconds of `monotonicSeconds`, when the counter of turns was at `turns`. [any]
    public init(patience: Double, at time: Double, turns: UInt64) {
        self.patience = patience
        last = (time, turns)
    }

    /// Seconds from one question to the next: short against the patience, so that one that was held back comes in time.
    public var step: Double { min(max(patience / 10, 0.01), 2) }

    /// Whether it is due; then it counts as told. [any]
    public mutating func isDue(at time: Double, turns: UInt64) -> Bool {
        guard time - last.time >= patience / 2, turns != last.turns else { return false }
        last = (time, turns)
        return true
    }
}
