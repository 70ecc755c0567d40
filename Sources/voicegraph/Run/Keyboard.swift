// SPDX-License-Identifier: Apache-2.0
import Glibc
import Terminal

/// Keys as they are pressed, from the terminal that standard input is, while this exists; it shows nothing of them.
final class Keyboard: @unchecked Sendable {
    // Sendable: the mode is set once.
    private var mode = termios()

    /// Nil: standard input is no terminal, or belongs to another program now.
    init?() {
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &mode) == 0
        else {
            return nil
        }
        var raw = unbuffered(mode)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    }

    deinit { tcsetattr(STDIN_FILENO, TCSANOW, &mode) }

    /// The keys that were pressed since the last call.
    func pressed() -> [KeyPress] {
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLIN) != 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? keys(bytes[..<count]) : []
    }
}
