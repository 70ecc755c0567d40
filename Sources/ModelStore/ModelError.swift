// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why models cannot be installed, looked at or removed.
public struct ModelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public var what: String
    /// What can be done about it; empty: nothing is known.
    public var hint: String
    /// Whether somebody asked to stop, and nothing is wrong.
    public var isInterruption = false

    /// Describes an error.
    public init(_ what: String, hint: String = "") {
        self.what = what
        self.hint = hint
    }

    /// Somebody asked to stop.
    static let interrupted: ModelError = {
        var error = ModelError("interrupted; nothing half is left")
        error.isInterruption = true
        return error
    }()

    /// What the system refused, with its reason, by default that of the last call.
    static func system(_ action: String, code: Int32 = errno) -> ModelError {
        ModelError(
            "\(action): \(String(cString: strerror(code)))",
            hint: code == ENOSPC || code == EDQUOT ? "make room, and try again" : "")
    }

    /// "what; hint"
    public var description: String { hint.isEmpty ? what : "\(what); \(hint)" }
}
