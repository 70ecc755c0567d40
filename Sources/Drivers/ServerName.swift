// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The right to run a server under a name, among the processes of this program and user. It is a lock on a file, which
/// the kernel releases when all have ended that have the file open: this process, and the server.
package final class ServerNameLock: Sendable {
    /// The open file. A child that is given it has the right for as long as it lives, also when this process has ended.
    package let descriptor: Int32

    /// Takes the right to `name`; nil: another has it. [control]
    package init?(_ name: String) {
        descriptor = open(Self.path(name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// The file of a name.
    static func path(_ name: String) -> String {
        let safe = String(name.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : "_" })
        return "\(folder)/voicegraph-\(getuid())-\(safe).lock"
    }

    /// Where JACK keeps the names of its servers, so that whoever shares those shares the locks; else the user's folder for
    /// such things.
    static var folder: String {
        if access("/dev/shm", W_OK) == 0 { return "/dev/shm" }
        if let path = getenv("XDG_RUNTIME_DIR"), access(path, W_OK) == 0 { return String(cString: path) }
        if let path = getenv("TMPDIR"), access(path, W_OK) == 0 { return String(cString: path) }
        return "/tmp"
    }
}
