// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The right to open a client or to start a jackd, among the processes of this program and user. Two things of libjack 1.9.21
/// go wrong where that happens at a time: of clients of one name, also of different servers, one can get what is for the
/// other (see `ClientName`); and whoever finds the database of properties (see `JackMetadata`) just when another program
/// makes it ends with a bus error. Each server that ends removes the database of all, so it is made often.
struct JackOpening {
    private let file: Int32
    /// Whether it is this one's; else nobody is kept from it.
    let isGranted: Bool

    /// Waits for it, at most a second: where a server hangs that another opens a client of, it is done without. [control]
    init() {
        let path = "\(ServerNameLock.folder)/voicegraph-\(getuid())-clients.lock"
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        let deadline = monotonicSeconds() + 1
        var isTaken = false
        while file >= 0 {
            isTaken = flock(file, LOCK_EX | LOCK_NB) == 0
            guard !isTaken, errno == EWOULDBLOCK || errno == EINTR, monotonicSeconds() < deadline else { break }
            usleep(1_000)
        }
        isGranted = isTaken
    }

    /// Gives it to whoever waits. [control]
    func end() { if file >= 0 { close(file) } }
}
