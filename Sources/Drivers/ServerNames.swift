// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The names of servers that libjack keeps in shared memory: eight on a machine, those of killed ones included, until a
/// server of the same name comes.
package enum ServerNames {
    /// A name that is kept.
    package struct Entry: Sendable, Equatable {
        /// The server's.
        package var name: String
        /// Who started it.
        package var user: uid_t
        /// Its process.
        package var process: pid_t

        /// Whether there is no such process any more. [any]
        package var isDead: Bool { kill(process, 0) != 0 && errno == ESRCH }
    }

    /// jackd's limit.
    package static let most = 8
    /// Where libjack keeps them.
    package static let registry = "/dev/shm/jack-shm-registry"

    /// What to do where no name can be had.
    static let advice =
        "all eight names that JACK keeps for servers on this machine are taken, so that no server of our own can start: "
        + "end one, or, when no JACK server is running, remove \(registry)"

    /// Names of the servers of this user that run, in alphabetical order. [control]
    package static var running: [String] {
        entries().filter { $0.user == geteuid() && !$0.isDead }.map(\.name).sorted()
    }

    /// Whether a server of this name may answer: it is in the list, and its process lives. Those of other users may where
    /// that is asked for. [control]
    static func mayRun(_ name: String) -> Bool {
        if getenv("JACK_PROMISCUOUS_SERVER") != nil { return true }
        return entries().contains { $0.name == name && $0.user == geteuid() && !$0.isDead }
    }

    /// Whether a server of this name has its socket: it answers, or is about to. [control]
    static func answers(_ name: String) -> Bool {
        guard mayRun(name) else { return false }
        guard getenv("JACK_PROMISCUOUS_SERVER") != nil else {
            return access("/dev/shm/jack_\(name)_\(geteuid())_0", F_OK) == 0
        }
        guard let folder = opendir("/dev/shm") else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let file = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if file.hasPrefix("jack_\(name)_"), file.hasSuffix("_0") { return true }
        }
        return false
    }

    /// Whether a server could not start because there was no name for it. [any]
    static func wereTaken(_ error: DriverError) -> Bool {
        error.details.contains { $0.contains("Too many servers already active") }
    }

    /// Whether no other name can be added. [control]
    static func areAllTaken() -> Bool { entries().count >= most }

    /// All that are kept, in libjack's order. [control]
    package static func entries() -> [Entry] {
        guard let file = fopen(registry, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        return entries(bytes[..<fread(&bytes, 1, bytes.count, file)])
    }

    /// The names in the registry's first bytes: each is "jack-USER:NAME:" behind the process's id.
    static func entries(_ bytes: ArraySlice<UInt8>) -> [Entry] {
        let mark = Array("jack-".utf8)
        var result: [Entry] = []
        var place = bytes.startIndex + 4
        while place + mark.count < bytes.endIndex {
            let end = bytes[place...].firstIndex(of: 0) ?? bytes.endIndex
            guard bytes[place...].starts(with: mark) else {
                place += 1
                continue
            }
            let fields = bytes[(place + mark.count)..<end].split(
                separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            if fields.count >= 3, let user = uid_t(String(decoding: fields[0], as: UTF8.self)),
                fields.last?.isEmpty == true
            {
                let process = bytes[(place - 4)..<place].withUnsafeBytes { $0.loadUnaligned(as: pid_t.self) }
                let name = fields[1..<(fields.count - 1)].map { String(decoding: $0, as: UTF8.self) }
                result.append(Entry(name: name.joined(separator: ":"), user: user, process: process))
            }
            place = end
        }
        return result
    }

    /// Frees a name of a dead server of this user, as libjack would: a server of that name starts and ends. Whether one
    /// is free now. [control]
    static func freeDead() -> Bool {
        for dead in entries() where dead.user == geteuid() && dead.isDead {
            guard let right = ServerNameLock(dead.name),
                let server = try? ServerProcess(
                    name: dead.name, format: .init(realtime: false), nameLock: right)
            else { continue }
            // It has the name before it answers, and gives it back when it is asked to end.
            if let client = try? server.client(named: "vg-probe") { JackLibrary.close(client) }
            server.stop()
            if !areAllTaken() { return true }
        }
        return false
    }
}
