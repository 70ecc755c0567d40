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
