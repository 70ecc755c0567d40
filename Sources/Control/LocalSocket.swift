// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import System

/// Sockets of one machine, by path.
enum LocalSocket {
    /// Connects, or tells the system's error. Waits at most `seconds` for a listener that is busy.
    static func connect(_ path: String, seconds: Int = 2) -> (descriptor: Int32, error: Int32) {
        guard let address = try? Address(path) else { return (-1, errno) }
        guard let descriptor = try? make() else { return (-1, EMFILE) }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard address.use({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let error = errno
            close(descriptor)
            return (-1, error)
        }
        return (descriptor, 0)
    }

    /// Listens at a path; nil if something is there already.
    static func listen(_ path: String) throws(Fault) -> Int32? {
        let address = try Address(path)
        let descriptor = try make()
        guard address.use({ bind(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            if number == EADDRINUSE { return nil }
            throw Fault("cannot make \(path): \(reason(number))")
        }
        // Nobody can connect before it listens, and only we before the mode is set: the folder is ours alone.
        guard chmod(path, 0o600) == 0, Glibc.listen(descriptor, 128) == 0,
            fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
        else {
            let number = errno
            close(descriptor)
            unlink(path)
            throw Fault("cannot listen at \(path): \(reason(number))")
        }
        return descriptor
    }

    /// The process that has connected; 0: nothing is known of it.
    static func process(behind descriptor: Int32) -> pid_t {
        // As the kernel tells it: process, user and group.
        var peer: [Int32] = [0, 0, 0]
        var size = socklen_t(peer.count * MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer[0] : 0
    }

    private static func make() throws(Fault) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw Fault("cannot make a socket: \(reason(errno))") }
        return descriptor
    }

    /// Where a socket is. A longer path than an address holds is named by its folder, which is kept open meanwhile.
    private struct Address: ~Copyable {
        private var address = sockaddr_un()
        private var folder: Int32 = -1

        init(_ path: String) throws(Fault) {
            address.sun_family = sa_family_t(AF_UNIX)
            let size = MemoryLayout.size(ofValue: address.sun_path)
            var place = path
            if path.utf8.count >= size, let slash = path.lastIndex(of: "/") {
                folder = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard folder >= 0 else {
                    let number = errno
                    defer { errno = number }
                    throw Fault("cannot look at \(path): \(reason(number))")
                }
                place = "/proc/self/fd/\(folder)" + path[slash...]
            }
            guard place.utf8.count < size else {
                defer { errno = ENAMETOOLONG }
                throw Fault("the name of the socket is too long: \(path)", hint: "give the graph a shorter name")
            }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place.utf8) }
        }

        deinit { if folder >= 0 { close(folder) } }

        func use(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}
