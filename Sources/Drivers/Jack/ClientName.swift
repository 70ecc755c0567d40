// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// A client's name, with what jackd's libjack needs it to be. While a client is opened, its socket is a file of its name,
/// in the same folder and of the same form as those of the servers and of all other clients of the user, whatever server
/// they are of, and takes the place of one that is there (jackd 1.9.21): a client named like a running server would take
/// that server's socket, so that nobody could open a client there again, and of two clients with one name that are opened
/// at a time each could get the other's messages.
enum ClientName {
    /// The longest, in bytes: `jack_client_name_size` counts the final zero, and jackd takes one less than it says.
    private static let longest = 62

    /// As JACK allows it: no colon, which ends it in a port's name, and not too long.
    static func allowed(_ name: String) -> String {
        let result = shortened(name.map { $0 == ":" ? "-" : $0 }, ending: "")
        return result.isEmpty ? "voicegraph" : result
    }

    /// The name, with a number as JACK itself adds them if it is that of a running server of this user. [control]
    static func beside(_ servers: [String], _ name: String) -> String {
        let taken = Set(servers.map(file))
        guard taken.contains(file(name)) else { return name }
        for number in 1... {
            let other = shortened(Array(name), ending: number < 10 ? "-0\(number)" : "-\(number)")
            if !taken.contains(file(other)) { return other }
        }
        return name
    }

    /// As it stands in the name of a socket.
    private static func file(_ name: String) -> String { String(name.map { $0 == "/" || $0 == "\\" ? "_" : $0 }) }

    private static func shortened(_ name: [Character], ending: String) -> String {
        var result = String(name)
        while result.utf8.count + ending.utf8.count > longest { result.removeLast() }
        return result + ending
    }
}

/// The right to open a client of a name, among the processes of this program and user.
struct ClientOpening {
    /// F_OFD_SETLK, which the module of the C library leaves out: a lock of the open file, not of the process.
    private static let setLock: Int32 = 37
    private let file: Int32
    /// Whether it is this one's; else nobody is kept from the name.
    let isGranted: Bool

    /// Waits for it, at most a second: where a server hangs that another opens one with, it is done without. [control]
    init(_ name: String) {
        file = open(
            "\(ServerNameLock.folder)/voicegraph-\(getuid())-clients.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
            0o600)
        // A byte of the file for each name, of which there are as many.
        let sum = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        var byte = flock()
        byte.l_type = Int16(F_WRLCK)
        byte.l_whence = Int16(SEEK_SET)
        byte.l_start = off_t(sum)
        byte.l_len = 1
        let deadline = monotonicSeconds() + 1
        var isTaken = false
        while file >= 0 {
            isTaken = fcntl(file, Self.setLock, &byte) == 0
            guard !isTaken, errno == EAGAIN || errno == EINTR, monotonicSeconds() < deadline else { break }
            usleep(2_000)
        }
        isGranted = isTaken
    }

    /// Gives it to whoever waits. [control]
    func end() { if file >= 0 { close(file) } }
}
