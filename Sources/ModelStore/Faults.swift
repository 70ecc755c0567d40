// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

extension Fault {
    private static let interruption = "interrupted"

    /// Whether somebody asked to stop, and nothing is wrong.
    public var isInterruption: Bool { kind == Self.interruption }

    /// Somebody asked to stop.
    static let interrupted = Fault("interrupted; nothing half is left", kind: interruption)

    /// What the system refused, with its reason, by default that of the last call.
    static func system(_ action: String, code: Int32 = errno) -> Fault {
        Fault(
            "\(action): \(String(cString: strerror(code)))",
            hint: code == ENOSPC || code == EDQUOT ? "make room, and try again" : "")
    }
}
