// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import System

/// What is written to a terminal without waiting for it for long, where it can be opened for that: Ctrl-S, or a connection
/// that hangs, may hold it up for ever.
final class TerminalOutput: Sendable {
    /// Whether a terminal holds the beginning of something whose end it has not taken.
    static let isCut = Atomic(false)

    /// Where it is written to.
    let descriptor: Int32
    private let isOwn: Bool
    /// What it has not taken yet.
    private let rest = Lock<ArraySlice<UInt8>>([])

    /// Opens the terminal behind a descriptor once more, so that whoever else has it goes on waiting. [any]
    init(_ terminal: Int32) {
        let own = open("/proc/self/fd/\(terminal)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        isOwn = own >= 0
        descriptor = isOwn ? own : terminal
    }

    deinit { if isOwn { close(descriptor) } }

    /// Writes, and keeps what the terminal does not take within so many seconds; true: nothing is left. [any]
    @discardableResult
    func send(_ bytes: [UInt8], within patience: Double = 0.25) -> Bool {
        rest.withLock { $0 += bytes }
        return isClear(within: patience)
    }

    /// Writes what is kept, as far as the terminal takes it within so many seconds; true: nothing is left. [any]
    func isClear(within patience: Double = 0.25) -> Bool {
        let deadline = monotonicSeconds() + patience
        return rest.withLock { rest in
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    let left = (deadline - monotonicSeconds()) * 1000
                    if left <= 0 || poll(&request, 1, Int32(left.rounded(.up))) <= 0 { break }
                } else if errno != EINTR {
                    // The terminal is gone.
                    rest = []
                }
            }
            Self.isCut.store(!rest.isEmpty, ordering: .relaxed)
            return rest.isEmpty
        }
    }

    /// Keeps nothing: the terminal was used by others. [any]
    func forget() {
        rest.withLock { $0 = [] }
        Self.isCut.store(false, ordering: .relaxed)
    }
}
